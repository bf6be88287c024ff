"""Resolved text held back to whole sentences: a sentence goes out with its markers, and nothing is lost or changed."""

from hypothesis import given
from hypothesis import strategies as st

from gawah.cite import resolve
from gawah.cite.hold import SentenceHold
from gawah.types import DraftPart


def told(pieces):
    hold = SentenceHold()
    return [sentence for sentence in (*(hold.push(piece) for piece in pieces), hold.flush()) if sentence]


def test_a_sentence_waits_for_the_marker_behind_its_full_stop():
    hold = SentenceHold()
    assert hold.push("The fee is 40 EUR.") == ""
    assert hold.push(" [1]") == ""
    assert hold.push(" [2] Late") == "The fee is 40 EUR. [1] [2] "
    assert hold.push(" payers pay more. [1]") == ""
    assert hold.flush() == "Late payers pay more. [1]"


@given(st.lists(st.text(alphabet="ab. [1]2\n!?।A", max_size=12), max_size=20))
def test_what_comes_out_is_what_went_in(pieces):
    assert "".join(told(pieces)) == "".join(pieces)


@given(
    st.lists(
        st.sampled_from(["It is so. [1]", " Then it is not.", " [2]", "\n\n", "Why? ", "[9]", " Dr. X said"]),
        max_size=12,
    )
)
def test_no_piece_begins_with_the_marker_of_the_sentence_before(pieces):
    for sentence in told(pieces)[1:]:
        assert not sentence.lstrip(" ").startswith("[")


@given(st.lists(st.sampled_from(["One is. [1", "]", " Two", " are.", " [7]", "\n", "`[1]` x. "]), max_size=12))
def test_what_is_heard_is_the_resolved_text(parts):
    heard = []
    resolved = resolve([DraftPart(part) for part in parts], (), heard=heard.append)
    assert "".join(heard) == resolved.text
