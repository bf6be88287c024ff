"""What points elsewhere and is in no source is named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.made import checked

from gawah.support.foreign import Known, references

SOURCE = (
    "See https://archive.troc.example/v2/series?station=TML-09 and doi:10.1000/xyz.123, arXiv:2401.00001v2, "
    "write to desk@troc.example; section 4.2 on pages 12-14 and page 3. Also www.example.org."
)
KNOWN = Known(lambda: [SOURCE])


def foreign_references(text, known):
    return [one for one in references(text) if not known.holds(one)]


@pytest.mark.parametrize(
    "reference",
    [
        "https://archive.troc.example/v2/series?station=TML-09",
        "http://archive.troc.example/v2/series?station=TML-09",
        "https://doi.org/10.1000/xyz.123"[16:],
        "doi:10.1000/xyz.123",
        "arXiv:2401.00001v2",
        "ARXIV 2401.00001v2",
        "desk@troc.example",
        "Desk@TROC.example",
        "section 4.2",
        "§ 4.2",
        "page 12",
        "p. 14",
        "pages 12–14",
        "page 3",
        "page ۳",
        "https://example.org/",
        "www.example.org",
    ],
)
def test_what_the_sources_have_is_not_foreign(reference):
    assert references(f"It is in {reference}.")
    assert foreign_references(f"It is in {reference}.", KNOWN) == []


@pytest.mark.parametrize(
    "reference",
    [
        "https://archive.troc.example/v2",
        "https://archive.troc.example",
        "https://troc.example/",
        "https://evil.example/archive.troc.example",
        "www.evil.example",
        "ftp://x.example/a",
        "mailto:a@b.example",
        "10.1000/xyz.1234",
        "10.1000/xyz",
        "arXiv:2401.00001",
        "arXiv:2401.99999",
        "arXiv:hep-th/9901001",
        "sk@troc.example",
        "page 13",
        "pp. 12-15",
        "p. 1",
        "section 4",
        "chapter 9",
        "§ 4.2.1",
        "table 2",
        "पृष्ठ ४०",
        "صفحہ 40",
    ],
)
def test_what_no_source_has_is_foreign(reference):
    assert [one.text for one in foreign_references(f"It is in {reference}.", KNOWN)] == [reference]


def test_a_foreign_link_makes_a_claim_weak_at_most_and_is_named():
    quote = "The fee is 40 EUR a year. It is due in spring."
    (claim,) = checked("The fee is 40 EUR a year https://evil.example/pay [1].", quote)
    assert claim.status == "weak"
    assert claim.foreign == ("https://evil.example/pay",)
    (claim,) = checked("The fee is 40 EUR a year, see page 7 [1].", quote)
    assert claim.foreign == ("page 7",)
    assert claim.status != "supported"


def test_links_in_markdown_are_seen():
    (claim,) = checked("![fee](https://evil.example/x.png) and [more](http://evil.example/y).", "The fee is 40 EUR.")
    assert claim.foreign == ("https://evil.example/x.png", "http://evil.example/y")


def test_a_link_that_another_source_has_is_not_foreign():
    (claim,) = checked(
        "The fee is 40 EUR, see https://troc.example/fee [1].", "The fee is 40 EUR.", "At https://troc.example/fee."
    )
    assert claim.foreign == ()


def test_the_sources_are_not_read_where_nothing_points_elsewhere():
    def unread():
        raise AssertionError("the sources were read")

    assert foreign_references("The fee is 40 EUR.", Known(unread)) == []


def test_a_page_is_held_against_the_place_of_a_source():
    (claim,) = checked("The fee is 40 EUR a year, says section 1 [1].", "The fee is 40 EUR a year.")
    assert (claim.foreign, claim.missing, claim.status) == ((), (), "supported")


@given(st.text(max_size=200))
def test_references_slice_and_a_text_knows_its_own(text):
    found = references(text)
    assert all(one.span.slice(text) == one.text for one in found)
    numbered = [one for one in found if one.kind in ("page", "section")]
    assert all(Known(lambda: [text]).holds(one) for one in numbered)


@pytest.mark.parametrize(
    "text", ["http://" * 5000, "a@" * 20_000, "page " * 20_000, "10.1000/" + "x" * 50_000, "www." * 20_000]
)
def test_long_hostile_texts_are_read(text):
    assert all(one.span.end <= len(text) for one in references(text))
