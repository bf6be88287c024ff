"""Messages: headers, the body that says most, attachments by their own extractors, each with its part."""

import io
from base64 import b64encode, encodebytes
from email.message import EmailMessage

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.extract.made import blocks, code_of, place_of, read

from gawah.extract.letter import unflowed
from gawah.extract.mail_content import unbase64
from gawah.types import MailPart, Removal


def message(**headers):
    made = EmailMessage()
    defaults = {
        "From": "Ann Lee <ann@example.org>",
        "To": "bo@example.org",
        "Date": "Tue, 05 Mar 2024 10:00:00 +0100",
        "Subject": "The lease",
    }
    for name, value in {**defaults, **headers}.items():
        made[name.replace("_", "-")] = value
    return made


def plain(text, **headers):
    made = message(**headers)
    made.set_content(text)
    return made


def workbook_bytes():
    book = openpyxl.Workbook()
    for row in (["City", "Fee"], ["Bern", 40]):
        book.active.append(row)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def parts(document):
    return {place.locator.part for place in document.places}


def test_a_plain_message_is_its_headers_and_body():
    document = read("a.eml", plain("Dear Bo,\n\nthe fee is 40 EUR.\n").as_bytes())
    assert document.text.split("\n") == [
        "From: Ann Lee <ann@example.org>", "To: bo@example.org", "Date: Tue, 05 Mar 2024 10:00:00 +0100", "Subject: The lease",
        "", "Dear Bo,", "", "the fee is 40 EUR.", "",
    ]  # fmt: skip
    assert document.title == "The lease"
    start = document.text.index("the fee")
    assert place_of(document, "the fee is 40 EUR.") == MailPart("1", start, start + 18)
    assert place_of(document, "From: Ann") == MailPart("0", 0, 9)


def test_of_two_alternatives_the_plain_one_is_read():
    made = plain("the plain words of the lease")
    made.add_alternative("<p>the <b>html</b> words of the lease</p>", subtype="html")
    document = read("a.eml", made.as_bytes())
    assert "plain words" in document.text
    assert "html" not in document.text
    assert parts(document) == {"0", "1"}


def test_a_plain_stub_makes_way_for_the_html():
    made = plain("Use a modern program.")
    made.add_alternative(
        "<h1>Lease</h1>" + "<p>The fee is 40 EUR a month, paid on the first day.</p>" * 5, subtype="html"
    )
    document = read("a.eml", made.as_bytes())
    assert "modern" not in document.text
    assert ("heading", 1, "Lease") in blocks(document)
    assert parts(document) == {"0", "2"}


def test_html_alone_is_read_by_its_structure_and_images_inside_it_are_counted():
    made = message()
    made.set_content("<p>Fee</p><img src='cid:x'>", subtype="html")
    made.add_related(b"\x89PNG", "image", "png", cid="<x>")
    document = read("a.eml", made.as_bytes())
    assert document.text.endswith("Fee")
    assert document.warnings == ("images inside the text, not read: 1",)


def test_attachments_stand_behind_the_body_under_their_names():
    made = plain("See the files.")
    made.add_attachment(workbook_bytes(), maintype="application", subtype="octet-stream", filename="fees.xlsx")
    made.add_attachment(
        b"# Rules\n\nNo pets.\n", maintype="application", subtype="octet-stream", filename="Regeln für alle.md"
    )
    made.add_attachment(b"\x00\x01\x02" * 50, maintype="application", subtype="octet-stream", filename="key.bin")
    document = read("a.eml", made.as_bytes())
    titles = [b.title for b in document.blocks if b.kind == "heading"]
    assert titles == ["fees.xlsx", "Sheet", "City | Fee", "Regeln für alle.md", "Rules"]
    assert place_of(document, "Bern | 40").part == "2"
    assert place_of(document, "No pets.").part == "3"
    (warning,) = document.warnings
    assert "attachment 'key.bin' was not read (unsupported_type)" in warning


