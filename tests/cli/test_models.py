"""`gawah models` as a process, against a hub on the loopback address."""

from __future__ import annotations

import json

import pytest
from tests.models.shelf.loopback_hub import COMMIT, Hub, running
from tests.models.small_checkpoint import write_cross_encoder

NAME = "ms-marco-MiniLM-L-6-v2"
REPOSITORY = f"cross-encoder/{NAME}"


@pytest.fixture
def offline(tmp_path):
    """An environment of its own: an empty cache, an empty hub client's cache, and a hub that nobody answers for."""
    return {
        "XDG_CACHE_HOME": str(tmp_path / "own"),
        "HF_HOME": str(tmp_path / "hf"),
        "HF_ENDPOINT": "http://127.0.0.1:9",
    }


@pytest.fixture
def checkpoint(tmp_path):
    write_cross_encoder(tmp_path / "stick")
    (tmp_path / "stick" / "README.md").write_text("---\nlicense: apache-2.0\n---\n")
    return tmp_path / "stick"


def files_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def rows_of(done):
    return {row["name"]: row for row in json.loads(done.stdout)}


def test_a_model_is_listed_fetched_used_verified_and_mended(gawah, offline, checkpoint) -> None:
    listed = rows_of(gawah("models", "ls", "--json", "--set", "rerank=cross-encoder", env=offline))
    assert (listed[NAME]["state"], listed[NAME]["used_by"], listed[NAME]["licence"]) == (
        "missing",
        ["rerank"],
        "apache-2.0",
    )
    assert listed[NAME]["get"] == f"gawah models fetch {NAME}"
    assert listed["all-MiniLM-L6-v2"]["used_by"] == ["model"]

    with running(Hub(files_of(checkpoint), repository=REPOSITORY)) as address:
        done = gawah("models", "fetch", NAME, env={**offline, "HF_ENDPOINT": address})
    assert f"{REPOSITORY} is there now: 4 files".encode() in done.stdout
    assert b"trusted on first use, their hashes are recorded: README.md, config.json" in done.stderr
    assert b"model.safetensors" in done.stderr

    listed = rows_of(gawah("models", "ls", "--json", env=offline))
    assert (listed[NAME]["state"], listed[NAME]["revision"], listed[NAME]["size_is_known"]) == ("fetched", COMMIT, True)
    assert (
        b"ok       ms-marco-MiniLM-L-6-v2: 4 files as recorded, 0 of them pinned"
        in gawah("models", "verify", NAME, env=offline).stdout
    )
    assert b"is there already, whole" in gawah("models", "fetch", NAME, env=offline).stdout

    weights = next((gawah.directory / "own").rglob("models/*/model.safetensors"))
    written = weights.read_bytes()
    weights.write_bytes(written[:-1] + bytes([written[-1] ^ 1]))
    changed = gawah("models", "verify", NAME, env=offline, code=6)
    assert b"CHANGED" in changed.stdout
    assert b"model.safetensors hashes to" in changed.stdout
    assert f"mend it: gawah models fetch {NAME}".encode() in changed.stderr
    gawah("models", "fetch", NAME, "--from", checkpoint, env=offline)
    verdicts = {row["name"]: row for row in json.loads(gawah("models", "verify", "--json", env=offline).stdout)}
    assert (verdicts[NAME]["ok"], verdicts[NAME]["held"]) == (True, 4)


def test_without_the_model_one_line_names_the_command_and_the_answer_names_who_reranked(gawah, offline, filled) -> None:
    use = ("--store", filled.directory / "store", "--set", "rerank=cross-encoder", "--set", "gate=reference")
    asked = gawah("ask", "When does the blue boat leave?", *use, "--json", env=offline)
    provenance = json.loads(asked.stdout)["provenance"]
    assert provenance["reranker"] == "late-interaction/2"
    line = f"reranked by late interaction, not by a cross-encoder: the model {REPOSITORY} is not on this machine; `gawah models fetch {REPOSITORY}` fetches it"
    assert [line in said for said in provenance["degraded"]] == [True]
    named = gawah("ask", "x", *use[:2], "--set", f"rerank=cross-encoder:{NAME}", env=offline, code=5)
    assert f"gawah models fetch {NAME}".encode() in named.stderr
    assert named.stdout == b""


def test_with_the_model_the_answer_names_it_and_the_reference_gate_decides(gawah, offline, filled, checkpoint) -> None:
    use = ("--store", filled.directory / "store", "--set", f"rerank=cross-encoder:{checkpoint}")
    asked = gawah("ask", "When does the blue boat leave, and when does the red one? " * 3, *use, "--json", env=offline)
    body = json.loads(asked.stdout)
    assert body["provenance"]["reranker"].startswith("cross-encoder:stick@")
    assert body["gate"]["gate"] == "reference"
    assert any("no calibration holds for this reranker" in note for note in body["provenance"]["notes"])
    assert any("were reranked by a part" in note for note in body["provenance"]["notes"])  # its window is 64 pieces
    explained = gawah("ask", "When does the blue boat leave?", *use, "--explain", env=offline)
    assert f"reranked by {body['provenance']['reranker']}".encode() in explained.stderr
    listed = json.loads(gawah("models", "ls", *use[2:], "--json", env=offline).stdout)
    assert [(row["state"], row["used_by"]) for row in listed if row["folder"] == str(checkpoint)] == [
        ("folder", ["rerank"])
    ]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("fetch", "nobody"), 2, "there is no model 'nobody'; `gawah models ls` lists those known"),
        (("fetch", "../../etc"), 2, "there is no model"),
        (("fetch", NAME), 7, "cannot be read"),
        (("fetch", NAME, "--from", "nowhere"), 1, "nowhere has no file config.json"),
        (("fetch", NAME, "--from", ""), 2, "a path is empty"),
        (("verify", NAME), 1, f"no model '{NAME}' is here"),
        (("verify", b"\xff\x1b[31m"), 1, "is here; `gawah models ls` lists them"),
    ],
    ids=str,
)
def test_what_is_wrong_is_one_line(gawah, offline, words, code, said) -> None:
    done = gawah("models", *words, env=offline, code=code)
    lines = done.stderr.decode().strip().splitlines()
    assert said in lines[-1]
    assert len(lines) == 1 or code == 2
    assert b"\x1b" not in done.stderr
    assert done.stdout == b""
