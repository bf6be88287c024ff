"""Citations are of what the generator wrote, and their quotes are of what the documents hold."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.cite import MarkerStream, conclude, resolve, slices
from gawah.testing.generator import make_source
from gawah.types import CsvCells, DraftPart, Span

THREE = [
    make_source(1, "The committee meets on Mondays.", name="a.md", distance=0.5),
    make_source(2, "The penalty is 4 percent a day.", name="b.md", before="# Second\n\n", distance=0.3),
    make_source(3, "Boats float.", name="c.md", distance=0.4),
]


def numbers(resolved):
    return [citation.marker for citation in resolved.citations]


def test_case_1_invented_numbers_are_removed_and_counted():
    one = THREE[:1]
    resolved = resolve([DraftPart("They meet on Mondays.[2][7]")], one)
    assert (resolved.text, numbers(resolved), resolved.unknown_markers) == ("They meet on Mondays.", [], (2, 7))
    resolved = resolve([DraftPart("They meet on Mondays [1].[2][7]")], one)
    assert (numbers(resolved), resolved.unknown_markers) == ([1], (2, 7))


def test_case_2_an_answer_without_a_marker_gets_no_citation():
    resolved = resolve([DraftPart("The penalty is 4 percent a day. Boats float.")], THREE)
    assert resolved.citations == ()
    assert [claim.status for claim in resolved.claims] == ["uncited", "uncited"]


def test_case_3_words_that_only_sound_like_citations_stay():
    text = "It is so, see Ref 12 of the standard; href 7."
    resolved = resolve([DraftPart(text)], THREE)
    assert (resolved.text, resolved.citations, resolved.unknown_markers) == (text, (), ())


def test_case_4_literal_brackets_of_source_and_code_are_not_markers():
    sources = [make_source(1, "As shown in [12], arrays begin at arr[0].")]
    resolved = resolve([DraftPart('It says "As shown in [12], arrays" and `arr[1]` and arr[0] [1].')], sources)
    assert resolved.text == 'It says "As shown in [12], arrays" and `arr[1]` and arr[0] [1].'
    assert (numbers(resolved), resolved.unknown_markers) == ([1], ())
    copied = resolve([DraftPart(sources[0].passage.chunk.content, verbatim=True), DraftPart(" [1]")], sources)
    assert copied.text == "As shown in [12], arrays begin at arr[0]. [1]"
    assert (numbers(copied), copied.unknown_markers) == ([1], ())


def test_case_5_everything_of_a_citation_is_of_the_file_with_the_fact():
    resolved = resolve([DraftPart("It is 4 percent a day [2].")], THREE, context=lambda passage: ("before", "after"))
    (citation,) = resolved.citations
    assert citation.marker == 2
    assert citation.document_name == "b.md"
    assert citation.label == "Section 2"
    assert citation.locator_label == "line 3"
    assert citation.quote == "The penalty is 4 percent a day."
    assert citation.span == Span(10, 41)
    assert citation.fragment == "#char=10,41"
    assert citation.url == "file:///documents/b.md#char=10,41"
    assert (citation.prefix, citation.suffix) == ("before", "after")
    assert citation.cosine_distance == 0.3
    assert citation.chunk_id == THREE[1].passage.chunk.id
    assert citation.text_sha256 == THREE[1].passage.text_sha256
    assert citation.file_sha256 == THREE[1].passage.file_sha256


def test_case_9_what_overlaps_into_a_chunk_is_not_quoted():
    source = make_source(1, "The rest of it.", before="A sentence that overlaps. ")
    chunk = replace(source.passage.chunk, text="[t]\nthat overlaps. The rest of it.")
    source = replace(source, passage=replace(source.passage, chunk=chunk))
    (citation,) = resolve([DraftPart("So [1].")], [source]).citations
    assert citation.quote == "The rest of it."
    assert slices(citation, "A sentence that overlaps. The rest of it.")


def test_case_11_offsets_count_characters_as_they_are():
    before = "İİİİ … "
    source = make_source(1, "the fee is 40 EUR", before=before)
    (citation,) = resolve([DraftPart("So [1].")], [source]).citations
    assert slices(citation, before + "the fee is 40 EUR and more")
    assert not slices(citation, before.lower() + "the fee is 40 EUR and more")
    assert not slices(citation, before)


def test_one_citation_for_each_number_in_order_of_first_use():
    assert numbers(resolve([DraftPart("A [3]. B [1][3]. C [1].")], THREE)) == [3, 1]


def test_what_was_retrieved_and_not_cited_is_not_listed():
    assert numbers(resolve([DraftPart("A [3].")], THREE)) == [3]


def test_the_fragment_is_of_the_passages_locator():
    source = replace(THREE[0], passage=replace(THREE[0].passage, locator=CsvCells(2, 4)))
    (citation,) = resolve([DraftPart("A [1].")], [source]).citations
    assert (citation.fragment, citation.locator_label) == ("#row=2-4", "rows 2–4")


def test_a_hit_of_another_chunk_is_a_value_error():
    passage = replace(THREE[0].passage, hit=replace(THREE[0].passage.hit, chunk_id="another"))
    with pytest.raises(ValueError, match="another"):
        resolve([DraftPart("A [1].")], [replace(THREE[0], passage=passage)])


def test_a_stream_concludes_as_the_whole_does():
    parts = [DraftPart("The penalty"), DraftPart(" is 4 percent ["), DraftPart("2]. And [9"), DraftPart("].")]
    stream = MarkerStream(THREE)
    text = "".join([*map(stream.push, parts), stream.flush()])
    assert conclude(text, stream, THREE) == resolve(parts, THREE)


@given(st.text(max_size=30), st.text(min_size=1, max_size=30), st.text(max_size=30))
def test_every_quote_slices_from_its_document(before, content, after):
    source = make_source(1, content, before=before)
    (citation,) = resolve([DraftPart("So [1].")], [source]).citations
    assert slices(citation, before + content + after)
    assert citation.url == source.passage.uri + citation.fragment


@given(st.lists(st.sampled_from(["[1]", "[2]", "[3]", "[4]", "a", ". ", " "]), max_size=15).map("".join))
def test_only_what_was_written_is_cited(draft):
    resolved = resolve([DraftPart(draft)], THREE)
    assert set(numbers(resolved)) == {mark.number for mark in resolved.marks}
    if "a[" not in draft and "]a" not in draft:  # which could be an index
        assert set(numbers(resolved)) == {n for n in (1, 2, 3) if f"[{n}]" in draft}
    assert all(f"[{n}]" in draft for n in (*numbers(resolved), *resolved.unknown_markers))
    assert len(numbers(resolved)) == len(set(numbers(resolved)))
