"""Generations under any history of commits, removals, migrations, switches and drops, against a model in plain dictionaries."""

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gawah.errors import StampMismatchError, UsageError
from gawah.store.catalog import SqliteCatalog
from gawah.testing.catalog import MODEL, OTHER, commit, make_chunks, make_document, make_embedding, make_stamp
from gawah.types import DocumentCounters

NAMES = ("a", "b", "c")
MODELS = {MODEL.name: MODEL, OTHER.name: OTHER, "third": replace(MODEL, name="third", sha256="d" * 64)}

STEP = st.one_of(
    st.tuples(st.just("commit"), st.sampled_from(NAMES), st.sampled_from(("One.\n", "One.\nTwo.\n", ""))),
    st.tuples(st.just("remove"), st.sampled_from(NAMES), st.none()),
    st.tuples(st.just("begin"), st.sampled_from(sorted(MODELS)), st.none()),
    st.tuples(st.just("bring"), st.sampled_from(sorted(MODELS)), st.integers(1, 3)),
    st.tuples(st.just("switch"), st.sampled_from(sorted(MODELS)), st.none()),
    st.tuples(st.just("drop"), st.sampled_from(sorted(MODELS)), st.none()),
)


class Oracle:
    """What each model's generation holds of the documents, by name, and which is active."""

    def __init__(self):
        self.texts = {}
        self.held = {MODEL.name: set()}
        self.active = MODEL.name

    def pending(self, model):
        return set() if model == self.active else set(self.texts) - self.held[model]


def chunks_of(texts):
    return sorted(item.chunk.text for name, text in texts.items() for item in make_chunks(make_document(name, text)))


def check(catalog, oracle):
    numbers = {one.model.name: one for one in catalog.generations() if one.dropped_at is None}
    assert set(numbers) == set(oracle.held)
    assert [one.model.name for one in numbers.values() if one.state == "active"] == [oracle.active]
    for name, one in numbers.items():
        held = set(oracle.texts) if name == oracle.active else oracle.held[name]
        with catalog.snapshot(one.id) as snapshot:
            rows = [row.text for row in snapshot.rows(0)]
            holding = snapshot.holding(one.id)
            assert sorted(rows) == chunks_of({key: oracle.texts[key] for key in held})
            assert {record.name for record in snapshot.pending(one.id)} == oracle.pending(name)
            assert (holding.n_documents, holding.n_chunks) == (len(held), len(rows))
            assert holding.n_pending == len(oracle.pending(name))
    with catalog.snapshot() as snapshot:
        for record in snapshot.documents():
            assert record.stamp.model.name == oracle.active
            assert record.counters.n_chunks == snapshot.n_chunks_by_document().get(record.no, 0)


def step(catalog, oracle, kind, name, value):
    if kind == "commit":
        document = make_document(name, value)
        catalog.enqueue([("default", name, document.source.uri)])
        commit(catalog, catalog.claim("tester"), document, stamp=make_stamp(MODELS[oracle.active]))
        oracle.texts[name] = value
        for held in oracle.held.values():
            held.discard(name)
    elif kind == "remove" and name in oracle.texts:
        with catalog.snapshot() as snapshot:
            number = snapshot.find_document(name).no
        catalog.delete_documents([number])
        del oracle.texts[name]
        for held in oracle.held.values():
            held.discard(name)
    elif kind == "begin":
        try:
            catalog.begin_generation(MODELS[name], f"source of {name}")
        except UsageError:
            assert name not in oracle.held
        else:
            oracle.held.setdefault(name, set())
    elif kind in ("bring", "switch", "drop") and name in oracle.held:
        number = next(one.id for one in catalog.generations() if one.model.name == name and one.dropped_at is None)
        {"bring": bring, "switch": switch, "drop": drop}[kind](catalog, oracle, name, number, value)


def bring(catalog, oracle, name, number, most):
    with catalog.snapshot() as snapshot:
        pending = [(record, snapshot.load_document(record.no)) for record in snapshot.pending(number)[:most]]
    for record, document in pending:
        chunks = make_chunks(document)
        catalog.put_embeddings(MODELS[name], {item.text_sha256: make_embedding(item.chunk.text) for item in chunks})
        counters = DocumentCounters(len(document.text), len(chunks), sum(item.chunk.n_tokens for item in chunks), 0)
        assert catalog.rechunk_document(number, record, chunks, make_stamp(MODELS[name]), counters)
        oracle.held[name].add(record.name)


def switch(catalog, oracle, name, number, _):
    n_pending = len(oracle.pending(name))
    assert catalog.switch_generation(number) == n_pending
    if not n_pending and name != oracle.active:
        oracle.held[oracle.active] = set(oracle.texts)
        oracle.active = name


def drop(catalog, oracle, name, number, _):
    try:
        catalog.drop_generation(number)
    except UsageError:
        assert name == oracle.active
    else:
        del oracle.held[name]


@settings(max_examples=25)
@given(st.lists(STEP, max_size=25))
def test_after_any_history_each_generation_holds_the_newest_versions_of_what_it_is_noted_to_hold(steps):
    with tempfile.TemporaryDirectory() as folder:
        catalog = SqliteCatalog(Path(folder) / "store", create=True)
        try:
            catalog.generation_for(MODEL, "the first")
            oracle = Oracle()
            for kind, name, value in steps:
                step(catalog, oracle, kind, name, value)
                check(catalog, oracle)
            for model in MODELS.values():
                if model.name != oracle.active:
                    refused(catalog, model)
            assert catalog.integrity_errors() == []
        finally:
            catalog.close()


def refused(catalog, model):
    """Nobody writes under a model that is not the active generation's."""
    with pytest.raises(StampMismatchError, match="set model = "):
        catalog.generation_for(model)
