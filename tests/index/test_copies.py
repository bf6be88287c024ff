"""Segments that another machine sealed: built here once, kept, and used only for a catalog that came by what they hold."""

import copy

import pytest

from gawah.index.copies import FOLDER
from gawah.index.folders import temporary_folder
from gawah.index.local import LocalIndex
from gawah.testing.index import FakeIndexCatalog, analyze_plain


@pytest.fixture
def catalog(tmp_path):
    """Two documents in a segment that lies elsewhere."""
    made = FakeIndexCatalog()
    made.add(1, {"c1": "restore a backup", "c2": "cats sleep"})
    made.add(2, {"c3": "a warm backup"})
    made.register(LocalIndex(tmp_path / "elsewhere", analyze_plain).seal(made.feed()))
    return made


@pytest.fixture
def here(tmp_path):
    """Processes of a machine without the segment: each call is another one."""
    return lambda: LocalIndex(tmp_path / "here", analyze_plain, keeps_copies=True)


def assert_right(index, catalog, tmp_path):
    view = index.view(catalog.feed())
    assert view.fingerprint() == LocalIndex(tmp_path / "none", analyze_plain).view(catalog.feed()).fingerprint()
    assert view.degraded == ()


def test_what_is_absent_is_built_once_and_kept(catalog, here, tmp_path):
    assert_right(here(), catalog, tmp_path)
    (kept,) = (tmp_path / "here" / "segments" / FOLDER).iterdir()
    before = {path: path.stat().st_mtime_ns for path in kept.rglob("*")}
    catalog.delete(1)
    catalog.add(3, {"c4": "another backup"})
    assert_right(here(), catalog, tmp_path)
    assert {path: path.stat().st_mtime_ns for path in kept.rglob("*")} == before


@pytest.mark.parametrize("n_more", [0, 1, 2, 5])
def test_a_copy_that_was_made_of_a_catalog_before_it_was_restored_is_not_used(catalog, here, tmp_path, n_more):
    """It lacks what was deleted then and is there again."""
    restored = copy.deepcopy(catalog)
    catalog.delete(1)
    index = here()
    assert_right(index, catalog, tmp_path)
    for number in range(n_more):
        restored.add(10 + number, {f"c{10 + number}": f"backup {number}"})
    for each in (index, here()):
        assert each.view(restored.feed()).n_chunks == 3 + n_more
        assert_right(each, restored, tmp_path)


def test_what_a_killed_process_left_of_a_copy_goes_and_what_a_living_one_makes_stays(catalog, here, tmp_path):
    index = here()
    index.view(catalog.feed())
    segments = tmp_path / "here" / "segments"
    (kept,) = (segments / FOLDER).iterdir()
    before = set(kept.rglob("*"))
    with temporary_folder(kept) as in_use, temporary_folder(segments) as pieces:
        for left in (kept / ".new-1-abc", kept / "g1-1-2-0123456789ab", segments / ".new-1-abc"):
            left.mkdir()
            (left / "term_blob.npy").write_bytes(b"half")
        index.remove_unregistered([record.name for record in catalog.records])
        assert set(kept.rglob("*")) == before | {in_use}
        assert {path.name for path in segments.iterdir()} == {FOLDER, pieces.name}
    assert set(kept.rglob("*")) == before
    (kept / "copy.json").unlink()  # killed before it said what it had made
    index.remove_unregistered([record.name for record in catalog.records])
    assert list(kept.iterdir()) == []
    assert index.check(catalog.feed()) == ()
    assert_right(here(), catalog, tmp_path)


def test_a_damaged_copy_is_built_again(catalog, here, tmp_path):
    here().view(catalog.feed())
    (vectors,) = (tmp_path / "here").rglob("vectors.npy")
    vectors.write_bytes(b"not an array")
    assert here().check(catalog.feed())
    assert_right(here(), catalog, tmp_path)
    assert here().check(catalog.feed()) == ()
