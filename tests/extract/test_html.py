"""HTML: what a reader sees, with its structure, the words to find it by, and books of what was left out."""

import pytest
from hypothesis import given
from tests.extract.odd import odd_text, unless

from gawah.errors import ExtractionError
from gawah.extract.html import HtmlExtractor
from gawah.testing.extractor import ExtractorContract, assert_is_sound, source_of
from gawah.types import Removal


def extract(text, name="page.html"):
    data = text.encode() if isinstance(text, str) else text
    return HtmlExtractor().extract(source_of(name, data, "text/html"), data)


def outline(text):
    document = extract(text)
    return [
        (block.level, block.title) if block.level else (block.kind.value, block.span.slice(document.text))
        for block in document.blocks
    ]


class TestContract(ExtractorContract):
    media_type = "text/html"

    def extractor(self):
        return HtmlExtractor()

    def samples(self):
        return [
            WORKED.encode(), b"bare text", b"<p>x", b"<td>x</td>", b"</p></p>x", b"<b><p>a</b>b</p>c",
            b"<div>" * 2900 + b"deep", b"<p>" * 20_000 + b"x", b"<br>" * 20_000 + b"x", b"&nbsp;" * 20_000 + b"x",
            b"<p>" + b"word " * 100_000, b"<pre>" + b" " * 300_000 + b"x", b"<table>" + b"<tr><td>" * 2000 + b"x",
            b"<svg>" + b"<g/>" * 5000 + b"</svg>x", b"<textarea><p>not markup</textarea>", b"<p>\x00\x07a&#0;&#7;&#x2028;b</p>",
            "<meta charset=windows-1251><p>Привет</p>".encode("cp1251"), "<p>Größe</p>".encode("latin-1"),
            "<p>wide</p>".encode("utf-16"), b"<plaintext><p>x", b"<select><option>a<option>b</select>",
        ]  # fmt: skip


WORKED = """<!doctype html>
<html lang="en-GB"><head><title>Fees &amp;
 dues</title><style>p{}</style><script>var a = "<h1>no</h1>";</script></head>
<body><nav><a href="/">Home</a> <a href="/x">Other</a></nav>
<h1>All <em>fees</em><br>of 2026</h1>
<p>The fee   is <b>40</b>
EUR.<br>
Second&nbsp;line, <a href="x">linked</a> <img src="s.png" alt="a  seal"> here.</p>
loose text
<ul><li>One<ul><li>Nested</ul><li><p>Two a</p><p>Two b</p></ul>
<dl><dt>Term<dd>Meaning</dl>
<pre>
if x:
    y{blanks}

z
</pre>
<table><caption>Prices</caption><thead><tr><th>Name</th><th>EUR</th></tr></thead>
<tr><td>Full<p>member</p>ship</td><td></td><td>40</td></tr>
<tr><td></td><td>last</td></tr><tr><td> </td></tr></table>
<table><tr><td><h2>Laid out</h2><p>Left</p></td><td>Right</td></tr></table>
<p hidden>secret</p><div style="color:red; Display : none">unseen</div>
<script>more()</script><aside>By the way</aside><footer>Imprint</footer></body></html>
""".replace("{blanks}", "   ")


def test_a_page_with_everything():
    assert outline(WORKED) == [
        (1, "All fees of 2026"),
        ("paragraph", "The fee is 40 EUR.\nSecond\u00a0line, linked a seal here."),
        ("paragraph", "loose text"),
        ("item", "One"),
        ("item", "Nested"),
        ("item", "Two a"),
        ("item", "Two b"),
        ("item", "Term"),
        ("item", "Meaning"),
        ("code", "if x:\n    y\n\nz"),
        ("paragraph", "Prices"),
        ("table", "Name | EUR\nFull member ship | | 40\n| last"),
        (2, "Laid out"),
        ("paragraph", "Left"),
        ("paragraph", "Right"),
    ]


def test_what_is_left_out_is_written_down_and_counted():
    document = extract(WORKED)
    assert document.removed == (
        Removal("nav", "Home Other"),
        Removal("hidden", "secret"),
        Removal("hidden", "unseen"),
        Removal("script", ""),
        Removal("aside", "By the way"),
        Removal("footer", "Imprint"),
    )
    dropped = document.conservation.dropped
    assert (dropped["nav"], dropped["hidden"], dropped["aside"], dropped["footer"]) == (10, 12, 10, 7)
    assert document.conservation.added["between cells"] == len(" | " + " | " + "| ") + len(" |")


