"""A small set in a folder, and a workshop with the fake encoder."""

from __future__ import annotations

import json
from functools import cache

import pytest
from tests.eval.made import EXAMPLES

from gawah.config import load_settings
from gawah.eval import load_collection
from gawah.evaluate import Workshop, evaluate, workshop
from gawah.testing.embedder import FakeEmbedder

CORPUS = {
    "fees.md": "# Fees\n\nThe membership fee is 40 EUR a month, paid on the first Monday.\n\n"
    "## Late\n\nWho pays late pays 2 EUR more.\n",
    "boats.md": "# Boats\n\nThe blue boat leaves the northern pier at seven in the morning.\n\nIt returns at noon.\n",
}
QUERIES = [
    {"id": "fee", "query": "How much is the membership fee?", "needle": "The membership fee is 40 EUR a month",
     "document": "fees.md", "phrasing": "own", "kind": "prose"},
    {"id": "boat", "query": "when does the blue boat leave", "needle": "leaves the northern pier at seven",
     "document": "boats.md", "phrasing": "ticket", "kind": "prose"},
]  # fmt: skip
UNANSWERABLE = [
    {"id": "u1", "query": "How much is the fee for a guest?", "kind": "near"},
    {"id": "u2", "query": "offside rule football", "kind": "far"},
]


@pytest.fixture
def write_set(tmp_path):
    """`write_set(queries=[...])`: the folder of a set; lines that are strings are written as they are."""

    def write(name="little", *, corpus=CORPUS, queries=QUERIES, unanswerable=UNANSWERABLE):
        root = tmp_path / name
        (root / "corpus").mkdir(parents=True, exist_ok=True)
        for path, text in corpus.items():
            (root / "corpus" / path).parent.mkdir(parents=True, exist_ok=True)
            (root / "corpus" / path).write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
        for file, rows in (("queries.jsonl", queries), ("unanswerable.jsonl", unanswerable)):
            lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
            (root / file).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return root

    return write


@pytest.fixture
def make_shop(tmp_path):
    """Workshops over one work folder of this test."""

    def make(*, embedder=None, **options):
        options = {"store": tmp_path / "unused", "cache": tmp_path / "cache", "gate_threshold": 2.0, **options}
        settings = load_settings(environment={}, options=options).settings
        return Workshop(settings, tmp_path / "work", embedder or FakeEmbedder())

    return make


@pytest.fixture(scope="session")
def examples_run(tmp_path_factory):
    """`examples_run(gate)`: the example set, measured with the packaged model; the index is built once for all tests."""
    folder = tmp_path_factory.mktemp("examples")

    @cache
    def by(gate):
        options = {"store": folder / "store", "cache": folder / "cache", "gate": gate}
        shop = workshop(load_settings(environment={}, options=options).settings)
        return evaluate(shop, load_collection(EXAMPLES), cite=False)

    return by
