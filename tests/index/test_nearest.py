"""The dense leg: scores that do not depend on layout, candidates that do not miss."""

from __future__ import annotations

import math

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings

from gawah.index import nearest
from gawah.index.build import build_part
from gawah.index.part import Part, sign_bits
from gawah.ports import Embedding, IndexRow, TokenCodes


def part_of(vectors: np.ndarray, first: int = 0) -> Part:
    codes = TokenCodes(np.zeros((0, vectors.shape[1] // 8), np.uint8), np.zeros(0, np.float16))
    rows = [
        IndexRow(first + at, f"c{first + at}", 1, "", Embedding(vector, codes)) for at, vector in enumerate(vectors)
    ]
    return build_part(rows, lambda _: ([], []))


def by_scan(parts, masks, query, cutoff):
    rows = [nearest.every_row(part, mask) for part, mask in zip(parts, masks, strict=True)]
    return nearest.refined(parts, rows, query, cutoff)


def by_bits(parts, masks, query, cutoff, pool=None):
    return nearest.refined(parts, nearest.rows_by_bits(parts, masks, query, cutoff, pool), query, cutoff)


def unit(vectors: np.ndarray) -> np.ndarray:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def clustered(rng: np.random.Generator, n: int, dimensions: int = 384) -> np.ndarray:
    """Unit vectors around n / 50 topics, topics around one common direction, as sentence encoders give them."""
    topics = rng.standard_normal((max(1, n // 50), dimensions)) + 0.3 * rng.standard_normal(dimensions)
    return unit(topics[rng.integers(0, len(topics), n)] + 0.8 * rng.standard_normal((n, dimensions)))


@given(
    vectors=hnp.arrays(
        np.float32, st.tuples(st.integers(1, 9), st.integers(1, 70)), elements=st.floats(-1, 1, width=32)
    ),
    data=st.data(),
)
def test_exact_dots_are_right_and_the_same_beside_any_other_rows(vectors: np.ndarray, data: st.DataObject) -> None:
    query = data.draw(hnp.arrays(np.float64, vectors.shape[1], elements=st.floats(-1, 1, width=32)))
    dots = nearest.exact_dots(vectors, np.arange(len(vectors)), query)
    for row, dot in enumerate(dots):
        assert math.isclose(dot, math.fsum(vectors[row].astype(np.float64) * query), abs_tol=1e-13)
        alone = nearest.exact_dots(vectors[row : row + 1].copy(), np.zeros(1, np.int64), query)
        assert alone[0] == dot
    backwards = nearest.exact_dots(vectors, np.arange(len(vectors))[::-1], query)
    assert backwards[::-1].tobytes() == dots.tobytes()


def test_more_rows_than_a_block_are_all_scored() -> None:
    rng = np.random.default_rng(1)
    vectors = unit(rng.standard_normal((5000, 16)))
    query = vectors[7].astype(np.float64)
    rows = rng.permutation(5000)
    dots = nearest.exact_dots(vectors, rows, query)
    assert np.allclose(dots, vectors[rows].astype(np.float64) @ query, atol=1e-14)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(0, 3))
def test_no_row_of_the_best_is_missed_by_the_scan_ties_included(seed: int, cutoff: int, n_copies: int) -> None:
    rng = np.random.default_rng(seed)
    vectors = clustered(rng, 80, 64)
    vectors = np.concatenate([vectors, *[vectors] * n_copies])
    query = unit(rng.standard_normal((1, 64)))[0].astype(np.float64)
    parts = [part_of(vectors[:30]), part_of(vectors[30:], 30)]
    masks = [None, rng.random(len(vectors) - 30) < 0.7]
    found = by_scan(parts, masks, query, cutoff)
    exact = np.array([math.fsum(vector) for vector in vectors.astype(np.float64) * query])
    admitted = np.concatenate([np.ones(30, bool), masks[1]])
    border = np.sort(exact[admitted])[::-1][min(cutoff, int(admitted.sum())) - 1]
    wanted = set(np.flatnonzero(admitted & (exact >= border)))
    assert wanted <= set(found[0]) | {30 + row for row in found[1]}
    assert not [row for row in found[1] if not masks[1][row]]


def test_sign_bits_of_odd_widths() -> None:
    vectors = np.array([[1, -1, 0.5], [-1, 0, 2]], np.float32)
    assert sign_bits(vectors).shape == (1, 2)
    assert sorted(int(word).bit_count() for word in sign_bits(vectors)[0]) == [1, 2]
    assert sign_bits(np.ones((3, 65), np.float32)).shape == (2, 3)


@given(
    st.integers(1, 130).flatmap(
        lambda width: st.tuples(
            hnp.arrays(np.float32, (5, width), elements=st.floats(-1, 1, width=32)),
            hnp.arrays(np.float64, width, elements=st.floats(-1, 1, width=32)),
        )
    )
)
def test_sign_distance_is_the_sum_of_quantised_components_of_differing_sign(
    pair: tuple[np.ndarray, np.ndarray],
) -> None:
    vectors, query = pair
    levels = np.rint(np.abs(query) / (np.abs(query).max() or 1) * 7).astype(int)
    expected = [int(levels[(vector > 0) != (query > 0)].sum()) for vector in vectors]
    bits = sign_bits(vectors)
    found = np.empty(len(vectors), np.uint16)
    nearest._fill_sign_distances(bits, found, *nearest._quantised(query, len(bits)))
    assert found.tolist() == expected


def test_sign_bits_first_keeps_the_best_of_many_clustered_vectors() -> None:
    rng = np.random.default_rng(3)
    vectors = clustered(rng, 30_000)
    parts, masks = [part_of(vectors)], [None]
    kept = []
    for at in rng.integers(0, len(vectors), 20):
        query = unit(vectors[at : at + 1] + 0.03 * rng.standard_normal((1, 384)))[0].astype(np.float64)
        best = np.argsort(-(vectors @ query.astype(np.float32)))[:50]
        found = set(by_bits(parts, masks, query, 50)[0])
        assert set(best[:10]) <= found
        kept.append(len(found & set(best)) / 50)
    assert np.mean(kept) >= 0.99


def test_sign_bits_first_chooses_the_same_rows_in_any_layout_and_among_the_admitted_only() -> None:
    rng = np.random.default_rng(4)
    vectors = clustered(rng, 9_000, 64)
    query = unit(rng.standard_normal((1, 64)))[0].astype(np.float64)
    admitted = rng.random(9_000) < 0.6
    together = by_bits([part_of(vectors)], [admitted], query, 20)[0]
    parts = [part_of(vectors[:2500]), part_of(vectors[2500:2600], 2500), part_of(vectors[2600:], 2600)]
    masks = [admitted[:2500], admitted[2500:2600], admitted[2600:]]
    apart = by_bits(parts, masks, query, 20)
    assert together.tolist() == [
        first + row for first, rows in zip((0, 2500, 2600), apart, strict=True) for row in rows
    ]
    assert admitted[together].all()
    assert len(together) >= 20


def test_a_query_of_zeros_still_ranks() -> None:
    vectors = unit(np.random.default_rng(5).standard_normal((10, 8)))
    for choose in (by_scan, by_bits):
        assert sum(map(len, choose([part_of(vectors)], [None], np.zeros(8), 3))) == 10