def forms(*parts):
    """A message of several forms of one body; a part is (headers, body) or a boundary and parts of its own."""

    def written(boundary, kind, inner):
        head = f"Content-Type: multipart/{kind}; boundary={boundary}\n\n"
        pieces = [written(*item) if len(item) == 3 else f"{item[0]}\n\n{item[1]}\n" for item in inner]
        return head + "".join(f"--{boundary}\n{piece}\n" for piece in pieces) + f"--{boundary}--\n"

    return ("From: a@b.example\nSubject: s\n" + written("a", "alternative", parts)).encode()


HTML, CSV = "Content-Type: text/html", "Content-Type: text/csv\nContent-Disposition: attachment; filename=fees.csv"
PICTURE = "Content-Type: image/png; name=logo.png\nContent-Disposition: inline\nContent-Transfer-Encoding: base64"


@pytest.mark.parametrize(
    ("plain_words", "body"), [("The whole of the long letter, first and second.", ["1"]), ("", ["2.1", "2.4"])]
)
def test_files_and_further_words_beside_one_form_of_the_body_are_read(plain_words, body):
    """As Apple's program writes a letter with a file in the middle of it."""
    mixed = (
        "b",
        "mixed",
        [
            (HTML, "<p>The first half.</p>"),
            (CSV, "City,Fee\nBern,40"),
            (PICTURE, "aaaa"),
            (HTML, "<p>The second half.</p>"),
        ],
    )
    document = read("a.eml", forms(("Content-Type: text/plain", plain_words), mixed))
    assert "Bern,40" in document.text
    assert place_of(document, "Bern,40").part == "2.2"
    assert parts(document) == {"0", "2.2", *body}
    assert ("The second half." in document.text) == (len(body) == 2)
    assert document.warnings == ("images inside the text, not read: 1",)
    assert document.conservation.holds


def test_forms_of_the_body_that_are_not_read_are_said():
    calendar = ("Content-Type: text/calendar", "BEGIN:VCALENDAR\nEND:VCALENDAR")
    document = read(
        "a.eml", forms(("Content-Type: text/plain", "Come at ten."), (HTML, "<p>Come at ten.</p>"), calendar)
    )
    assert document.text.rstrip().endswith("Come at ten.")
    assert document.warnings == ("part 3 was not read: another form of the same words (text/calendar)",)
    alone = read("a.eml", forms(calendar))
    assert "VCALENDAR" in alone.text
    assert alone.warnings == ()


def test_a_message_inside_a_message_has_its_own_headers_and_parts():
    inner = plain("inner words", Subject="Inner")
    inner.add_attachment("a,b\n1,2\n", subtype="csv", filename="t.csv")
    made = plain("outer words")
    made.add_attachment(inner)
    document = read("a.eml", made.as_bytes())
    assert place_of(document, "inner words").part == "2.1"
    assert place_of(document, "Subject: Inner").part == "2.0"
    assert place_of(document, "1,2").part == "2.2"
    assert [b.title for b in document.blocks if b.kind == "heading"] == ["Inner", "t.csv", "a | b"]


def test_coded_headers_and_bodies_are_decoded():
    raw = (
        b"From: =?utf-8?q?J=C3=BCrg?= <j@example.org>\r\nSubject: =?iso-8859-1?q?Geb=FChr?=\r\n =?utf-8?b?IOKCrA==?=\r\n"
        b"Content-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nDie Geb=FChr.\r\n"
    )
    document = read("a.eml", raw)
    assert document.title == "Gebühr €"
    assert "From: Jürg <j@example.org>" in document.text
    assert "Die Gebühr." in document.text


@pytest.mark.parametrize(
    "raw",
    [
        b"Subject: =?utf-8?b?broken!?=\n\nwords\n",
        b"Subject: =?no-such-charset?q?x?=\n\nwords\n",
        b"Subject: caf\xe9\nContent-Type: text/plain; charset=nonsense\n\nwords\n",
        b"Content-Type: multipart/mixed\n\nwords without a boundary\n",
        b'Content-Type: multipart/mixed; boundary="b"\n\nno such boundary: words\n',
        b"Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\n!!not base64: words!!\n",
        b"Content-Type: ; ;=\nFrom: <<<>\nTo: ,,,;\n\nwords\n",
        b"words only, no header at all\n",
        b"Content-Disposition: inline; filename*=xx''%ff\n\nwords\n",
    ],
)
def test_broken_messages_keep_their_words(raw):
    assert read("a.eml", raw).text.strip()


