"""A highlight says where its own words are, not where the passage around them is."""

from gawah.cite import placed, resolve
from gawah.testing.generator import make_source
from gawah.types import Claim, DraftPart, Highlight, SheetRange, Span, TimeRange

SOURCES = [make_source(1, "Boats float. Logs do too.", name="a.md"), make_source(2, "Stones sink.", name="b.md")]


def cited(*markers):
    return resolve([DraftPart("It is so." + "".join(f" [{marker}]" for marker in markers))], SOURCES).citations


def claim(*highlights):
    return Claim(Span(0, 9), (1, 2), "supported", 1.0, highlights=highlights)


def test_each_highlight_gets_the_place_of_its_span():
    asked = []

    def locate(document_id, text_sha256, spans):
        asked.append((document_id, text_sha256, spans))
        return [SheetRange("Costs", f"A{span.start}") for span in spans]

    one, two = Highlight(1, Span(3, 9)), Highlight(1, Span(12, 15))
    citations = cited(1)
    first, second = placed([claim(one, two), claim(two)], citations, locate)
    assert [(h.span, h.locator_label, h.fragment) for h in first.highlights] == [
        (Span(3, 9), "Costs!A3", "#sheet=Costs&range=A3"),
        (Span(12, 15), "Costs!A12", "#sheet=Costs&range=A12"),
    ]
    assert second.highlights == first.highlights[1:]
    assert asked == [(citations[0].document_id, citations[0].text_sha256, [Span(3, 9), Span(12, 15)])]


def test_where_the_document_has_changed_the_highlight_has_the_place_of_the_whole_quote():
    citations = cited(1, 2)

    def locate(document_id, _, spans):
        return None if document_id == citations[0].document_id else [TimeRange(1, 2) for _ in spans]

    (made,) = placed([claim(Highlight(1, Span(0, 3)), Highlight(2, Span(0, 3)))], citations, locate)
    assert [one.fragment for one in made.highlights] == [citations[0].fragment, "#t=1,2"]
    assert made.highlights[0].locator_label == citations[0].locator_label


def test_nothing_is_located_for_claims_without_highlights():
    made = claim()
    assert placed([made], cited(1), lambda *_: 1 / 0) == (made,)
