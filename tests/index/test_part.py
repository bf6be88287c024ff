"""Parts: what goes in comes out, whatever it is."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gawah.errors import StoreCorruptError
from gawah.index.build import build_part, whole
from gawah.index.merge import merge
from gawah.index.part import Part, document_runs, term_hash
from gawah.ports import Embedding, IndexRow
from gawah.testing.embedder import FakeEmbedder
from gawah.testing.index import analyze_plain

EMBEDDER = FakeEmbedder(dimensions=16, window_tokens=200_000)


def rows_of(texts: list[str], first: int = 1, document_no: int = 1) -> list[IndexRow]:
    return [
        IndexRow(first + at, f"c{first + at}", document_no + at // 2, text, embedding)
        for at, (text, embedding) in enumerate(zip(texts, EMBEDDER.embed(texts), strict=True))
    ]


def same(one: Part, other: Part) -> bool:
    pairs = [(getattr(one, field.name), getattr(other, field.name)) for field in fields(Part)]
    return all(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in pairs)


def test_worked_example() -> None:
    part = build_part(rows_of(["red fox", "", "red red hen-1"]), analyze_plain)
    assert part.lengths.tolist() == [2, 0, 4]
    assert [array.tolist() for array in part.postings(b"red")] == [[0, 2], [1, 2]]
    assert [array.tolist() for array in part.postings(b"hen-1")] == [[2], [1]]
    assert [array.tolist() for array in part.postings(b"cat")] == [[], []]
    assert set(part.terms()) == {b"red", b"fox", b"hen", b"1", b"hen-1"}
    assert part.run_documents.tolist() == [1, 2]
    assert part.run_starts.tolist() == [0, 2, 3]
    assert part.rows_of(np.array([b"c3", b"c1", b"c", b"c33", b""])).tolist() == [2, 0, -1, -1, -1]
    assert part.rows_of_seqs(np.array([0, 2, 3, 9])).tolist() == [1, 2]
    assert len(part.tokens(1).scales) == 0


def test_terms_of_the_same_hash_are_told_apart_by_their_letters() -> None:
    part = build_part(rows_of(["red", "fox hen"]), analyze_plain)
    _, second, third = part.terms()
    collided = replace(part, term_hashes=np.full(3, term_hash(second), np.uint64))
    assert collided.postings(second)[0].tolist() == part.postings(second)[0].tolist()
    last = replace(part, term_hashes=np.full(3, term_hash(third), np.uint64))
    assert last.postings(third)[0].tolist() == part.postings(third)[0].tolist()
    none = replace(part, term_hashes=np.full(3, term_hash(b"cat"), np.uint64))
    assert none.postings(b"cat")[0].tolist() == []


def test_a_term_that_is_there_seventy_thousand_times_is_counted_in_full() -> None:
    part = build_part(rows_of(["a " * 70_000, "a"]), analyze_plain)
    assert part.postings(b"a")[1].tolist() == [70_000, 1]
    assert part.posting_counts.dtype == np.int32
    only_small = whole(part).without(np.array([1]))
    assert merge([only_small]).posting_counts.dtype == np.uint16
    assert merge([whole(part), whole(build_part(rows_of(["a a"], first=3), analyze_plain))]).postings(b"a")[
        1
    ].tolist() == [70_000, 1, 2]


def test_a_word_of_a_megabyte_is_a_term() -> None:
    word = "x" * (1 << 20)
    rows = [replace(row, text=word) for row in rows_of(["short"])]
    assert build_part(rows, analyze_plain).postings(word.encode())[0].tolist() == [0]


@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(
        st.lists(st.sampled_from(["red", "fox", "a-b", "hen", "९", ""]), max_size=4).map(" ".join),
        min_size=2,
        max_size=12,
    ),
    data=st.data(),
)
def test_merged_parts_equal_one_part_built_of_the_live_rows(texts: list[str], data: st.DataObject) -> None:
    rows = rows_of(texts)
    cut = data.draw(st.integers(1, len(rows) - 1))
    dead = data.draw(st.sets(st.integers(1, len(rows)), max_size=len(rows) - 1))
    gone = np.array(sorted(dead), np.int64)
    portions = [whole(build_part(some, analyze_plain)).without(gone) for some in (rows[:cut], rows[cut:])]
    alive = [row for row in rows if row.seq not in dead]
    assert same(merge(portions), build_part(alive, analyze_plain))
    assert sum(portion.n_live for portion in portions) == len(alive)


@given(st.lists(st.integers(0, 3), min_size=1), st.sets(st.integers(-1, 5)))
def test_a_filter_admits_the_rows_of_its_documents(numbers: list[int], wanted: set[int]) -> None:
    documents, starts = document_runs(np.array(numbers, np.int64))
    assert np.repeat(documents, np.diff(starts)).tolist() == numbers
    part = build_part(
        [replace(row, document_no=n) for row, n in zip(rows_of([""] * len(numbers)), numbers, strict=True)],
        analyze_plain,
    )
    portion = whole(part).without(np.array([1]))
    mask = portion.admitted(np.array(sorted(wanted), np.int64))
    assert mask is not None
    assert mask.tolist() == [at > 0 and number in wanted for at, number in enumerate(numbers)]


def test_rows_that_cannot_be_indexed_are_named() -> None:
    row, other = rows_of(["red", "fox"])
    tokens = row.embedding.tokens
    long = replace(row, embedding=Embedding(row.embedding.vector * 2, tokens))
    with pytest.raises(StoreCorruptError, match=r"chunk c1: .*length 2"):
        build_part([long, other], analyze_plain)
    nan = replace(row, embedding=Embedding(np.full(16, np.nan, np.float32), tokens))
    with pytest.raises(StoreCorruptError, match="chunk c1"):
        build_part([nan], analyze_plain)
    wide = replace(other, embedding=FakeEmbedder(dimensions=24).embed(["fox"])[0])
    with pytest.raises(StoreCorruptError, match="chunk c2: a vector of 24 dimensions"):
        build_part([row, wide], analyze_plain)
    with pytest.raises(StoreCorruptError, match="c1 is there twice"):
        build_part([row, replace(other, chunk_id="c1")], analyze_plain)
    with pytest.raises(StoreCorruptError, match="several sizes"):
        merge([whole(build_part([each], analyze_plain)) for each in (row, wide)])