def based(raw, kind="text/plain; charset=utf-8"):
    head = f"From: a@b.example\nSubject: s\nContent-Type: {kind}\nContent-Transfer-Encoding: base64\n\n"
    return head.encode() + raw


def test_base64_behind_inner_padding_is_read():
    raw = encodebytes(b"The gate is shut\n") + encodebytes(b"The key is with Asha Rana at the office.\n")
    assert raw.split(b"\n")[0].endswith(b"=")
    document = read("a.eml", based(raw))
    assert "The gate is shut\nThe key is with Asha Rana at the office." in document.text
    assert document.warnings == ()


def test_of_base64_that_is_cut_short_the_whole_characters_are_read_and_it_is_said():
    raw = encodebytes("The fee is forty €".encode()).rstrip()
    for n in range(1, 4):
        document = read("a.eml", based(raw[:-n]))
        assert document.text.rstrip().endswith(
            "The fee is forty €" if n == 1 else "The fee is forty"
        )  # the last is padding
        assert document.warnings == ("part 1: its base64 is cut short; what is whole was read",)


def test_base64_that_is_cut_between_two_groups_loses_no_more_than_half_a_character():
    raw = encodebytes("Fee: forty € a".encode()).rstrip()
    cut = raw[: len(encodebytes(b"Fee: forty \xe2").rstrip())]  # a whole group ends inside of the sign
    assert len(cut) % 4 == 0
    document = read("a.eml", based(cut))
    assert document.text.rstrip().endswith("Fee: forty")
    assert document.warnings == ("part 1: its base64 is cut short; what is whole was read",)
    assert read("a.eml", based(raw[: len(cut) - 4])).warnings == ()  # nothing tells that there was more


@given(st.lists(st.binary(max_size=80), max_size=5), st.integers(1, 76))
def test_runs_of_base64_come_back_whole(pieces, width):
    coded = b"".join(b64encode(piece) for piece in pieces)
    lines = b"\r\n".join(coded[at : at + width] for at in range(0, len(coded), width))
    expected = (b"".join(pieces), ())
    assert unbase64(coded) == expected
    assert unbase64(lines) == expected


def test_what_says_it_is_base64_and_is_not_is_read_as_it_is():
    document = read("a.eml", based(b"Plain words, after all.\n"))
    assert "Plain words, after all." in document.text
    assert document.warnings == ("part 1: it says it is base64, which it is not",)


def test_faults_of_a_message_are_named_once():
    raw = b'From: a@b.example\nContent-Type: multipart/mixed; boundary="b"\n\n--b\n\nwords\n'
    assert read("a.eml", raw).warnings == ("the message is malformed: close boundary not found",)
    box = separated(b"alpha") + b"\nFrom b Tue Mar  5 10:00:00 2024\n" + raw
    assert read("all.mbox", box).warnings == ("message 2 is malformed: close boundary not found",)


def test_words_outside_of_the_parts_are_kept_as_removed():
    head = b'From: a@b.example\nContent-Type: multipart/mixed; boundary="b"\n\n'
    document = read("a.eml", head + b"Needs caf\xc3\xa9 MIME.\n--b\n\nwords\n--b--\nA \xff footer.\n")
    assert document.text.endswith("words")
    assert document.removed == (Removal("outside of the parts", "Needs café MIME. A \ufffd footer."),)
    assert document.conservation.dropped["outside of the parts"] >= len("Needs café MIME.A x footer.")
    assert document.conservation.holds
    assert read("a.eml", head + b"\n--b\n\nwords\n--b--\n\n").removed == ()


def test_a_sealed_message_is_said_to_be_sealed():
    raw = (
        plain("x", Subject="Sealed")
        .as_bytes()
        .replace(b'text/plain; charset="utf-8"', b"application/pkcs7-mime; smime-type=enveloped-data")
    )
    assert "encrypted or sealed" in read("a.eml", raw).warnings[0]


