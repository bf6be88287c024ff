"""kill -9 in the middle of an ingest, a full disk, and readers beside the writer: nothing acknowledged is lost."""

import json
import os
import random
import subprocess
import sys

import pytest
from bench.kill import fingerprint, ingest_command, trial

DOCUMENTS = (
    "welcome.md",
    "organisation/roster.md",
    "network/error-codes.md",
    "instruments/inventory.csv",
    "guides/volunteer-hi.md",
)


@pytest.fixture(scope="module")
def corpus(handbook, tmp_path_factory):
    root = tmp_path_factory.mktemp("corpus")
    for name in DOCUMENTS:
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes((handbook / name).read_bytes())
    return root


@pytest.fixture(scope="module")
def undisturbed(corpus, tmp_path_factory):
    store = tmp_path_factory.mktemp("undisturbed") / "store"
    subprocess.run(ingest_command(corpus, store), check=True, capture_output=True)
    return fingerprint(store)


@pytest.mark.parametrize("seed", range(3))
def test_a_killed_ingest_loses_nothing_and_ends_as_if_undisturbed(corpus, undisturbed, seed):
    moments = random.Random(seed)
    delays_s = [moments.uniform(0.3, 3.0) for _ in range(seed + 1)]
    fault, _, _, n_looks = trial(corpus, delays_s, undisturbed)
    assert fault == ""
    assert n_looks > 0


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 12 MiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", disk], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("mounting a small file system needs root")
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


def test_a_full_disk_is_one_line_and_with_room_made_it_ends_as_if_undisturbed(small_disk, corpus, undisturbed):
    store = small_disk / "store"
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(12 * 1024 * 1024 - 400_000))
    full = subprocess.run(ingest_command(corpus, store), check=False, capture_output=True, text=True)
    assert full.returncode == 1
    assert full.stderr.count("\n") == 1, full.stderr
    assert "no room left" in full.stderr
    ballast.unlink()
    again = subprocess.run(ingest_command(corpus, store), check=False, capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    assert fingerprint(store) == undisturbed
    listed = subprocess.run(
        [sys.executable, "-m", "gawah", "ls", "--json"],
        check=True, capture_output=True, text=True, env={**os.environ, "GAWAH_STORE": str(store)},
    ).stdout  # fmt: skip
    assert {d["name"]: d["state"] for d in json.loads(listed)["documents"]} == dict.fromkeys(DOCUMENTS, "ready")
