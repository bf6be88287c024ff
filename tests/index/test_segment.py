"""A segment is whole under its name, or it is not there."""

from __future__ import annotations

import errno
import json
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from gawah.errors import StoreCorruptError, StoreError, StoreFullError
from gawah.fingerprint import sha256_file
from gawah.index.build import build_part, whole
from gawah.index.folders import storage_errors
from gawah.index.part import Part
from gawah.index.segment import check_segment, open_segment, write_segment
from gawah.ports import IndexRow
from gawah.testing.embedder import FakeEmbedder
from gawah.testing.index import analyze_plain


def portion_of(*texts: str):
    rows = [IndexRow(5 + at, f"c{at}", at, text, FakeEmbedder().embed([text])[0]) for at, text in enumerate(texts)]
    return whole(build_part(rows, analyze_plain))


@pytest.mark.parametrize("texts", [("red fox", "hen"), ("", "…"), ("",)])
def test_what_is_written_is_read_back_even_if_there_is_no_word_in_it(texts: tuple[str, ...], tmp_path: Path) -> None:
    portion = portion_of(*texts)
    record = write_segment(tmp_path, [portion], 3, "1")
    assert (record.generation, record.first_seq, record.last_seq, record.n_chunks) == (3, 5, 4 + len(texts), len(texts))
    part = open_segment(tmp_path, record, "1")
    for field in fields(Part):
        written, read = getattr(portion.part, field.name), getattr(part, field.name)
        assert written.dtype == read.dtype, field.name
        assert written.shape == read.shape, field.name
        assert written.tobytes() == read.tobytes(), field.name
        if read.size:
            assert not read.flags.writeable
    assert check_segment(tmp_path, record) == ()


def test_the_manifest_lists_every_file_with_its_size_and_hash(tmp_path: Path) -> None:
    record = write_segment(tmp_path, [portion_of("red fox")], 1, "1")
    folder = tmp_path / record.name
    assert sha256_file(folder / "manifest.json") == record.manifest_sha256
    files = json.loads((folder / "manifest.json").read_text())["files"]
    assert {path.name for path in folder.iterdir()} == {*files, "manifest.json"}
    for name, entry in files.items():
        assert entry["bytes"] == (folder / name).stat().st_size
        assert entry["sha256"] == sha256_file(folder / name)


def test_writing_the_same_again_changes_nothing_and_mends_what_is_damaged(tmp_path: Path) -> None:
    portion = portion_of("red fox", "hen")
    record = write_segment(tmp_path, [portion], 1, "1")
    assert write_segment(tmp_path, [portion], 1, "1") == record
    (tmp_path / record.name / "vectors.npy").write_bytes(b"")
    assert check_segment(tmp_path, record)
    assert write_segment(tmp_path, [portion], 1, "1") == record
    assert check_segment(tmp_path, record) == ()
    assert [path.name for path in tmp_path.iterdir()] == [record.name]


def test_what_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    occupied = tmp_path / "file"
    occupied.write_text("in the way")
    with pytest.raises(StoreError, match="cannot be written"):
        write_segment(occupied, [portion_of("red")], 1, "1")
    one, other = portion_of("red"), portion_of("fox")
    broken = replace(other, part=replace(other.part, vectors=other.part.vectors[:, :8]))
    with pytest.raises(StoreCorruptError):
        write_segment(tmp_path / "segments", [one, broken], 1, "1")
    assert list((tmp_path / "segments").iterdir()) == []


def test_a_manifest_that_was_not_registered_is_refused(tmp_path: Path) -> None:
    record = write_segment(tmp_path, [portion_of("red")], 1, "1")
    with pytest.raises(StoreCorruptError, match="not the one that was registered"):
        open_segment(tmp_path, replace(record, manifest_sha256="0" * 64), "1")
    with pytest.raises(StoreCorruptError, match="analyzer"):
        open_segment(tmp_path, record, "2")
    assert "not the one" in check_segment(tmp_path, replace(record, manifest_sha256="0" * 64))[0]


def test_an_array_of_another_type_in_the_same_bytes_is_refused(tmp_path: Path) -> None:
    record = write_segment(tmp_path, [portion_of("red")], 1, "1")
    path = tmp_path / record.name / "seqs.npy"
    path.write_bytes(path.read_bytes().replace(b"<i8", b"<u8"))
    with pytest.raises(StoreCorruptError, match=r"seqs\.npy"):
        open_segment(tmp_path, record, "1")
    assert np.load(path).dtype == np.uint64


@pytest.mark.parametrize(
    ("number", "expected"), [(errno.ENOSPC, StoreFullError), (errno.EDQUOT, StoreFullError), (errno.EIO, StoreError)]
)
def test_a_full_disk_is_told_from_other_failures(number: int, expected: type[StoreError], tmp_path: Path) -> None:
    with pytest.raises(StoreError) as caught, storage_errors(tmp_path):
        raise OSError(number, "as the system says")
    assert type(caught.value) is expected
    assert str(tmp_path) in str(caught.value)
