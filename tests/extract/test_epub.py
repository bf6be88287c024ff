"""Books: chapters in the order of the spine, names from the table of contents, every place in its chapter."""

import pytest
from tests.extract.made import blocks, code_of, place_of, read, removed, zipped

from gawah.types import EpubPlace

CONTAINER = '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>'
NAV = '<html><body><nav><ol><li><a href="two.xhtml#x">The second part</a></li><li><a href="one.xhtml">One</a></li></ol></nav></body></html>'


def page(body, head="<title/>"):
    return f'<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><head>{head}</head><body>{body}</body></html>'


def book(chapters, *, spine=None, metadata="", extra=None, properties=None):
    """An EPUB of chapters by their href, read in the order of `spine`."""
    items = "".join(
        f'<item id="{href}" href="{href}" media-type="{"image/svg+xml" if href.endswith(".svg") else "application/xhtml+xml"}" properties="{(properties or {}).get(href, "")}"/>'
        for href in chapters
    )
    refs = "".join(f'<itemref idref="{href}"/>' for href in (spine or chapters))
    opf = f'<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>{metadata}</metadata><manifest>{items}<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/></manifest><spine toc="ncx">{refs}</spine></package>'
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": CONTAINER,
            "OPS/book.opf": opf,
            **{f"OPS/{href.replace('%20', ' ')}": content for href, content in chapters.items()},
            **(extra or {}),
        },
        stored={"mimetype"},
    )


def test_chapters_come_in_the_order_of_the_spine_with_places_in_their_files():
    chapters = {
        "one.xhtml": page("<h1>One</h1><p>first words</p>"),
        "two.xhtml": page("<h1>Two</h1><p>second words</p>"),
    }
    document = read(
        "b.epub",
        book(
            chapters,
            spine=["two.xhtml", "one.xhtml"],
            metadata="<dc:title>The Book</dc:title><dc:language>de</dc:language>",
        ),
    )
    assert [b[2] for b in blocks(document)] == ["Two", "second words", "One", "first words"]
    start = document.text.index("first words")
    assert place_of(document, "first words") == EpubPlace("OPS/one.xhtml", start, start + 11)
    assert (document.title, document.language) == ("The Book", "de")
    assert document.source.media_type == "application/epub+zip"


@pytest.mark.parametrize("kind", ["nav", "ncx"])
def test_a_chapter_without_a_heading_has_its_name_from_the_table_of_contents(kind):
    chapters = {
        "one.xhtml": page("<h1>One</h1><p>a</p>"),
        "two.xhtml": page("<p>b</p>"),
        "three.xhtml": page("<p>c</p>"),
    }
    ncx = '<?xml version="1.0"?><!DOCTYPE ncx PUBLIC "x" "y"><ncx><navMap><navPoint><navLabel><text>The second part</text></navLabel><content src="two.xhtml"/></navPoint></navMap></ncx>'
    if kind == "nav":
        data = book({**chapters, "nav.xhtml": NAV}, properties={"nav.xhtml": "nav"}, spine=list(chapters))
    else:
        data = book(chapters, extra={"OPS/toc.ncx": ncx})
    document = read("b.epub", data)
    assert [(b.title, b.level) for b in document.blocks if b.kind == "heading"] == [("One", 1), ("The second part", 1)]
    assert document.text == "One\n\na\n\nb\n\nc"


def test_what_the_reading_order_leaves_out_or_does_not_have_is_said():
    chapters = {
        "one.xhtml": page("<p>a</p>"),
        "notes.xhtml": page("<p>b</p>"),
        "nav.xhtml": NAV,
        "map.svg": "<svg/>",
        "old.svg": "<svg/>",
    }
    data = book(chapters, spine=["one.xhtml", "gone.xhtml", "gone.xhtml", "map.svg"], properties={"nav.xhtml": "nav"})
    document = read("b.epub", data)
    assert document.text == "a"
    assert document.warnings == (
        "its reading order names what the book does not have: 'gone.xhtml'",
        "chapters outside of its reading order, not read: 'OPS/notes.xhtml'",
        "pages that are pictures, not read: 'OPS/map.svg'",
        "2 pictures were not read: words in them cannot be found",
    )
    assert read("b.epub", book({"one.xhtml": page("<p>a</p>")})).warnings == ()


def test_of_many_chapters_left_out_a_few_are_named():
    chapters = {f"{n}.xhtml": page("<p>a</p>") for n in range(9)}
    (warning,) = read("b.epub", book(chapters, spine=["0.xhtml"])).warnings
    assert warning.startswith("chapters outside of its reading order, not read: 'OPS/1.xhtml', ")
    assert warning.endswith("'OPS/5.xhtml' and 3 more")


def test_a_table_of_contents_among_the_chapters_is_removed():
    chapters = {"nav.xhtml": NAV, "one.xhtml": page("<p>words</p>")}
    document = read("b.epub", book(chapters, properties={"nav.xhtml": "nav"}))
    assert document.text == "words"
    assert removed(document) == {"table of contents": "The second part One"}


def test_self_closed_elements_of_xhtml_do_not_swallow_the_page():
    document = read(
        "b.epub", book({"a.xhtml": page('<a id="x"/><p>one<br/>two</p><script src="x"/><div/><p>three</p>')})
    )
    assert document.text == "one\ntwo\n\nthree"


def test_names_may_be_escaped_and_climb_only_inside_the_package():
    document = read("b.epub", book({"a%20b.xhtml": page("<p>x</p>"), "../../../../etc/passwd.xhtml": ""}))
    assert document.text == "x"
    assert place_of(document, "x").href == "OPS/a b.xhtml"
    assert document.warnings == ("'etc/passwd.xhtml' is missing in the file",)


def test_locked_chapters_are_encrypted_and_scrambled_fonts_are_not():
    lock = '<encryption><EncryptedData><EncryptionMethod Algorithm="{}"/><CipherData><CipherReference URI="OPS/a.xhtml"/></CipherData></EncryptedData></encryption>'
    chapters = {"a.xhtml": page("<p>x</p>")}
    sealed = book(
        chapters, extra={"META-INF/encryption.xml": lock.format("http://www.w3.org/2001/04/xmlenc#aes256-cbc")}
    )
    fonts = book(chapters, extra={"META-INF/encryption.xml": lock.format("http://www.idpf.org/2008/embedding")})
    assert code_of("b.epub", sealed) == "encrypted"
    assert read("b.epub", fonts).text == "x"


def test_a_package_without_a_book_is_damaged_and_one_without_words_is_empty():
    broken = zipped({"mimetype": "application/epub+zip", "META-INF/container.xml": "<container/>"}, stored={"mimetype"})
    assert code_of("b.epub", broken) == "damaged"
    assert code_of("b.epub", book({"a.xhtml": page("")})) == "empty"


def test_a_book_packed_without_its_type_in_front_is_still_a_book():
    data = book({"a.xhtml": page("<p>x</p>")})
    import io
    import zipfile

    parts = {
        name: zipfile.ZipFile(io.BytesIO(data)).read(name) for name in zipfile.ZipFile(io.BytesIO(data)).namelist()
    }
    assert read("b.zip", zipped(dict(reversed(parts.items())))).source.media_type == "application/epub+zip"
