"""What lies upon a page: fields read where they stand and by their names, comments behind the text, nothing lost."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.extract.pdf.reading import locator_of, read

from gawah.testing.pdf import Page, pdf

WIDGET = "/Subtype /Widget /F 4 /DA (/F1 10 Tf)"


def drawn(words):
    return f"BT /F1 10 Tf 2 5 Td ({words}) Tj ET"


def wide(text):
    return (b"\xfe\xff" + text.encode("utf-16-be", "surrogatepass")).hex()


def of_kind(document, kind):
    return [block.span.slice(document.text) for block in document.blocks if block.kind.value == kind]


def holds(box, locator):
    return all(
        box[0] <= found.x0 and box[1] <= found.y0 and found.x1 <= box[2] and found.y1 <= box[3]
        for found in locator.boxes
    )


def form(**options):
    page = Page(**options).text(72, 700, "Name of the applicant:").text(72, 670, "I have read the rules")
    page.upon((200, 695, 400, 715), f"{WIDGET} /FT /Tx /T (person.name) /V (Ada Byron)", drawn("Ada Byron"))
    page.upon((200, 665, 214, 679), f"{WIDGET} /FT /Btn /T (rules) /V /Yes /AS /Yes", drawn("x"), state="Yes")
    return page


@pytest.mark.parametrize("rotate", [0, 90, 270])
@pytest.mark.parametrize("crop", [None, (30, 40, 600, 750)])
def test_the_value_of_a_field_stands_beside_its_label_with_the_boxes_of_its_letters(rotate, crop):
    document = read(pdf([form(rotate=rotate, crop=crop)]))
    assert "Name of the applicant: Ada Byron" in " ".join(document.text.replace("|", " ").split())
    (box,) = locator_of(document, "Byron").boxes
    assert 219 < box.x0 < box.x1 < 250
    assert 696 < box.y0 < box.y1 < 710
    assert document.quality["fields"] == 2


def test_the_value_of_a_field_is_said_with_its_name_too():
    document = read(pdf([form()]))
    assert of_kind(document, "item") == ["name: Ada Byron", "rules: Yes"]
    start = document.text.index("name: Ada Byron")
    assert holds((200, 695, 400, 715), locator_of(document, document.text[start : start + 15]))


def test_a_field_that_nothing_draws_is_read_all_the_same():
    page = Page().text(72, 700, "Address:")
    page.upon(
        (200, 655, 400, 715), f"{WIDGET} /FT /Tx /Ff 4096 /T (address) /TU (Where you live) /V (Mill Lane 4\\nAmbari)"
    )
    document = read(pdf([page]))
    assert of_kind(document, "item") == ["Where you live: Mill Lane 4 Ambari"]
    assert document.text.count("Mill Lane 4") == 2
    assert holds((200, 655, 400, 715), locator_of(document, "Mill Lane 4"))


def test_a_widget_that_no_form_lists_is_read():
    page = (
        Page()
        .text(72, 700, "Field:")
        .upon((200, 695, 400, 715), "/Subtype /Widget /Kind /Tx /V (stray words) /T (lost)")
    )
    data = pdf([page]).replace(b"/Kind /Tx", b"/FT /Tx  ")  # written so that the form leaves it out
    assert "stray words" in read(data).text


def test_boxes_are_read_as_ticked_or_not_and_choices_as_what_was_chosen():
    page = Page().text(72, 700, "Tea").text(72, 680, "Coffee").text(72, 660, "Cup").text(72, 640, "Extras")
    page.upon((50, 698, 62, 710), f"{WIDGET} /FT /Btn /T (tea) /AS /Off", drawn("x"), state="On")
    page.upon((50, 678, 62, 690), f"{WIDGET} /FT /Btn /T (coffee) /V /On /AS /On", drawn("x"), state="On")
    page.upon((200, 655, 300, 670), f"{WIDGET} /FT /Ch /Ff 131072 /T (cup) /Opt [[(S) (small)] [(L) (large)]] /V (L)")
    page.upon(
        (200, 600, 300, 650),
        f"{WIDGET} /FT /Ch /Ff 2097152 /T (extras) /Opt [(milk) (sugar) (salt)] /V [(milk) (salt)] /I [0 2]",
    )
    document = read(pdf([page]))
    text = " ".join(document.text.replace("|", " ").split())
    assert "☐ Tea" in text
    assert "☑ Coffee" in text
    assert "Cup large" in text
    assert of_kind(document, "item")[-3:] == ["coffee: On", "cup: large", "extras: milk, salt"]
    assert "sugar" not in text
    assert document.quality["fields"] == 4


def test_notes_come_after_the_text_of_their_page_marked_and_with_their_boxes():
    first = Page().lines(72, 700, ["The level is read at seven in the morning,", "by whoever is at the gauge."])
    first.upon((300, 695, 320, 715), "/Subtype /Text /T (Ann Oak) /Contents (Is that so in winter?)")
    first.upon(
        (72, 500, 300, 520), "/Subtype /FreeText /F 4 /Contents (Typed in the margin)", drawn("Typed in the margin")
    )
    first.upon((400, 700, 500, 720), "/Subtype /Stamp /F 4", drawn("APPROVED"))
    first.upon(
        (72, 695, 120, 712), "/Subtype /Highlight /QuadPoints [72 712 120 712 72 695 120 695] /Contents (Which level?)"
    )
    document = read(pdf([first, Page().text(72, 700, "The next page begins here.")]))
    notes = [
        "[Stamp] APPROVED",
        "[Note by Ann Oak] Is that so in winter?",
        "[Note] Which level?",
        "[Note] Typed in the margin",
    ]
    assert of_kind(document, "paragraph") == [
        "The level is read at seven in the morning, by whoever is at the gauge.", *notes, "The next page begins here.",
    ]  # fmt: skip
    assert document.quality["notes"] == 4
    found = locator_of(document, "so in winter")
    assert [(box.x0, box.y0, box.x1, box.y1) for box in found.boxes] == [(300, 695, 320, 715)]
    assert holds((72, 500, 300, 520), locator_of(document, "in the margin"))
    assert locator_of(document, "margin").boxes[0].x0 > 110
    assert document.conservation.added["mark of a note"] == sum(len(note.split("] ")[0]) + 2 for note in notes)


def test_what_was_typed_upon_a_form_stands_in_its_place():
    page = Page().text(72, 700, "Name:")
    page.upon(
        (120, 695, 300, 715),
        "/Subtype /FreeText /IT /FreeTextTypewriter /F 4 /Contents (Ada Byron)",
        drawn("Ada Byron"),
    )
    assert read(pdf([page])).text == "Name: Ada Byron"


def test_what_does_not_show_is_kept_aside_and_what_is_no_text_is_said():
    page = Page().text(72, 700, "A page with all sorts upon it.")
    page.upon((200, 600, 400, 615), f"{WIDGET.replace('/F 4', '/F 2')} /FT /Tx /T (trap) /V (never shown)")
    page.upon((200, 560, 400, 575), f"{WIDGET} /FT /Tx /Ff 8192 /T (password) /V (hunter2)")
    page.upon((200, 540, 400, 555), "/Subtype /FileAttachment /Contents (the readings)")
    page.upon((200, 520, 400, 535), "/Subtype /Movie")
    page.upon((200, 500, 400, 515), "/Subtype /Link /Contents (leads somewhere)")
    page.upon((200, 480, 400, 495), f"{WIDGET} /FT /Btn /Ff 65536 /T (send)", drawn("Send it"))
    document = read(pdf([page]))
    assert document.text == "A page with all sorts upon it.\n\n[File] the readings"
    assert [(item.reason, item.text) for item in document.removed] == [("hidden upon the page", "never shown")]
    assert document.removed[0].locator.boxes[0].y0 == 600
    assert "not read: 1 attached file, 1 film" in document.warnings


def test_a_page_that_is_an_image_stays_unread_though_its_fields_are_read():
    scan = Page().picture((0, 0, 612, 792), 2, 2, b"\x00\xff\xff\x00")
    scan.upon((200, 695, 400, 715), f"{WIDGET} /FT /Tx /T (name) /V (Ada Byron)", drawn("Ada Byron"))
    scan.upon(
        (200, 600, 400, 620),
        "/Subtype /FreeText /Contents (a long remark that has many letters)",
        drawn("a long remark that has many letters"),
    )
    document = read(pdf([scan]))
    assert "name: Ada Byron" in document.text
    assert document.quality["pages_unread"] == 1


def test_a_sentence_goes_on_over_the_notes_between_two_pages():
    lines = [
        "The keeper of the gauge at the lower weir reads the level every morning and",
        "writes it into the book which hangs beside the door of the small house that",
    ]
    first = Page().lines(72, 700, lines).upon((300, 600, 320, 620), "/Subtype /Text /Contents (Ask Ann.)")
    document = read(pdf([first, Page().lines(72, 700, ["stands on the left bank of the river."])]))
    assert " ".join(lines) + " stands on the left bank of the river." in document.text
    assert document.text.count("[Note] Ask Ann.") == 1


@settings(max_examples=30, deadline=None)
@given(
    st.text(max_size=60),
    st.text(max_size=20),
    st.sampled_from(["/Text", "/FreeText", "/Stamp", "/Widget /FT /Tx /T (field)"]),
)
def test_whatever_a_note_says_the_books_balance(words, more, subtype):
    page = Page().text(72, 700, "Words below the note.")
    page.upon((200, 600, 400, 620), f"/Subtype {subtype} /V <{wide(more)}>", drawn("seen"), hex_contents=wide(words))
    assert read(pdf([page])).text.startswith("Words below the note.")
