"""Segments become text with a time for every word; what was not understood is left out, marked and counted."""

import math

from hypothesis import example, given
from hypothesis import strategies as st

from gawah.extract.speech.model import Heard
from gawah.extract.speech.transcript import transcript
from gawah.types import TimeRange


def heard(start_s, end_s, text, *, logprob=-0.3, compression=1.3):
    return Heard(start_s, end_s, text, math.exp(logprob), compression)


def test_worked_example():
    made = transcript(
        [heard(0, 2.5, " Good morning."), heard(2.5, 4, " Nobody may cross"), heard(9.004, 10, " the bridge. ")]
    )
    assert made.text == "Good morning. Nobody may cross\n\nthe bridge."
    assert [(place.span.slice(made.text), place.locator) for place in made.places] == [
        ("Good morning.", TimeRange(0, 2.5)),
        ("Nobody may cross", TimeRange(2.5, 4)),
        ("the bridge.", TimeRange(9.0, 10)),
    ]
    assert [block.span.slice(made.text) for block in made.blocks] == ["Good morning. Nobody may cross", "the bridge."]
    assert made.warnings == ()


def test_a_loop_is_left_out_but_kept_aside():
    made = transcript([heard(0, 3, "The siren."), heard(3, 30, "thank you " * 40, compression=12.0)])
    assert made.text == "The siren."
    assert made.removed[0].text.startswith("thank you thank you")
    assert made.removed[0].reason.endswith("at 0:00:03")
    assert made.warnings[0].startswith("low_confidence: 1 of 2")
    assert (made.speech_s, made.unclear_s) == (30, 27)
    assert made.conservation.holds


def test_a_guess_stays_and_its_place_says_so():
    made = transcript([heard(0, 3, "The siren."), heard(3, 5, "Below the bold.", logprob=-0.9)])
    assert made.text == "The siren. Below the bold."
    assert [place.locator.confidence for place in made.places] == [1.0, 0.41]
    assert made.warnings == ("low_confidence: 1 of 2 segments of speech are guesses, at 0:00:03",)


def test_a_speech_without_a_pause_is_parted_at_a_sentence_end():
    sentence = "The keeper of the tower hangs a red blanket from the window when it rains."
    made = transcript([heard(at, at + 4, sentence) for at in range(0, 80, 4)])
    assert len(made.blocks) == 3
    assert all(block.span.slice(made.text).endswith(".") for block in made.blocks)


segments = st.lists(
    st.tuples(st.floats(0, 9), st.floats(0, 40), st.text(max_size=60), st.floats(-3, 0), st.floats(0.2, 5)),
    max_size=12,
)


@given(segments)
@example(  # summed in two orders, what was unclear came out longer than all of it by the last bit
    [(0.0, 28.405236559408554, "0", 0.0, 3.0), (0.0, 4.0, "0", 0.0, 3.0), (0.0, 3.8499999999999996, "0", -1.0, 1.0)]
)
def test_the_books_hold_and_every_word_has_one_time(rows):
    at, parts = 0.0, []
    for gap, length, text, logprob, compression in rows:
        parts.append(heard(at + gap, at + gap + length, text, logprob=logprob, compression=compression))
        at += gap + length
    made = transcript(parts)
    assert made.conservation.holds
    assert made.conservation.kept == len(made.text)
    covered = "".join(place.span.slice(made.text) for place in made.places)
    assert covered.replace(" ", "") == "".join(made.text.split())
    assert [place.span.start for place in made.places] == sorted(place.span.start for place in made.places)
    ends = [0, *(block.span.end for block in made.blocks)]
    assert all(end <= block.span.start for end, block in zip(ends, made.blocks, strict=False))
    assert 0 <= made.unclear_s <= made.speech_s
