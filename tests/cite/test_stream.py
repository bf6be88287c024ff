"""Markers are told from what only looks like one, whole or in a stream."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.cite import MarkerStream, resolve
from gawah.compose import compose, escape_markers
from gawah.testing.generator import make_source
from gawah.types import DraftPart

SOURCES = [
    make_source(1, 'The fee is 40 EUR. As "proved" in see [12] for arr[1] and table[2][1].'),
    make_source(2, "let a = [1, 2, 3]; and a reference [1] and 【7】 stand here."),
    make_source(3, "A third."),
]


def read(text, sources=SOURCES):
    """(text, numbers of its markers in order, unknown numbers)."""
    resolved = resolve([DraftPart(text)], sources)
    assert all(mark.span.slice(resolved.text) == f"[{mark.number}]" for mark in resolved.marks)
    return resolved.text, [mark.number for mark in resolved.marks], list(resolved.unknown_markers)


SPELLINGS = [
    ("Yes [1].", "Yes [1].", [1]),
    ("Yes [ 1 ].", "Yes [1].", [1]),
    ("Yes 【1】.", "Yes [1].", [1]),
    ("Yes ［１］.", "Yes [1].", [1]),
    ("Yes [१][٢][۳].", "Yes [1][2][3].", [1, 2, 3]),
    ("Yes [1, 2].", "Yes [1][2].", [1, 2]),
    ("Yes [1;2，3].", "Yes [1][2][3].", [1, 2, 3]),
    ("Yes [1][2].", "Yes [1][2].", [1, 2]),
    ("Yes [1] [2].", "Yes [1] [2].", [1, 2]),
    ("Yes [1-3].", "Yes [1][2][3].", [1, 2, 3]),
    ("Yes [1–2, 3].", "Yes [1][2][3].", [1, 2, 3]),
    ("Yes [2-1].", "Yes [2][1].", [2, 1]),
    ("Yes [1, 1].", "Yes [1].", [1]),
    ("Yes[1].", "Yes[1].", [1]),
    ("费用为四十欧元[1]是的", "费用为四十欧元[1]是的", [1]),
    ("शुल्क [१]।", "शुल्क [1]।", [1]),
    ("Yes [1] (see below).", "Yes [1] (see below).", [1]),
    ('He said "yes" [1].', 'He said "yes" [1].', [1]),
    ('"The fee is 40 EUR" [1].', '"The fee is 40 EUR" [1].', [1]),
    ("[1] Yes.", "[1] Yes.", [1]),
    ("[1]: Yes.", "[1]: Yes.", [1]),
]


@pytest.mark.parametrize(("draft", "text", "numbers"), SPELLINGS)
def test_every_spelling_of_a_marker_is_understood(draft, text, numbers):
    assert read(draft) == (text, numbers, [])


UNKNOWN = [
    ("Yes [7].", "Yes.", [], [7]),
    ("Yes [7] and no.", "Yes and no.", [], [7]),
    ("Yes [2][7].", "Yes [2].", [2], [7]),
    ("Yes [7][2].", "Yes [2].", [2], [7]),
    ("Yes [7] [2].", "Yes [2].", [2], [7]),
    ("Yes [1, 7].", "Yes [1].", [1], [7]),
    ("Yes [1-9].", "Yes [1].", [1], [9]),
    ("Yes [7], [8], [7].", "Yes,,.", [], [7, 8, 7]),
    ("Yes 【7】 [2024].", "Yes.", [], [7, 2024]),
    ("[7] Yes.", "Yes.", [], [7]),
    ("No.\n  [7] Yes.", "No.\n  Yes.", [], [7]),
    ("Yes [7]\nNo", "Yes\nNo", [], [7]),
    ("Yes [7]", "Yes", [], [7]),
    ("Yes [7] ", "Yes", [], [7]),
    ("Yes \u00a0[7].", "Yes.", [], [7]),
    ("[999999999]", "", [], [999999999]),
]


@pytest.mark.parametrize(("draft", "text", "numbers", "unknown"), UNKNOWN)
def test_unknown_numbers_go_with_the_blank_before_them_and_are_counted(draft, text, numbers, unknown):
    assert read(draft) == (text, numbers, unknown)


def test_case_1_one_source_and_two_invented_numbers():
    assert read("The fee is 40 EUR.[2][7]", SOURCES[:1]) == ("The fee is 40 EUR.", [], [2, 7])
    assert read("The fee is 40 EUR [1].[2][7]", SOURCES[:1]) == ("The fee is 40 EUR [1].", [1], [2, 7])


UNTOUCHED = [
    "see Ref 12 of the standard; href 7",
    "`arr[1]` and ``a ` [1]`` are code",
    "```rust\nlet x = y[1];\n[2]\n```\n",
    "~~~\n[1]\n~~~\n",
    "   ```\n[1]\n",
    "```\n[1]\n``` [1]\n[1]",
    "arr[0] is the first, x[0][1] the second",
    "an interval [0, 1] or [0-9] or [01]",
    "table[2][1] and arr[1] stand in a source",
    "xs[1].len() and xs[2] = 3 and xs[3]y and f[1](x)",
    'it says "see [12] for" this',
    "it says “see [12] for this",
    "it says «see [12]» for",
    "footnotes[^1] and [^2]: too",
    "[1]: https://example.org/a",
    "   [1]: <https://example.org/a>",
    "[2]: www.example.org",
    r"\[1] escaped",
    "[] [ ] [x] [1a] [1.5] [1 2] [-1] [1",
    "[1】 [1］ 【1]",
    "[" * 50,
    "[1" + " " * 50 + "]",
    "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18]",
    "[12345678901]",
    "⟦45⟧ is in no source",
    "\0 \u202e \ufeff",
]


@pytest.mark.parametrize("draft", UNTOUCHED)
def test_what_is_no_marker_stays_as_it_was_written(draft):
    assert read(draft) == (draft, [], [])


def test_a_bracket_in_quotation_marks_that_no_source_has_is_a_marker():
    assert read('it says "the fee is 40 EUR [1]"') == ('it says "the fee is 40 EUR [1]"', [1], [])


def test_behind_closed_quotation_marks_a_marker_is_a_marker_though_a_source_has_the_same_bracket():
    assert read('a "reference" [1].')[1] == [1]


def test_text_after_a_closed_fence_has_markers_again():
    assert read("```\nx[1]\n```\nIt is so [2].")[1] == [2]
    assert read("````\n```\n[1]\n````\n[2]")[1] == [2]
    assert read("``` not a ` fence\n[2]")[1] == [2]


def test_an_unclosed_backtick_hides_nothing():
    assert read("a ` tick and [1]")[1] == [1]
    assert read("`a\n` [1]")[1] == [1]


def test_a_link_on_a_marker_is_taken_out_and_counted():
    resolved = resolve([DraftPart('See [1](https://example.org/a_(b)), [2](x "t") and [9](http://x).')], SOURCES)
    assert resolved.text == "See [1], [2] and."
    assert all(citation.url.startswith("file:///documents/") for citation in resolved.citations)
    assert resolved.n_links == 3
    assert resolved.unknown_markers == (9,)


def test_brackets_of_a_source_come_back_as_the_source_has_them():
    shown = compose("q", SOURCES).user
    assert "⟦1, 2, 3⟧" in shown
    assert read("`let a = ⟦1, 2, 3⟧;` and ⟦7⟧ and arr⟦1⟧") == ("`let a = [1, 2, 3];` and 【7】 and arr[1]", [], [])
    assert read("```\nlet a = ⟦1, 2, 3⟧;\n```\n")[0] == "```\nlet a = [1, 2, 3];\n```\n"
    own = [make_source(1, "the value ⟦1⟧ is meant, not [1]")]
    assert read("the value ⟦1⟧", own)[0] == "the value ⟦1⟧"


def test_a_marker_right_behind_a_shown_bracket_is_a_marker():
    assert read("a reference ⟦1⟧[2].") == ("a reference [1][2].", [2], [])


# --- verbatim parts


def test_brackets_in_verbatim_parts_are_never_markers():
    parts = [DraftPart("see [12] for arr[1] and [1]", verbatim=True), DraftPart(" [1]")]
    resolved = resolve(parts, SOURCES)
    assert resolved.text == "see [12] for arr[1] and [1] [1]"
    assert [(mark.number, mark.span.start) for mark in resolved.marks] == [(1, 28)]
    assert resolved.unknown_markers == ()


def test_an_unknown_number_behind_verbatim_words_goes():
    resolved = resolve([DraftPart("words", verbatim=True), DraftPart(" [9]"), DraftPart(" more")], SOURCES)
    assert resolved.text == "words more"
    assert resolved.unknown_markers == (9,)


def test_a_marker_cannot_reach_into_verbatim_words():
    parts = [DraftPart("a ["), DraftPart("1", verbatim=True), DraftPart("] `"), DraftPart("`[1]", verbatim=True)]
    resolved = resolve(parts, SOURCES)
    assert resolved.text == "a [1] ``[1]"
    assert resolved.marks == ()


def test_a_marker_glued_to_verbatim_words_is_a_marker():
    assert resolve([DraftPart("arr", verbatim=True), DraftPart("[1]")], SOURCES).marks[0].number == 1


def test_copied_spans_are_where_the_copies_are():
    stream = MarkerStream(SOURCES)
    parts = [
        DraftPart("ab", verbatim=True),
        DraftPart("c", verbatim=True),
        DraftPart(" [1] "),
        DraftPart("d", verbatim=True),
    ]
    text = "".join([*map(stream.push, parts), stream.flush()])
    assert [span.slice(text) for span in stream.copied] == ["abc", "d"]


# --- streams


def test_a_marker_split_over_parts_is_held_back_and_nothing_else():
    stream = MarkerStream(SOURCES)
    shown = [
        stream.push(DraftPart(piece)) for piece in ("The fee", " is 40 EUR", " [", "1", "]", ".", " And", " [9", "] so")
    ]
    assert shown == ["The fee", " is 40 EUR", "", "", "", " [1].", " And", "", " so"]
    assert stream.flush() == ""
    assert stream.unknown == [9]


def test_two_sources_of_one_number_are_a_value_error():
    with pytest.raises(ValueError, match="one number"):
        MarkerStream([SOURCES[0], SOURCES[0]])


ATOMS = [
    "[1]", "[2]", "[7]", "[1, 2]", "[1-3]", "【2】", "［３］", "⟦1, 2, 3⟧", "⟦7⟧", "[", "]", "(", ")", "`", "``", "```", "~~~", "`" * 65,
    "\n", "\n\n", " ", "  ", "\t", ".", ",", '"', "“", "”", "arr", "see ", "[12]", " for", "http://x.y/z", "[1](http://x)",
    "]: ", ":", "\\", "0", "1", "é", "क", "字", "👩‍👩‍👧", "= ", "x", "reference ", "\u00a0",
]  # fmt: skip
drafts = st.lists(st.sampled_from(ATOMS) | st.text(max_size=4), max_size=25).map("".join)


def in_pieces(data, text, *, verbatim=False):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=12)))
    return [DraftPart(text[a:b], verbatim) for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


@given(drafts, st.data())
def test_any_chunking_gives_the_same_as_the_whole(text, data):
    assert resolve(in_pieces(data, text), SOURCES) == resolve([DraftPart(text)], SOURCES)
    assert resolve([DraftPart(c) for c in text], SOURCES) == resolve([DraftPart(text)], SOURCES)


@given(st.lists(st.tuples(drafts, st.booleans()), max_size=5), st.data())
def test_any_chunking_of_verbatim_and_own_words_gives_the_same(runs, data):
    whole = [DraftPart(text, verbatim) for text, verbatim in runs]
    pieces = [piece for text, verbatim in runs for piece in in_pieces(data, text, verbatim=verbatim)]
    assert resolve(pieces, SOURCES) == resolve(whole, SOURCES)


@given(drafts)
def test_without_brackets_that_are_markers_nothing_changes(text):
    resolved = resolve([DraftPart(text)], SOURCES)
    if not resolved.marks and not resolved.unknown_markers and "⟦" not in text:
        assert resolved.text == text


@given(drafts)
def test_marks_are_disjoint_ordered_known_and_written(text):
    resolved = resolve([DraftPart(text)], SOURCES)
    end = 0
    for mark in resolved.marks:
        assert mark.span.start >= end
        assert mark.span.slice(resolved.text) == f"[{mark.number}]"
        assert mark.number in (1, 2, 3)
        end = mark.span.end
    assert not {1, 2, 3} & set(resolved.unknown_markers)


@given(drafts)
def test_what_is_shown_is_never_taken_back(text):
    stream, shown = MarkerStream(SOURCES), ""
    for character in text:
        shown += stream.push(DraftPart(character))
    shown += stream.flush()
    assert shown == resolve([DraftPart(text)], SOURCES).text


@given(st.text("[]［】【］0123459१٣ ,;-–ab`", max_size=60))
def test_what_compose_escapes_holds_every_marker(text):
    resolved = resolve([DraftPart(escape_markers(text))], [make_source(n, "c") for n in range(1, 60)])
    assert resolved.marks == ()
    assert resolved.unknown_markers == ()


@pytest.mark.parametrize("piece", ["[", "`", "[1", "```\n" + "x", "~", " ", "[1](", "⟦", '"', "\n", "[1]", "("])
def test_long_and_hostile_drafts_are_read_in_linear_time(piece):
    text = piece * (200_000 // len(piece))
    stream = MarkerStream(SOURCES)
    shown = [stream.push(DraftPart(text[at : at + 4_096])) for at in range(0, len(text), 4_096)]
    shown.append(stream.flush())
    held = max(len(text[: (at + 1) * 4_096]) - sum(map(len, shown[: at + 1])) for at in range(len(shown)))
    assert held <= 6_000 or piece in ("[1](", " ", "[1]")
