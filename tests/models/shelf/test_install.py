"""A fetch that is killed before any of its steps leaves a whole model, the old one or the new one, and the next fetch ends."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gawah.fingerprint import sha256_bytes
from gawah.models.shelf.install import building_of, exchange_folders, install, restore, tidy
from gawah.models.shelf.place import FileRecord, Manifest, faults_in, model_folder, read_manifest

KILLED_AT_EACH_STEP = """
import json, os, signal, sys
from pathlib import Path
from gawah.models.shelf.fetch import fetch
from gawah.models.shelf.known import KnownModel
from gawah.models.shelf.place import faults_in, model_folder, read_manifest

shelf, sources = Path(sys.argv[1]), [Path(path) for path in sys.argv[2:]]
model = KnownModel("small", "someone/small", "any", "", "mit", 10)
folder = model_folder(shelf, model.repository)
STEPS = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "open", "shutil.rmtree", "shutil.copyfile", "ctypes.dlsym"}

def fetched_until(step):
    \"\"\"In a child that is killed before its step of that number; whether it was.\"\"\"
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    left = step
    def hook(event, arguments):
        nonlocal left
        if event in STEPS and (event == "ctypes.dlsym" or str(shelf) in str(arguments[0])):
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(hook)
    fetch(model, shelf, source=sources[1], check=lambda _: None, progress=lambda *_: None)
    os._exit(0)

steps = 0
while True:
    fetch(model, shelf, source=sources[0], check=lambda _: None, progress=lambda *_: None)
    (folder / "model.safetensors").write_bytes(b"damaged")  # so that there is something to fetch
    before = read_manifest(folder)
    killed = fetched_until(steps)
    after = read_manifest(folder)
    whole = after is not None and [fault.file for fault in faults_in(folder, after)]
    print(json.dumps([killed, after is not None and after.origin, whole]))
    fetch(model, shelf, source=sources[1], check=lambda _: None, progress=lambda *_: None)
    mended = read_manifest(folder)
    assert mended is not None and not faults_in(folder, mended), steps
    (folder / "model.safetensors").write_bytes(b"damaged")
    if not killed:
        break
    steps += 1
"""
FILES = {"config.json": b"{}", "tokenizer.json": b"{}", "model.safetensors": b"weights"}


def write(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def manifest_of(files: dict[str, bytes]) -> Manifest:
    records = {name: FileRecord(sha256_bytes(data), len(data), pinned=False) for name, data in files.items()}
    return Manifest("someone/small", "here", "", records)


def test_a_kill_before_any_step_leaves_the_model_before_or_the_new_one(tmp_path: Path) -> None:
    one, other = write(tmp_path / "one", FILES), write(tmp_path / "other", FILES)
    done = subprocess.run(
        [sys.executable, "-c", KILLED_AT_EACH_STEP, tmp_path / "shelf", one, other],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    rounds = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rounds) > 15
    assert [killed for killed, _, _ in rounds] == [True] * (len(rounds) - 1) + [False]
    for _, origin, faulty in rounds:
        assert (origin, faulty) in ((str(one), ["model.safetensors"]), (str(other), [])), origin
    origins = [origin for _, origin, _ in rounds]
    assert origins == sorted(origins, key=[str(one), str(other)].index), "once there, the new one stays"
    assert sorted(path.name for path in (tmp_path / "shelf").iterdir()) == [".lock-someone--small", "someone--small"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model in its place, and another one that was gathered for it."""
    folder = model_folder(tmp_path, "someone/small")
    write(building_of(folder), {"config.json": b"old"})
    install(folder, manifest_of({"config.json": b"old"}))
    write(building_of(folder), {"config.json": b"new", "left.part": b"half"})
    return folder


def no_exchange(one: Path, other: Path) -> bool:
    assert one.is_dir()
    assert other.is_dir()
    return False


@pytest.mark.parametrize("exchange", [exchange_folders, no_exchange])
def test_the_new_one_takes_the_place_of_the_old_one_whole(folder: Path, exchange) -> None:
    install(folder, manifest_of({"config.json": b"new"}), exchange=exchange)
    manifest = read_manifest(folder)
    assert manifest is not None
    assert faults_in(folder, manifest) == []
    assert (folder / "config.json").read_bytes() == b"new"
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_what_stepped_aside_for_one_that_never_came_is_put_back(folder: Path) -> None:
    folder.rename(folder.with_name(f".replaced-{folder.name}"))
    restore(folder)
    assert (folder / "config.json").read_bytes() == b"old"
    restore(folder)
    tidy(folder)
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_folders_change_places_at_once_or_not_at_all(tmp_path: Path) -> None:
    one, other = write(tmp_path / "one", {"a": b"1"}), write(tmp_path / "other", {"b": b"2"})
    if not exchange_folders(one, other):
        pytest.skip("this kernel or file system cannot")
    assert ([path.name for path in one.iterdir()], [path.name for path in other.iterdir()]) == (["b"], ["a"])
    with pytest.raises(OSError, match="No such file"):
        exchange_folders(one, tmp_path / "nothing")
