"""A graph is built once, whole, by one process, and again when it is damaged."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.models.small_checkpoint import write_checkpoint

from gawah.errors import ModelError
from gawah.models.checkpoint import find_checkpoint
from gawah.models.encoder import load_encoder
from gawah.models.graph_cache import cached_graph
from gawah.models.graph_names import GRAPH_FILE, WEIGHTS_FILE

SOURCE = Path(__file__).resolve().parents[2] / "src"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    write_checkpoint(tmp_path / "model")
    return tmp_path / "model"


def build(model: Path, cache: Path) -> Path:
    return cached_graph(find_checkpoint(str(model), cache_directory=cache), cache)


def vector(model: Path, cache: Path) -> bytes:
    return load_encoder(str(model), cache_directory=cache).embed(["backup"])[0].vector.tobytes()


def test_a_graph_is_built_once(model: Path, tmp_path: Path) -> None:
    first = build(model, tmp_path / "cache")
    inode = first.stat().st_ino
    assert build(model, tmp_path / "cache") == first
    assert first.stat().st_ino == inode


def test_two_checkpoints_have_two_graphs(model: Path, tmp_path: Path) -> None:
    first = build(model, tmp_path / "cache")
    write_checkpoint(model, pooling="cls")
    second = build(model, tmp_path / "cache")
    write_checkpoint(model, seed=9)
    third = build(model, tmp_path / "cache")
    assert len({first, second, third}) == 3


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def remove(path: Path) -> None:
    path.unlink()


def other_json(path: Path) -> None:
    path.write_text(json.dumps([1, 2]))


@pytest.mark.parametrize("name", [GRAPH_FILE, WEIGHTS_FILE, "manifest.json"])
@pytest.mark.parametrize("damage", [flip, cut, empty, remove, other_json])
def test_a_damaged_graph_is_built_again(model: Path, tmp_path: Path, name: str, damage: Callable[[Path], None]) -> None:
    cache = tmp_path / "cache"
    graph = build(model, cache)
    whole = {path.name: path.read_bytes() for path in graph.parent.iterdir()}
    expected = vector(model, cache)
    damage(graph.parent / name)
    assert vector(model, cache) == expected
    assert {path.name: path.read_bytes() for path in graph.parent.iterdir()} == whole


def test_a_file_in_the_graphs_place_is_replaced(model: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    graph = build(model, cache)
    for path in graph.parent.iterdir():
        path.unlink()
    graph.parent.rmdir()
    graph.parent.write_text("not a folder")
    assert build(model, cache).is_file()


def test_what_a_killed_builder_left_is_cleared_by_the_next(model: Path, tmp_path: Path) -> None:
    left = tmp_path / "cache" / ".building-left"
    left.mkdir(parents=True)
    (left / WEIGHTS_FILE).write_bytes(b"half")
    graph = build(model, tmp_path / "cache")
    assert not left.exists()
    assert {path.name for path in graph.parent.iterdir()} == {GRAPH_FILE, WEIGHTS_FILE, "manifest.json"}


def test_a_failed_build_leaves_nothing(model: Path, tmp_path: Path) -> None:
    weights = model / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-8])
    with pytest.raises(ModelError):
        build(model, tmp_path / "cache")
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["lock"]


def test_weights_replaced_between_hashing_and_building_are_not_filed_under_the_old_hash(
    model: Path, tmp_path: Path
) -> None:
    encoder = load_encoder(str(model), cache_directory=tmp_path / "cache")
    write_checkpoint(model, seed=5)
    with pytest.raises(ModelError, match="replaced after it was hashed"):
        encoder.embed(["backup"])
    assert [path.name for path in (tmp_path / "cache").iterdir() if path.is_dir() and path.name != "hashes"] == []


def test_processes_that_start_together_build_one_graph(model: Path, tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; from gawah.models.encoder import load_encoder\n"
        "encoder = load_encoder(sys.argv[1], cache_directory=pathlib.Path(sys.argv[2]))\n"
        "print(encoder.embed(['backup'])[0].vector.tobytes().hex())"
    )
    command = [sys.executable, "-c", code, str(model), str(tmp_path / "cache")]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(4)]
    outputs = [process.communicate(timeout=60)[0] for process in started]
    assert [process.returncode for process in started] == [0, 0, 0, 0]
    assert set(outputs) == {vector(model, tmp_path / "cache").hex() + "\n"}
    folders = [path for path in (tmp_path / "cache").iterdir() if path.is_dir() and path.name != "hashes"]
    assert len(folders) == 1


def test_a_cache_that_cannot_be_written_is_a_model_error_that_says_what_to_do(model: Path, tmp_path: Path) -> None:
    (tmp_path / "blocked").write_text("a file where the folder should be")
    with pytest.raises(ModelError, match="another cache folder") as caught:
        build(model, tmp_path / "blocked" / "cache")
    assert "\n" not in str(caught.value)
