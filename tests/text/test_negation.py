"""A claim that denies what its source says is told from one that says it in other words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.text import Denial, denial, is_negated

DENIED = [
    ("People may climb a mast alone.", "Nobody climbs a mast alone, after 15:00, or when thunder was heard."),
    ("You need a key.", "There is no key and no registration."),
    ("The radar does not need a clear cone.", "The radar needs a clear cone."),
    ("A siren is started by a machine alone.", "No siren in our network is started by a machine alone."),
    ("The box can't be opened in rain.", "The box can be opened in rain."),
    ("तैरना आना ज़रूरी है।", "तैरना आना ज़रूरी नहीं है, क्योंकि हमारा काम पानी में उतरना नहीं है।"),
    ("رات کو کشتی چلتی ہے۔", "رات کو کشتی نہیں چلتی۔"),
    ("Reset kijiye.", "Reset nahin kijiye."),
]
AGREED = [
    ("No key is required.", "There is no key and no registration."),
    ("The pass has no mobile coverage.", "It has no mobile coverage and reaches Sitalpur by a link of 31 km."),
    ("The archive is free.", "We do not sell readings: the archive is free."),
    ("It is due every 12 months.", "The dip test is due every 12 months, before the monsoon, not after it."),
    ("No more than 30 requests are allowed.", "30 requests are allowed."),
    ("It is not only cheap but good.", "It is cheap and good."),
    ("तैरना ज़रूरी नहीं।", "तैरना आना ज़रूरी नहीं है।"),
]


@pytest.mark.parametrize(("claim", "source"), DENIED)
def test_a_denial_is_clear(claim, source):
    assert denial(claim, source) is Denial.CLEAR


@pytest.mark.parametrize(("claim", "source"), AGREED)
def test_what_agrees_is_no_denial(claim, source):
    assert denial(claim, source) is Denial.NONE


def test_a_word_of_refusal_leaves_a_doubt():
    assert (
        denial("The proposal was not accepted.", "The proposal was rejected; a proposal may be accepted later.")
        is Denial.DOUBT
    )


def test_what_is_negated_is_seen():
    assert is_negated("It isn't so.")
    assert is_negated("بغیر اجازت کے")
    assert not is_negated("See No. 5 of the list.")


@given(st.text(max_size=60), st.text(max_size=60))
def test_it_is_symmetric_and_nothing_denies_itself(left, right):
    assert denial(left, right) is denial(right, left)
    assert denial(left, left) is Denial.NONE
