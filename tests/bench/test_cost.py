"""The cost table counts what it says: formats against plain products, rows and tests from made-up questions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from bench.cost import (
    DEPTHS,
    RANDOM,
    Case,
    Corpus,
    Cost,
    late_costs,
    outcome,
    page,
    row,
    scored,
    spread,
)
from bench.token_formats import FORMATS, STORED

from gawah.eval.collection import JudgedQuery
from gawah.models.encoder import token_codes
from gawah.rerank import maxsim_of_each
from gawah.types import Hit, Ranking

LENGTHS = (9, 0, 30, 1, 14)


def unit_rows(rng: np.random.Generator, n: int) -> np.ndarray:
    rows = rng.standard_normal((n, 384)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture
def vectors() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(4)
    return {f"c{at}": unit_rows(rng, length) for at, length in enumerate(LENGTHS)}


@pytest.fixture
def corpus(vectors) -> Corpus:
    kept = {key: {format_.name: format_.keep(rows) for format_ in FORMATS} for key, rows in vectors.items()}
    contents = {key: f"passage {key} holds it" for key in vectors}
    return Corpus(contents, contents, kept, n_tokens=sum(LENGTHS), n_chunks=len(LENGTHS))


@pytest.fixture
def case(vectors) -> Case:
    rng = np.random.default_rng(5)
    query = JudgedQuery("q1", "who?", "passage c3 holds it", "d")
    fused = Ranking("rrf", tuple(Hit(key, 1 - at / 10, at + 1) for at, key in enumerate(vectors)), 100)
    return Case("set/q1", query, unit_rows(rng, 6), tuple(rng.random(6)), fused, tuple(vectors))


def exact(case: Case, vectors: dict[str, np.ndarray]) -> list[float]:
    weights = np.array(case.weights) / sum(case.weights)
    return [float((rows @ case.vectors.T).max(axis=0) @ weights) if len(rows) else 0.0 for rows in vectors.values()]


@pytest.mark.parametrize(("name", "error"), [("fp16", 1e-3), ("int8", 5e-3)])
def test_a_format_scores_as_the_vectors_themselves_do_but_for_its_rounding(case, corpus, vectors, name, error) -> None:
    (format_,) = (one for one in FORMATS if one.name == name)
    assert scored(format_, case, corpus, 100) == pytest.approx(exact(case, vectors), abs=error)
    assert len(scored(format_, case, corpus, 2)) == 2


def test_the_stored_format_is_scored_as_the_product_does(case, corpus, vectors) -> None:
    (format_,) = (one for one in FORMATS if one.name == STORED)
    expected = maxsim_of_each(case.vectors, case.weights, [token_codes(rows) for rows in vectors.values()])
    assert scored(format_, case, corpus, 100) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("format_", FORMATS, ids=lambda one: one.name)
def test_a_format_takes_the_bytes_it_is_listed_with(format_) -> None:
    kept = format_.keep(unit_rows(np.random.default_rng(1), 10))
    parts = kept if isinstance(kept, tuple) else (kept,) if isinstance(kept, np.ndarray) else (kept.signs, kept.scales)
    stored = sum(
        len(part) * 2 if part.dtype == np.float32 else part.nbytes for part in parts
    )  # scales are kept as fp16
    assert stored == 10 * format_.bytes_per_token


def test_a_question_without_weight_is_left_in_its_order(case, corpus) -> None:
    weightless = replace(case, weights=(0.0,) * 6)
    assert scored(FORMATS[0], weightless, corpus, 3) == [0.0, 0.0, 0.0]


def test_the_final_order_is_judged_by_the_needle(case, corpus) -> None:
    assert outcome(case, corpus, ()).rank == 4
    assert outcome(case, corpus, [0.1, 0.2, 0.3, 0.9, 0.5]).rank == 1
    assert outcome(case, corpus, [0.1, 0.2]).rank == 4  # beyond the depth the fused order stays


def test_the_page_has_a_row_for_everything_and_no_recall_for_random_weights(case, corpus) -> None:
    late = late_costs([case], corpus)
    assert set(late) == {(format_.name, depth) for format_ in FORMATS for depth in DEPTHS}
    cross = {depth: Cost([10.0 * depth], [20.0 * depth]) for depth in DEPTHS}
    text = page([case], corpus, late, cross, RANDOM)
    assert text.count("| cross-encoder |") == len(DEPTHS)
    assert all("| – | – | – |" in line for line in text.splitlines() if line.startswith("| cross-encoder"))
    a_chunk = sum(LENGTHS) / len(LENGTHS)
    assert f"| fp16 | 25 | {768 * a_chunk:,.0f} |" in text
    assert "Sets: set; 1 questions" in text
    judged = row("cross-encoder", "25", "0", Cost([1.0], [1.0], [outcome(case, corpus, [0.0, 0, 0, 1, 0])]))
    assert judged[5].startswith("1/1 1.000")


def test_a_spread_is_the_median_and_nine_in_ten() -> None:
    assert spread([float(at) for at in range(101)]) == "50.0 [5.0, 95.0]"
    assert spread([1000.0, 3000.0]) == "2,000 [1,100, 2,900]"
    assert spread([]) == "–"
