"""Whatever a page holds, only words and the elements of a text come out; the range that was cited is marked in it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.errors import ExtractionError
from gawah.extract.html_harmless import harmless_html, nth_place, occurrences, squeezed

HOSTILE = """<!DOCTYPE html><html lang=en dir=ltr><head><title>T</title><base href="http://evil.example/">
<link rel=stylesheet href="http://evil.example/a.css"><meta http-equiv=refresh content="0;url=http://evil.example">
<style>p{background:url(http://evil.example/b)}</style><script src="http://evil.example/c.js"></script></head>
<body onload="alert(1)" style="background:url(//evil.example)"><h1 onclick=alert(1) id=cited class=x>Head</h1>
<p>Before <a href="javascript:alert(1)">a link</a> &lt;script&gt;alert(1)&lt;/script&gt; after</p>
<img src=http://evil.example/i.png onerror=alert(1) alt='a "pier" <b>'><iframe src="http://evil.example"></iframe>
<svg onload=alert(1)><script>alert(1)</script><text>drawn</text><foreignObject><p>deep</p></foreignObject></svg>
<form action=http://evil.example><input name=a value=b><button>Send</button></form><object data=x></object>
<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></mglyph></table></mtext></math>
<video src=http://evil.example/v><source src=x></video><p hidden>unseen</p><noscript><img src=x></noscript>
<table><tr><td colspan=2 rowspan="javascript:1">cell</td></tr></table><template><p>inert</p></template></body></html>"""
TAG = re.compile(r"<(/?)([a-z0-9]+)((?: [a-z]+=\"[^\"<>]*\")*)>")
ALLOWED_ATTRIBUTE = re.compile(
    r' (?:(?:colspan|rowspan|start|value)="\d{1,4}"|lang="[a-z0-9-]+"|dir="(?:ltr|rtl|auto)"|id="cited"|class="(?:picture|link|soft|strong)")'
)


def require_harmless(made):
    """Nothing of it is a tag that is not understood, or one with an attribute that does something."""
    rest = TAG.sub("", made)
    assert "<" not in rest, rest
    assert ">" not in rest, rest
    for _, name, attributes in TAG.findall(made):
        assert name not in {
            "script",
            "style",
            "iframe",
            "svg",
            "math",
            "form",
            "input",
            "object",
            "img",
            "a",
            "video",
            "link",
            "meta",
        }
        assert ALLOWED_ATTRIBUTE.sub("", attributes) == "", (name, attributes)


def test_nothing_of_a_hostile_page_acts_or_loads():
    made, is_marked = harmless_html(HOSTILE.encode(), [("a link", 0, "soft")])
    require_harmless(made)
    assert is_marked
    assert "evil.example" not in made
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in made
    assert '<span class="picture">a &quot;pier&quot; &lt;b&gt;</span>' in made
    assert '<mark class="soft" id="cited">a link</mark>' in made
    assert "unseen" not in made
    assert "inert" not in made
    assert made.count('id="cited"') == 1


@given(st.text(alphabet=st.sampled_from("<>/=\"'`&;!-abpsx \n"), max_size=80), st.text(max_size=20))
def test_whatever_the_page_is_it_comes_out_harmless(markup, words):
    try:
        made, _ = harmless_html(
            f"<p>x</p>{markup}{words}".encode("utf-8", "replace"), [("x", 0, "soft"), (words, 0, "strong")]
        )
    except ExtractionError:
        return
    require_harmless(made)


def test_the_occurrence_that_was_cited_is_marked_and_none_in_the_navigation():
    page = b"<nav>pier one</nav><p>pier <b>one</b></p><p>the pier\n  one again</p>"
    made, is_marked = harmless_html(page, [("pier one", 1, "soft")])
    assert is_marked
    assert made == (
        '<div><div><div>pier one</div><p>pier <b>one</b></p><p>the <mark class="soft" id="cited">pier\n  one</mark> again</p></div></div>'
    )


def test_a_range_over_several_elements_is_marked_in_each_of_them():
    made, _ = harmless_html(b"<table><tr><td>A1</td><td>B1</td></tr></table>", [("A1\nB1", 0, "soft")])
    assert '<td><mark class="soft" id="cited">A1</mark></td><td><mark class="soft">B1</mark></td>' in made


def test_words_that_are_not_there_are_not_marked():
    made, is_marked = harmless_html(b"<p>one</p>", [("two", 0, "soft")])
    assert (made, is_marked) == ("<div><div><p>one</p></div></div>", False)


def test_a_range_within_a_range_has_a_mark_of_its_own():
    page = b"<p>The old pier <b>is</b> long.</p>"
    made, _ = harmless_html(page, [("old pier is long", 0, "soft"), ("pier is", 0, "strong")])
    assert made == (
        '<div><div><p>The <mark class="soft" id="cited">old</mark> <mark class="strong">pier</mark> '
        '<b><mark class="strong">is</mark></b> <mark class="soft">long</mark>.</p></div></div>'
    )


def test_direction_and_language_stay():
    made, _ = harmless_html('<html lang="ur" dir="rtl"><p dir=auto>کشتی</p></html>'.encode(), [])
    assert made == '<div lang="ur" dir="rtl"><div><p dir="auto">کشتی</p></div></div>'


@given(st.text("ab", max_size=40), st.text("ab", min_size=1, max_size=12), st.integers(0, 12))
def test_the_nth_place_is_that_of_a_plain_search(text, wanted, rank):
    places = [at for at in range(len(text)) if text.startswith(wanted, at)]
    expected = -1 if not places else places[min(rank, len(places) - 1)]
    assert nth_place(text, wanted, rank) == expected
    assert list(occurrences(text, wanted)) == places


def test_one_letter_over_and_over_does_not_hold_up_whoever_counts():
    # Compared letter by letter these would be 10^11 comparisons.
    assert nth_place("a" * 1_000_000, "a" * 400_000, 500_000) == 500_000
    assert sum(1 for _ in occurrences("ab" * 300_000 + "c", "ab" * 100_000)) == 200_001


@pytest.mark.parametrize(("text", "bare"), [("a b\n\tc", "abc"), ("", ""), ("\u00a0x\u2003", "x")])
def test_squeezed_is_without_white_space(text, bare):
    assert squeezed(text) == bare
