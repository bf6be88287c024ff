"""In what people read, a source's own bracketed numbers are told from markers, and nothing else changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.cite import literals_shown, resolve
from gawah.testing.generator import make_source
from gawah.types import DraftPart, Span


def marks_of(text, *markers):
    """The places of the given markers, last occurrences."""
    return [Span(text.rindex(marker), text.rindex(marker) + len(marker)) for marker in markers]


@pytest.mark.parametrize(
    ("text", "markers", "shown"),
    [
        ("The fee is 40 EUR, see [2] of the rules. [1]", ["[1]"], "The fee is 40 EUR, see ⟦2⟧ of the rules. [1]"),
        ("Smith[12] and [3, 4]. [1][2]", ["[1]", "[2]"], "Smith⟦12⟧ and ⟦3, 4⟧. [1][2]"),
        (
            "Arrays start at arr[0], the range is [0, 1]. [1]",
            ["[1]"],
            "Arrays start at arr[0], the range is [0, 1]. [1]",
        ),
        (
            "Write `arr[1]` or\n```py\nx[2] = 3\n```\nbut see [2]. [1]",
            ["[1]"],
            "Write `arr[1]` or\n```py\nx[2] = 3\n```\nbut see ⟦2⟧. [1]",
        ),
        ("A 【2】 and a ［2］. [1]", ["[1]"], "A ⟦2⟧ and a ⟦2⟧. [1]"),
        ("A [note] and [a2]. [1]", ["[1]"], "A [note] and [a2]. [1]"),
        ("", [], ""),
    ],
)
def test_worked_examples(text, markers, shown):
    assert literals_shown(text, marks_of(text, *markers)) == shown


@given(st.lists(st.builds(DraftPart, st.text(st.sampled_from("ab .[]12,`\n"), max_size=12), st.booleans()), max_size=8))
def test_markers_stay_at_their_places_and_the_length_is_the_same(parts):
    resolved = resolve(parts, [make_source(1, "one a b", name="a.md"), make_source(2, "two 12", name="b.md")])
    shown = literals_shown(resolved.text, [mark.span for mark in resolved.marks])
    assert len(shown) == len(resolved.text)
    for mark in resolved.marks:
        assert shown[mark.span.start : mark.span.end] == f"[{mark.number}]"
    changed = {a for a, b in zip(resolved.text, shown, strict=True) if a != b}
    assert changed <= set("[]")