def test_title_and_language_are_the_pages_own():
    document = extract(WORKED)
    assert (document.title, document.language) == ("Fees & dues", "en-GB")
    assert extract("<h1>Only  heading</h1>").title == "Only heading"
    assert extract("<p>नमस्ते दुनिया</p>", "a/b.html").title == "b"
    assert extract("<p>नमस्ते दुनिया</p>").language == "und-Deva"


def test_places_carry_the_words_a_reader_sees():
    document = extract(WORKED)
    seen = {place.span.slice(document.text): place.locator.words for place in document.places}
    assert seen["The fee is 40 EUR.\nSecond\u00a0line, linked a seal here."].endswith("linked here.")
    assert all(words == text for text, words in seen.items() if "seal" not in text)
    assert {"Name", "EUR", "Full member ship", "40", "last"} <= seen.keys()


def test_what_joins_cells_has_no_place():
    document = extract("<table><tr><td>a</td><td>b</td></tr></table>")
    placed = {at for place in document.places for at in range(place.span.start, place.span.end)}
    assert [document.text[at] for at in range(len(document.text)) if at not in placed] == [" ", "|", " "]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<p>a</p><p>b</p>", "a\n\nb"),
        ("<div>a<div>b</div>c</div>", "a\n\nb\n\nc"),
        ("<span>a</span><span>b</span>", "ab"),
        ("a<!-- no -->b", "ab"),
        ("<p> a <b> b </b> c </p>", "a b c"),
        ("a<br><br>b<br>", "a\n\nb"),
        ("<p>1 &lt; 2 &amp;&amp; 3 &#x0907;</p>", "1 < 2 && 3 इ"),
        ("<pre>\n\n  a\tb  \n\n\n c</pre>", "  a\tb\n\n\n c"),
        ("<pre><div>one</div><div>two</div></pre>", "one\ntwo"),
        ("<pre>a<br>b</pre>", "a\nb"),
        ("<h2><div>a</div><div>b</div></h2>", "a b"),
        ("<p>x<sup>2</sup></p>", "x^2"),
        ("<p>10<sup>23</sup> in 1947<sup>3</sup>.</p>", "10^23 in 1947^3."),
        ("<p>the 1<sup>st</sup>, 1947<sup>[3]</sup>, <sup>14</sup>C, x<sup>*</sup></p>", "the 1st, 1947[3], 14C, x*"),
        ("<p>40.<sup>3</sup> 10<sup></sup>5</p>", "40.^3 105"),
        ("<math><mn>3</mn><mfrac><mn>1</mn><mn>2</mn></mfrac></math>", "3 1/2"),
        ("<math><msup><mn>10</mn><mrow><mo>-</mo><mn>7</mn></mrow></msup></math>", "10^-7"),
        ("<math><msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup></math>", "x1^2"),
        ("<table><tr><td>m<sup>2</sup></td><td>5</td></tr></table>", "m^2 | 5"),
        ("<pre>x<sup>2</sup></pre>", "x^2"),
        ("<img alt='only this'>", "only this"),
        ("<p>&shy;a\u200db</p>", "\u00ada\u200db"),
        ("<p>a</p><noscript>no</noscript>yes", "a\n\nyes"),
        ("<template><p>no</p></template>yes", "yes"),
        ("<p hidden=until-found>found</p>", "found"),
        ("<td>stray cell</td>", "stray cell"),
        ("<table><tr><td>a<ul><li>b<li>c</ul></td></tr></table>", "a b c"),
        ("<table role=presentation><tr><td>a</td><td>b</td></tr></table>", "a\n\nb"),
        ("<table><tr><td><table><tr><td>in</td><td>ner</td></tr></table></td></tr></table>", "in | ner"),
        ("<ol><li>a</li><li>b</li></ol><p>c</p>", "a\nb\n\nc"),
        ("<textarea>a\n b</textarea>", "a b"),
    ],
)
def test_single_rules(text, expected):
    document = extract(text)
    assert document.text == expected
    assert_is_sound(document)


