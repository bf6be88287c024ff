"""The dense stage: a ranking out of a view, and a leg that fails by name."""

from __future__ import annotations

import numpy as np
import pytest

from gawah.dense import search_dense
from gawah.errors import IndexLegError, StampMismatchError
from gawah.testing.embedder import FakeEmbedder
from gawah.testing.index import TEXTS, FakeIndex, FakeIndexCatalog, FakeIndexView
from gawah.types import Hit, Ranking


class Broken(FakeIndexView):
    """A view whose files or memory are gone, or whose vectors are another model's."""

    failure: Exception

    def dense(self, vector: object, cutoff: int, only: object = None) -> list[tuple[str, float]]:
        raise self.failure


def test_hits_are_ranked_from_one_with_the_cutoff_beside_them() -> None:
    catalog = FakeIndexCatalog()
    for number, text in enumerate(TEXTS):
        catalog.add(number, {f"c{number}": text})
    view, vector = FakeIndex().view(catalog.feed()), FakeEmbedder().embed(["a backup"])[0].vector
    found = view.dense(vector, 2)
    assert search_dense(view, vector, 2) == Ranking("dense", (Hit(*found[0], 1), Hit(*found[1], 2)), 2)
    assert [hit.chunk_id for hit in search_dense(view, vector, 9, np.array([8])).hits] == ["c8"]
    assert search_dense(view, vector, 9, np.array([], np.int64)) == Ranking("dense", (), 9)


@pytest.mark.parametrize("failure", [OSError(5, "Input/output error"), IndexError("out of bounds"), MemoryError()])
def test_failing_files_and_memory_make_the_leg_fail_by_name(failure: Exception) -> None:
    view = Broken(FakeIndexCatalog().feed())
    view.failure = failure
    with pytest.raises(IndexLegError, match=r"the dense leg failed: .+; run 'gawah doctor'") as caught:
        search_dense(view, np.ones(64, np.float32), 5)
    assert caught.value.leg == "dense"


@pytest.mark.parametrize("failure", [StampMismatchError("another model"), KeyError("a bug")])
def test_what_is_no_failure_of_the_leg_passes_through(failure: Exception) -> None:
    view = Broken(FakeIndexCatalog().feed())
    view.failure = failure
    with pytest.raises(type(failure)):
        search_dense(view, np.ones(64, np.float32), 5)
