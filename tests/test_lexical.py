"""The lexical stage: a ranking out of a view, and a leg that fails by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gawah.errors import IndexLegError
from gawah.index.local import LocalIndex
from gawah.lexical import search_lexical
from gawah.testing.index import TEXTS, FakeIndex, FakeIndexCatalog, FakeIndexView, analyze_plain
from gawah.types import Hit, Ranking


def view_of_texts(catalog: FakeIndexCatalog) -> FakeIndexView:
    for number, text in enumerate(TEXTS):
        catalog.add(number, {f"c{number}": text})
    return FakeIndex().view(catalog.feed())


def test_hits_are_ranked_from_one_with_the_cutoff_beside_them() -> None:
    view = view_of_texts(FakeIndexCatalog())
    found = view.bm25(["backup"], 2)
    ranking = search_lexical(view, ["backup"], 2)
    assert ranking == Ranking("lexical", (Hit(*found[0], 1), Hit(*found[1], 2)), 2)
    assert search_lexical(view, [], 5) == Ranking("lexical", (), 5)
    assert [hit.chunk_id for hit in search_lexical(view, ["database"], 5, np.array([8])).hits] == ["c8"]


def test_a_damaged_posting_makes_the_leg_fail_by_name(tmp_path: Path) -> None:
    catalog, index = FakeIndexCatalog(), LocalIndex(tmp_path, analyze_plain)
    view_of_texts(catalog)
    catalog.register(index.seal(catalog.feed()))
    path = tmp_path / "segments" / catalog.records[0].name / "posting_rows.npy"
    data = bytearray(path.read_bytes())
    data[128:] = b"\x7f" * (len(data) - 128)
    path.write_bytes(data)
    view = LocalIndex(tmp_path, analyze_plain).view(catalog.feed())
    with pytest.raises(IndexLegError, match="the lexical leg failed") as caught:
        search_lexical(view, ["backup"], 5)
    assert caught.value.leg == "lexical"
    assert "\n" not in str(caught.value)