def test_a_mailbox_is_its_messages_in_order():
    first, second = plain("alpha\n\nFrom here on\n"), plain("beta", Subject="Second")
    quoted = first.as_bytes().replace(b"\nFrom here", b"\n>From here")
    box = b"From ann Tue Mar  5 10:00:00 2024\n" + quoted + b"\nFrom bo Tue Mar  5 11:00:00 2024\n" + second.as_bytes()
    document = read("all.mbox", box)
    assert [b.title for b in document.blocks if b.kind == "heading"] == ["The lease", "Second"]
    assert "\nFrom here on" in document.text
    assert place_of(document, "beta").part == "2/1"
    assert (document.title, document.source.media_type) == ("all", "application/mbox")
    assert read("inbox", box).source.media_type == "application/mbox"
    assert read("1678.M1", first.as_bytes()).source.media_type == "message/rfc822"


def separated(*bodies, line=b"From ann@example.org Tue Mar  5 10:00:00 2024"):
    return b"\n".join(line + b"\nSubject: s%d\n\n" % n + body + b"\n" for n, body in enumerate(bodies))


@pytest.mark.parametrize(
    "line",
    [
        "From the gate it is a mile.",
        "From Tuesday on the fee is 40 EUR: see below.",
        "From ann@example.org Tue Mar  5 10:00:00 2024",  # no header follows
        "From the list of Tue Mar 5:\nFee: 40 EUR",
    ],
)
def test_a_paragraph_that_begins_with_from_is_text(line):
    document = read("all.mbox", separated(b"alpha\n\n" + line.encode() + b"\n\nbeta", b"gamma"))
    assert [b.title for b in document.blocks if b.kind == "heading"] == ["s0", "s1"]
    assert line in document.text
    assert place_of(document, "beta").part == "1/1"


@pytest.mark.parametrize(
    "line",
    [
        b"From - Tue Mar 05 10:00:00 2024",
        b"From 1234@xxx Tue Mar 05 10:00:00 +0000 2024",
        b"From ann at example.org  Tue Mar  5 10:00:00 2024",
        b"From ann Tue Mar  5 10:00 MET DST 2024 +0100",
        b"From ann Tue Mar  5 10:00:00 2024 remote from host\r",
    ],
)
def test_lines_between_messages_as_programs_write_them(line):
    document = read("all.mbox", separated(b"alpha", b"beta", line=line))
    assert [b.title for b in document.blocks if b.kind == "heading"] == ["s0", "s1"]
    assert "2024" not in document.text


def test_a_mailbox_keeps_what_stands_before_its_first_message():
    document = read("all.mbox", b"From nobody in particular\n\nalpha\n\n" + separated(b"beta"))
    assert "From nobody in particular\n\nalpha" in document.text
    assert place_of(document, "beta").part == "2/1"


@given(
    st.lists(
        st.sampled_from(["From here", ">From here", "word", "", "From a Tue Mar  5 10:00:00 2024", "a b: c"]),
        max_size=12,
    )
)
def test_no_line_of_a_mailbox_is_dropped(lines):
    quoted = [f">{line}" if line.lstrip(">").startswith("From ") else line for line in lines]
    document = read("all.mbox", separated("\n".join(quoted).encode()))
    assert document.text.split("Subject: s0")[1].split() == " ".join(lines).split()


def test_a_note_that_looks_a_little_like_a_mail_is_a_note():
    assert read("note", b"From: here\n\nwe go\n").source.media_type == "text/plain"


def test_lines_that_were_broken_for_display_are_joined():
    made = plain("x").as_bytes().replace(b'charset="utf-8"', b'charset="utf-8"; format=flowed')
    head = made.partition(b"\n\n")[0]
    body = "The fee is \n40 EUR a \nmonth.\n\n> quoted \n> words\nmine\n-- \nAnn\n"
    document = read("a.eml", head + b"\n\n" + body.encode())
    assert "The fee is 40 EUR a month." in document.text
    assert "> quoted words\nmine\n-- \nAnn" in document.text