def test_a_page_that_is_all_navigation_keeps_it_and_says_so():
    document = extract("<nav><a>Contents</a></nav><footer>Imprint</footer><script>x</script>")
    assert document.text == "Contents\n\nImprint"
    assert "kept" in document.warnings[-1]
    assert document.conservation.holds


@pytest.mark.parametrize(
    "page", ["<p> </p>", "<script>x</script>", "<p hidden>x</p>", "<!-- x -->", "<img alt=''>", "<a ", "<frameset>x"]
)
def test_a_page_that_shows_nothing_is_empty(page):
    with pytest.raises(ExtractionError) as caught:
        extract(page)
    assert caught.value.reason_code == "empty"


@pytest.mark.parametrize(
    "unit", ["<div>", "<div/>", "<b><i>", "<p><button>", "<table>", "<ul><li>", "<x-y>", "<svg><g>"]
)
def test_a_bomb_of_nested_elements_is_refused_at_once(unit):
    with pytest.raises(ExtractionError) as caught:
        extract(unit * 100_000 + "deep")
    assert caught.value.reason_code == "too_deep"


@pytest.mark.parametrize(
    "page",
    [
        "<p>" * 50_000 + "x", "<li>" * 50_000 + "x", "<br>" * 50_000 + "x", "<svg>" + "<path/>" * 50_000 + "</svg>x",
        "<script>" + "'<div>'" * 50_000 + "</script>x", "<!--" + "<div>" * 50_000 + "-->x", "x" + "<img>" * 50_000,
        "<div></div>" * 50_000 + "x",
    ],
)  # fmt: skip
def test_long_pages_that_are_not_deep_are_read(page):
    assert extract(page).text == "x"


@given(odd_text)
def test_every_page_is_sound(text):
    document = unless(lambda: extract(text), "empty", "too_deep")
    if document is not None:
        assert_is_sound(document)
        assert document.text == document.text.strip() or document.blocks[0].kind.value == "code"
        assert not any(line.endswith((" ", "\t")) for line in document.text.split("\n"))


@pytest.mark.parametrize("tag", ["del", "s", "strike"])
def test_struck_text_is_not_in_force_and_kept_aside(tag):
    document = extract(f"<p>The fee is <{tag}>50</{tag}><ins>60</ins> EUR.</p><{tag}><p>Old rule.</p></{tag}>")
    assert document.text == "The fee is 60 EUR."
    assert document.removed == (Removal("deleted", "50"), Removal("deleted", "Old rule."))
    assert document.conservation.dropped["deleted"] == len("50" + "Old rule.")
    assert_is_sound(document)


def test_text_that_a_style_strikes_out_is_kept_aside_too():
    head = "<style>/* .c9{text-decoration:line-through} */ .c1{color:red}.c3, p.c4 {TEXT-DECORATION : underline line-through red} .c5:hover{text-decoration:line-through}</style>"
    body = (
        '<p>The fee is <span style="color:#000;text-decoration: line-through">50</span>60 EUR,'
        ' <span class="c1 c3">half</span>all of it <b class="c9">now</b> and <b class="c5">here</b>.</p><p class="c4">Old rule.</p>'
        '<p style="text-decoration-line:line-through">Older rule.</p><p style="text-decoration:underline">New rule.</p>'
    )
    document = extract(f"<html><head>{head}</head><body>{body}</body></html>")
    assert document.text == "The fee is 60 EUR, all of it now and here.\n\nNew rule."
    assert [one.text for one in document.removed if one.reason == "deleted"] == [
        "50",
        "half",
        "Old rule.",
        "Older rule.",
    ]
    assert_is_sound(document)


def test_subscripts_do_not_run_into_digits():
    formula = "<math><msub><mn>10</mn><mn>2</mn></msub> <msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup></math>"
    document = extract(f"<p>10<sub>2</sub>, H<sub>2</sub>O {formula}</p>")
    assert document.text == "10_2, H2O 10_2 x1^2"
    assert_is_sound(document)


def test_the_sign_of_a_superscript_is_added_and_no_reader_sees_it():
    document = extract("<p>about 10<sup>23</sup> atoms</p>")
    assert document.text == "about 10^23 atoms"
    assert document.places[0].locator.words == "about 1023 atoms"
    assert document.conservation.added == {"superscript or fraction": 1}
