"""A remembered hash is the file's hash: every change of the file is noticed."""

from __future__ import annotations

import hashlib
import json
import os
import time
from pathlib import Path

import pytest

from gawah.errors import ModelError
from gawah.models.filehash import remembered_sha256, write_atomically

LATER_NS = time.time_ns() + 3_600_000_000_000  # a clock that is far from every change the test makes


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    path = tmp_path / "weights"
    path.write_bytes(b"weights" * 1000)
    return path


def test_a_settled_file_is_read_once(weights: Path, tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    assert remembered_sha256(weights, memory, now_ns=LATER_NS) == sha256(weights)
    (note,) = memory.iterdir()
    note.write_text(note.read_text().replace(sha256(weights), "f" * 64))
    assert remembered_sha256(weights, memory, now_ns=LATER_NS) == "f" * 64  # from the note: the file was not read


def test_a_file_that_has_just_changed_is_not_trusted_yet(weights: Path, tmp_path: Path) -> None:
    assert remembered_sha256(weights, tmp_path / "memory") == sha256(weights)
    assert not (tmp_path / "memory").exists()


def test_an_edit_in_place_of_the_same_length_and_with_the_old_time_is_noticed(weights: Path, tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    before = weights.stat()
    first = remembered_sha256(weights, memory, now_ns=LATER_NS)
    with weights.open("r+b") as stream:
        stream.write(b"WEIGHTS")
    os.utime(weights, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert weights.stat().st_size == before.st_size
    second = remembered_sha256(weights, memory, now_ns=LATER_NS)
    assert second == sha256(weights) != first


def test_another_file_under_the_same_path_is_noticed(weights: Path, tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    first = remembered_sha256(weights, memory, now_ns=LATER_NS)
    other = tmp_path / "other"
    other.write_bytes(b"WEIGHTS" * 1000)
    other.replace(weights)
    assert remembered_sha256(weights, memory, now_ns=LATER_NS) == sha256(weights) != first


def test_a_link_that_points_elsewhere_now_is_noticed(weights: Path, tmp_path: Path) -> None:
    memory, link, other = tmp_path / "memory", tmp_path / "link", tmp_path / "other"
    other.write_bytes(b"others")
    link.symlink_to(weights)
    assert remembered_sha256(link, memory, now_ns=LATER_NS) == sha256(weights)
    link.unlink()
    link.symlink_to(other)
    assert remembered_sha256(link, memory, now_ns=LATER_NS) == sha256(other)


@pytest.mark.parametrize("damage", ["", "{", "[]", "null", '{"sha256": 5}', '{"sha256": "abc"}', "\x00" * 50])
def test_a_damaged_note_is_written_anew(weights: Path, tmp_path: Path, damage: str) -> None:
    memory = tmp_path / "memory"
    remembered_sha256(weights, memory, now_ns=LATER_NS)
    (note,) = memory.iterdir()
    note.write_text(damage)
    assert remembered_sha256(weights, memory, now_ns=LATER_NS) == sha256(weights)
    assert json.loads(note.read_text())["sha256"] == sha256(weights)


def test_a_missing_file_is_a_model_error_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot read") as caught:
        remembered_sha256(tmp_path / "nothing", tmp_path / "memory")
    assert "\n" not in str(caught.value)


def test_a_memory_that_cannot_be_written_is_a_model_error_that_says_what_to_do(weights: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where the folder should be")
    with pytest.raises(ModelError, match="another cache folder"):
        remembered_sha256(weights, blocked / "memory", now_ns=LATER_NS)


def test_writing_leaves_nothing_else_behind(tmp_path: Path) -> None:
    write_atomically(tmp_path / "folder" / "note", b"one")
    write_atomically(tmp_path / "folder" / "note", b"two")
    assert [(path.name, path.read_bytes()) for path in (tmp_path / "folder").iterdir()] == [("note", b"two")]
