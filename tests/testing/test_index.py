"""The brute-force index keeps the contract of indexes."""

from __future__ import annotations

import math

import pytest

from gawah.testing.index import FakeIndex, FakeIndexCatalog, assert_same_hits
from gawah.testing.index_contract import IndexContract


class TestFakeIndex(IndexContract):
    def make_index(self) -> FakeIndex:
        return FakeIndex()


def test_worked_example_of_bm25() -> None:
    catalog = FakeIndexCatalog()
    catalog.add(1, {"c1": "red fox", "c2": "red red hen here"})
    found = dict(FakeIndex().view(catalog.feed()).bm25(["fox", "red"], 9))
    idf_of_fox, idf_of_red = math.log(1 + 1.5 / 1.5), math.log(1 + 0.5 / 2.5)
    assert found["c1"] == pytest.approx((idf_of_fox + idf_of_red) * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / 3)), abs=1e-12)
    assert found["c2"] == pytest.approx(idf_of_red * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 4 / 3)), abs=1e-12)


def test_the_comparison_of_hits_notices_what_is_wrong() -> None:
    right = [("a", 3.0), ("b", 2.0), ("c", 2.0), ("d", 1.0)]
    assert_same_hits(right[:2], right, 2)
    for wrong in ([("a", 3.0)], [("a", 3.0), ("d", 1.0)], [("b", 2.0), ("a", 3.0)], [("a", 3.0), ("b", 2.1)]):
        with pytest.raises(AssertionError):
            assert_same_hits(wrong, right, 2)