def test_a_blank_that_protects_the_beginning_of_a_line_is_no_text():
    head = "From: a@b.example\nSubject: s\nContent-Type: text/plain; format=flowed\n\n"
    body = " From here on \n it is 40 EUR.\n > no quote\n  two blanks\n> quoted \n>  more\n>> deeper\n"
    document = read("a.eml", (head + body).encode())
    assert document.text.endswith("From here on it is 40 EUR.\n> no quote\n two blanks\n> quoted  more\n>> deeper\n")
    assert document.conservation.holds


@pytest.mark.parametrize(("delsp", "joined"), [("yes", "A sentence of 40 EUR."), ("no", "A sen tence  of 40 EUR.")])
def test_blanks_that_only_mark_a_soft_break_go_when_the_message_says_so(delsp, joined):
    head = f"From: a@b.example\nSubject: s\nContent-Type: text/plain; format=flowed; delsp={delsp}\n\n"
    document = read("a.eml", head.encode() + b"A sen \ntence  \nof 40 EUR.\n")
    assert joined in document.text
    assert document.conservation.holds


@pytest.mark.parametrize("kind", ["plain", "html"])
def test_declared_utf_7_is_decoded(kind):
    head = f"From: a@b.example\nSubject: s\nContent-Type: text/{kind}; charset=UTF-7\n\n".encode()
    document = read("a.eml", head + "Die Gebühr: 40 €\n".encode("utf-7"))
    assert "Die Gebühr: 40 €" in document.text
    assert document.warnings == ()
    wrong = read("a.eml", head + b"2 +=+ 2\n")
    assert "2 +=+ 2" in wrong.text
    assert "it says it is utf-7, which it is not" in wrong.warnings[0]


@given(st.text(alphabet="ab >\n", max_size=60))
def test_joining_lines_takes_out_line_breaks_and_quote_marks_only(text):
    joined = unflowed(text)
    assert [c for c in joined if c in "ab"] == [c for c in text if c in "ab"]
    stuffed = any(line.lstrip(">").startswith(" ") and not line.startswith(">") for line in joined.split("\n"))
    assert stuffed or unflowed(joined) == joined
    assert len(joined) <= len(text)


def test_messages_nested_without_end_are_refused_or_cut():
    bomb = b"Content-Type: message/rfc822\n\n" * 20_000 + b"Subject: core\n\ncore\n"
    assert code_of("a.eml", bomb) in ("too_deep", "empty")
    deep = b"Content-Type: message/rfc822\n\n" * 15 + b"Subject: core\n\ncore\n"
    assert code_of("a.eml", b"Subject: out\n" + deep) == ""


def test_ten_thousand_parts_are_read():
    made = b'Content-Type: multipart/mixed; boundary="b"\nSubject: many\n\n' + b"--b\n\nword\n" * 10_000 + b"--b--\n"
    assert read("a.eml", made).text.count("word") == 10_000


@given(st.binary(max_size=400))
@settings(max_examples=100)
def test_any_bytes_behind_a_header_give_a_document_or_a_code(noise):
    head = b"From: a@b.c\nSubject: s\nDate: d\nContent-Type: multipart/mixed; boundary=x\n\n--x\n"
    code_of("a.eml", head + noise)


@pytest.mark.parametrize("kind", ["plain; format=flowed", "plain", "html"])
def test_the_books_hold_no_mark_that_is_not_in_the_file(kind):
    mail = f"From: a@b.example\nSubject: Oars\nContent-Type: text/{kind}; charset=utf-8\n\nTwo oars \nare new.\n"
    document = read("oars.eml", mail.encode())
    assert "byte order mark" not in document.conservation.dropped


def test_a_mark_that_is_in_the_file_is_in_the_books():
    mail = "From: a@b.example\nSubject: Oars\nContent-Type: text/plain; charset=utf-8\n\n\ufeffTwo oars.\n"
    assert read("oars.eml", mail.encode()).conservation.dropped["byte order mark"] == 1
