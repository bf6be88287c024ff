"""Every sentence of an answer is a claim with the markers that are its own."""

from hypothesis import given
from hypothesis import strategies as st

from gawah.cite import resolve, without_marks
from gawah.testing.generator import make_source
from gawah.types import DraftPart

SOURCES = [make_source(n, f"content {n}") for n in (1, 2, 3)]


def claims(*parts):
    resolved = resolve([part if isinstance(part, DraftPart) else DraftPart(part) for part in parts], SOURCES)
    return [(claim.span.slice(resolved.text), claim.markers) for claim in resolved.claims]


def test_a_worked_example():
    assert claims("The fee is 40 EUR [1]. Members pay nothing.[2] It may rise. [1][3] Nobody knows.") == [
        ("The fee is 40 EUR [1].", (1,)),
        ("Members pay nothing.", (2,)),
        ("It may rise.", (1, 3)),
        ("Nobody knows.", ()),
    ]


def test_a_sentence_without_a_marker_is_uncited():
    resolved = resolve([DraftPart("Yes. No [1].")], SOURCES)
    assert [claim.status for claim in resolved.claims] == ["uncited", "cited"]


def test_a_marker_at_the_beginning_of_a_line_belongs_to_what_follows():
    assert claims("Before.\n[1] The fee is 40 EUR.\n- [2] Members pay nothing.") == [
        ("Before.", ()),
        ("The fee is 40 EUR.", (1,)),
        ("- [2] Members pay nothing.", (2,)),
    ]


def test_a_marker_on_a_line_of_its_own_belongs_to_what_stands_above():
    assert claims("The fee is 40 EUR.\n[1]\nMembers pay nothing.") == [
        ("The fee is 40 EUR.", (1,)),
        ("Members pay nothing.", ()),
    ]


def test_items_and_rows_are_claims_of_their_own_and_headings_are_none():
    assert claims("# Fees\n\n* members: none [1]\n* guests: 40 EUR [2]\n\n| a | b | [1]\n| c | d |") == [
        ("* members: none", (1,)),
        ("* guests: 40 EUR", (2,)),
        ("| a | b |", (1,)),
        ("| c | d |", ()),
    ]


def test_a_heading_with_a_marker_is_a_claim():
    assert claims("Yes [1].\n\n# Fees [3]\n\nNo.") == [("Yes [1].", (1,)), ("# Fees", (3,)), ("No.", ())]


def test_a_block_of_code_is_one_claim():
    assert claims("Run this:\n```\na. B. c\n\nd\n```\n[1]\nThen rest.") == [
        ("Run this:", ()),
        ("```\na. B. c\n\nd\n```", (1,)),
        ("Then rest.", ()),
    ]


def test_code_that_was_copied_without_its_end_ends_with_its_marker():
    cut, after = DraftPart("```\na. B. c", verbatim=True), DraftPart("Then rest.", verbatim=True)
    assert claims(cut, " [1]", "\n", after, " [2]") == [("```\na. B. c", (1,)), ("Then rest.", (2,))]


def test_emphasis_and_signs_at_the_beginning_of_a_line_begin_no_item():
    copied = DraftPart("It may be\n*very* cold, down to\n-5 °C or even\n#1 of the list.", verbatim=True)
    assert claims(copied, " [1]") == [("It may be\n*very* cold, down to\n-5 °C or even\n#1 of the list.", (1,))]


def test_sentences_copied_together_share_the_marker_behind_them():
    copied = DraftPart("* One thing. Another thing. A third.", verbatim=True)
    assert claims("Mine. ", copied, " [2]", " ", "Mine too.") == [
        ("Mine.", ()),
        ("* One thing.", (2,)),
        ("Another thing.", (2,)),
        ("A third.", (2,)),
        ("Mine too.", ()),
    ]


def test_two_copies_keep_their_own_markers():
    one, two = DraftPart("One. Two.", verbatim=True), DraftPart("Three. Four.", verbatim=True)
    assert claims(one, " [1]", " ", two, " [2]") == [("One.", (1,)), ("Two.", (1,)), ("Three.", (2,)), ("Four.", (2,))]


def test_hindi_and_urdu_sentences_are_claims():
    assert claims("शुल्क ४० यूरो है [१]। सदस्य मुफ़्त हैं।[२]") == [
        ("शुल्क ४० यूरो है [1]।", (1,)),
        ("सदस्य मुफ़्त हैं।", (2,)),
    ]
    assert claims("فیس چالیس یورو ہے [1]۔ ارکان مفت ہیں۔ [2]") == [
        ("فیس چالیس یورو ہے [1]۔", (1,)),
        ("ارکان مفت ہیں۔", (2,)),
    ]


def test_nothing_and_marks_alone_are_no_claim():
    assert claims("") == claims("...") == claims("[1]") == claims("---\n") == []


drafts = st.lists(
    st.sampled_from(
        ["Yes", "No", " ", ". ", "[1]", " [2]", "\n", "\n\n", "* ", "| ", "```\n", "# ", "e.g. ", "9", "…", ": "]
    ),
    max_size=20,
).map("".join)


@given(st.lists(st.tuples(drafts, st.booleans()), max_size=4))
def test_claims_are_disjoint_in_order_and_hold_every_letter_but_headings(runs):
    resolved = resolve([DraftPart(text, verbatim) for text, verbatim in runs], SOURCES)
    words = without_marks(resolved.text, resolved.marks)
    assert len(words) == len(resolved.text)
    end, left_out = 0, ""
    for claim in resolved.claims:
        assert claim.span.start >= end
        left_out += words[end : claim.span.start]
        assert any(character.isalnum() for character in claim.span.slice(words))
        assert (claim.status == "cited") == bool(claim.markers)
        assert set(claim.markers) <= {mark.number for mark in resolved.marks}
        end = claim.span.end
    left_out += words[end:]
    if "#" not in words:
        assert not any(character.isalnum() for character in left_out)
    if resolved.claims:
        assert {number for claim in resolved.claims for number in claim.markers} == {m.number for m in resolved.marks}


def test_an_item_or_a_row_that_ends_in_a_marker_ends_there():
    for line in ("- The fee is 40", "| fee | 40 |", "1. The fee is 40", "# channel number"):
        resolved = resolve([DraftPart(f"{line} [1]\nthe quay is north [2]")], SOURCES)
        assert [claim.markers for claim in resolved.claims] == [(1,), (2,)], line
