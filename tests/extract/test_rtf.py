"""RTF: structure by outline level and style, letters of every code page, and what is left out is kept aside."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.extract.made import blocks, code_of, read, removed

STYLES = r"{\stylesheet{\s0 Normal;}{\s1\outlinelevel0 heading 1;}{\s2 heading 2;}{\s3 Title;}{\*\cs9 Strong;}}"
FONTS = r"{\fonttbl{\f0\fcharset0 Times;}{\f1\fcharset204 Cyr;}{\f2\fcharset2 Symbol;}{\f3\fcharset128 Mincho;}}"


def rtf(body, head=FONTS + STYLES):
    return (r"{\rtf1\ansi\ansicpg1252\deff0" + head + body + "}").encode("latin-1")


def one(body, **options):
    return read("a.rtf", rtf(body, **options))


def test_headings_come_from_styles_and_outline_levels():
    document = one(
        r"\pard\s3 The Lease\par\pard\s1 One\par\pard\s2 Two\par\pard\outlinelevel2 Three\par\pard plain\par"
    )
    assert blocks(document) == [
        ("heading", 1, "The Lease"), ("heading", 1, "One"), ("heading", 2, "Two"), ("heading", 3, "Three"), ("paragraph", 0, "plain"),
    ]  # fmt: skip
    assert document.title == "The Lease"
    assert one(r"{\info{\title From info}{\author Nobody}}text").title == "From info"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (r"Geb\'fchr 40 \'80", "Gebühr 40 €"),
        (r"\u-10179?\u-8704?", "😀"),
        (r"{\f1 \'cf\'f0\'e8}", "При"),
        (r"{\f3 \'93\'fa\'96\'7b}", "日本"),
        (r"a\emdash b\~c\_d\-e \{x\}\\", "a—b\u00a0c\u2011de {x}\\"),
        (r"tab\tab x\line y", "tab\tx\ny"),
        ("one\r\n two", "one two"),
        (r"\upr x{\*\unknown gone}y", "xy"),
        (r"{\field{\*\fldinst HYPERLINK x}{\fldrslt link}} end", "link end"),
        (r"{\pict\pngblip 89504e47}shown", "shown"),
        (r"\bin3 {}\shown", "shown"),
    ],
)
def test_letters_and_groups(body, text):
    assert one(body).text == text


def test_characters_by_number_skip_as_many_stand_ins_as_uc_says():
    assert one(r"\uc1\u2325 ?\uc2\u2326 ??\uc0\u2327 z").text == "कखगz"


def test_a_table_is_rows_of_cells_and_paragraphs_after_it_are_none():
    row = r"\trowd\cellx1\cellx2\pard\intbl a\par a2\cell b\cell\row"
    document = one(row + r"\trowd\pard\intbl c\cell\cell\row\pard after\par")
    assert document.text == "a a2 | b\nc\n\nafter"
    assert [b[0] for b in blocks(document)] == ["table", "paragraph"]


def test_items_lose_their_marks_and_keep_their_words():
    document = one(r"{\listtext\'b7\tab}\ls1 one\par{\listtext\'b7\tab}\ls1 two\par\pard three\par")
    assert blocks(document) == [("item", 0, "one"), ("item", 0, "two"), ("paragraph", 0, "three")]
    assert removed(document) == {"list mark": "· ·"}


def test_notes_and_text_boxes_stand_behind_their_paragraph():
    document = one(
        r"See{\super\chftn{\footnote\pard A note.\par And more.}} this.\par Box{\shp{\*\shpinst{\sp{\sn x}{\sv y}}{\shptxt\pard BOX\par}}} here.\par"
    )
    assert document.text == "See this.\n\nA note.\n\nAnd more.\n\nBox here.\n\nBOX"


def test_hidden_deleted_heads_and_comments_are_removed_and_kept_aside():
    document = one(r"{\header\pard HEAD\par}{\footer FOOT}a{\v ghost}{\deleted old}b{\*\annotation COMMENT}\v0\par")
    assert document.text == "ab"
    assert removed(document) == {
        "header": "HEAD",
        "footer": "FOOT",
        "hidden": "ghost",
        "deleted": "old",
        "comment": "COMMENT",
    }


@pytest.mark.parametrize("word", [r"\strike", r"\strike1", r"\striked1"])
def test_struck_out_text_is_deleted_text(word):
    document = one(rf"It costs {{{word} 90 EUR}}40 EUR{word.rstrip('1')}0  today\par")
    assert (document.text, removed(document)) == ("It costs 40 EUR today", {"deleted": "90 EUR"})


def test_symbol_fonts_are_no_letters():
    document = one(r"{\f2 \'a8}word")
    assert document.text == "word"
    assert document.conservation.dropped == {"symbol font": 1}


@pytest.mark.parametrize("body", ["", r"\par\par", r"{\header x}", r"{\pict 00}"])
def test_a_file_without_words_is_empty(body):
    assert code_of("a.rtf", rtf(body)) == "empty"


def test_groups_without_end_and_a_hundred_thousand_levels_are_read():
    assert one("{" * 100_000 + "deep").text == "deep"
    assert one("}}}" + "after").text == "after"


_PIECES = st.sampled_from([
    "{", "}", "\\par ", "\\intbl ", "\\cell ", "\\row ", "\\pard ", "word ", "\\'e4", "\\u8364?", "\\uc3 ", "{\\footnote ", "{\\*\\x ",
    "\\v ", "\\v0 ", "\\line ", "\\s1 ", "{\\fonttbl", "{\\stylesheet", "{\\listtext ", "\\bin5 ", "\\f3 ", "\\\n", "\\*", "{\\shptxt ",
])  # fmt: skip


@given(st.lists(_PIECES, max_size=40).map("".join))
@settings(max_examples=150)
def test_any_sequence_of_words_gives_a_sound_document_or_none(body):
    code_of("a.rtf", rtf(body))


def test_superscripts_do_not_run_into_digits():
    document = one(r"10{\super 23} and 1947\super 3\nosupersub{\footnote\pard\plain A 5.\par} m\super 2\plain  x\par")
    assert document.text == "10^23 and 1947^3 m^2 x\n\nA 5."
    assert document.conservation.added["superscript or fraction"] == 3


def test_letters_moved_up_or_down_and_subscripts_do_not_run_into_digits():
    document = one(r"10{\up6 23} 10\up 4\up0 5 10{\dn6 2} 10{\sub 7} H{\sub 2}O 10\dn3 8\plain 9 1{\up st}\par")
    assert document.text == "10^23 10^4 5 10_2 10_7 H2O 10_8 9 1st"
