"""What every catalog must hold to, as a test class that each implementation inherits; and documents to try it with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gawah.errors import LeaseLostError, StampMismatchError, UsageError
from gawah.fingerprint import chunk_id, document_id, sha256_text
from gawah.fragment import locate, locate_each
from gawah.ports import Catalog, Embedding, SegmentRecord, TokenCodes
from gawah.types import (
    Advance,
    Block,
    BlockKind,
    Box,
    CharRange,
    Chunk,
    Conservation,
    Document,
    DocumentCounters,
    DocumentRecord,
    DocumentState,
    DroppedGeneration,
    Failure,
    Filter,
    Holding,
    IndexedChunk,
    Job,
    LogHead,
    ModelStamp,
    PageBoxes,
    Place,
    Removal,
    SheetRange,
    SourceFile,
    Span,
    Stamp,
)

MODEL = ModelStamp("fake", "f" * 64, 64, 256, "sign1-fp16/1")
OTHER = replace(MODEL, name="fake of the same dimension", sha256="e" * 64)


def make_document(name: str, text: str, *, collection: str = "default") -> Document:
    """A document of one paragraph a line."""
    blocks, start = [], 0
    for line in text.splitlines(keepends=True):
        if line.strip():
            blocks.append(Block(BlockKind.PARAGRAPH, Span(start, start + len(line.rstrip()))))
        start += len(line)
    source = SourceFile(collection, name, f"file:///{name}", "text/plain", len(text.encode()), sha256_text(text))
    return Document(
        id=document_id(collection, name),
        source=source,
        title=name,
        language="und-Latn",
        text=text,
        blocks=tuple(blocks),
        places=(),
        extractor="plain/1",
        conservation=Conservation(len(text), len(text)),
    )


def make_chunks(document: Document) -> list[IndexedChunk]:
    """A chunk a block."""
    chunks = []
    for ordinal, block in enumerate(document.blocks):
        content = block.span.slice(document.text)
        text = f"[{document.title}]\n{content}"
        key = chunk_id(document.id, sha256_text(document.text), "lines/1", block.span.start, block.span.end)
        chunk = Chunk(key, document.id, ordinal, "", content, text, block.span, len(text.split()))
        locator = CharRange(block.span.start, block.span.end, 1, 1)
        chunks.append(IndexedChunk(chunk, locator, sha256_text(text)))
    return chunks


def make_embedding(text: str, dimensions: int = 64) -> Embedding:
    """A vector that depends on the text alone."""
    generator = np.random.default_rng(int(sha256_text(text)[:12], 16))
    vector = generator.standard_normal(dimensions)
    tokens = generator.standard_normal((3, dimensions))
    return Embedding(
        (vector / np.linalg.norm(vector)).astype(np.float32),
        TokenCodes(np.packbits(tokens > 0, axis=1), np.full(3, 0.1, np.float16)),
    )


def make_stamp(model: ModelStamp = MODEL) -> Stamp:
    return Stamp(model, "canonical/1 analyzer/2", "lines/1", "plain/1")


def commit(
    catalog: Catalog,
    job: Job,
    document: Document,
    chunks: Sequence[IndexedChunk] | None = None,
    *,
    stamp: Stamp | None = None,
) -> None:
    """Puts a document's embeddings and the document."""
    chunks = make_chunks(document) if chunks is None else chunks
    stamp = stamp or make_stamp()
    catalog.put_embeddings(stamp.model, {item.text_sha256: make_embedding(item.chunk.text) for item in chunks})
    counters = DocumentCounters(len(document.text), len(chunks), sum(item.chunk.n_tokens for item in chunks), 0)
    catalog.commit_document(job, document, chunks, stamp, counters)


def add(catalog: Catalog, name: str, text: str, *, collection: str = "default") -> Document:
    """Takes a document the whole way to `ready`."""
    document = make_document(name, text, collection=collection)
    catalog.enqueue([(collection, name, document.source.uri)])
    job = catalog.claim("tester")
    assert job is not None
    commit(catalog, job, document)
    return document


class CatalogContract:
    """Inherit, and give a fixture `catalog` (empty) and `clock` (an object whose `now` is the time)."""

    def test_a_committed_document_is_there_whole(self, catalog: Any) -> None:
        document = add(catalog, "a.txt", "First line.\n\nSecond line.\n")
        with catalog.snapshot() as snapshot:
            record = snapshot.find_document("a.txt")
            assert record.state is DocumentState.READY
            assert record.counters.n_chunks == 2 == snapshot.n_chunks_by_document()[record.no]
            assert record.stamp == make_stamp()
            assert snapshot.load_document(record.no) == document
            for chunk in snapshot.chunks_of(record.no):
                assert chunk.span.slice(document.text) == chunk.content
            rows = list(snapshot.rows(0))
            assert [row.text for row in rows] == [item.chunk.text for item in make_chunks(document)]
            for row in rows:
                assert np.array_equal(row.embedding.vector, make_embedding(row.text).vector)
                assert np.array_equal(row.embedding.tokens.signs, make_embedding(row.text).tokens.signs)

    def test_the_map_to_the_original_and_what_was_left_out_come_back(self, catalog: Any) -> None:
        box = Box(1, 10.0, 20.0, 30.0, 40.0)
        page = PageBoxes(1, 1, "iv", (box,))
        document = replace(
            make_document("a.pdf", "abc def\n"),
            places=(Place(Span(0, 3), page, Advance("left", (90, -1, 110))), Place(Span(4, 7), CharRange(4, 7))),
            removed=(Removal("running head", "h", page), Removal("nav", "n")),
            quality={"pages": 1, "pages_unread": 0},
        )
        catalog.enqueue([("default", "a.pdf", document.source.uri)])
        job = catalog.claim("tester")
        assert job is not None
        commit(catalog, job, document)
        with catalog.snapshot() as snapshot:
            assert snapshot.load_document(snapshot.find_document("a.pdf").no) == document

    def test_spans_are_located_as_in_the_document_itself(self, catalog: Any) -> None:
        document = replace(
            make_document("a.xlsx", "abc | def\nghi\n"),
            places=(
                Place(Span(0, 3), SheetRange("S", "A1")),
                Place(Span(6, 9), SheetRange("S", "B1")),
                Place(Span(10, 13), SheetRange("S", "A2")),
            ),
        )
        catalog.enqueue([("default", "a.xlsx", document.source.uri)])
        job = catalog.claim("tester")
        assert job is not None
        commit(catalog, job, document)
        plain = add(catalog, "b.txt", "one\ntwo\nthree\n")
        with catalog.snapshot() as snapshot:
            for known in (document, plain):
                sha256 = sha256_text(known.text)
                spans = [Span(a, b) for a in range(len(known.text)) for b in range(a, len(known.text))]
                for span in spans:
                    assert snapshot.locate(known.id, sha256, [span]) == [locate(known.places, known.text, span)], span
                assert snapshot.locate(known.id, sha256, spans) == locate_each(known.places, known.text, spans)
            assert snapshot.locate(document.id, sha256_text("another text"), [Span(0, 1)]) is None
            assert snapshot.locate("nobody", sha256_text(document.text), [Span(0, 1)]) is None

    def test_nothing_of_a_document_is_seen_before_its_commit(self, catalog: Any) -> None:
        catalog.enqueue([("default", "a.txt", "file:///a.txt")])
        job = catalog.claim("tester")
        catalog.advance(job, DocumentState.EMBEDDING)
        document = make_document("a.txt", "One.\n")
        catalog.put_embeddings(MODEL, {item.text_sha256: make_embedding("One") for item in make_chunks(document)})
        with catalog.snapshot() as snapshot:
            assert list(snapshot.rows(0)) == []
            assert snapshot.find_document("a.txt").state is DocumentState.EMBEDDING

    def test_a_snapshot_does_not_move(self, catalog: Any) -> None:
        add(catalog, "a.txt", "One.\n")
        import threading

        with catalog.snapshot() as snapshot:
            before = (snapshot.epoch, len(list(snapshot.rows(0))))
            writer = threading.Thread(target=add, args=(catalog, "b.txt", "Two.\nThree.\n"))
            writer.start()
            writer.join()
            assert (snapshot.epoch, len(list(snapshot.rows(0)))) == before
        with catalog.snapshot() as snapshot:
            assert snapshot.epoch > before[0]
            assert len(list(snapshot.rows(0))) == 3

    def test_a_new_version_replaces_the_old_one_and_tells_the_index(self, catalog: Any) -> None:
        add(catalog, "a.txt", "Old.\nSame.\n")
        with catalog.snapshot() as snapshot:
            old = [row.seq for row in snapshot.rows(0)]
        add(catalog, "a.txt", "New.\nSame.\n")
        with catalog.snapshot() as snapshot:
            assert [row.text for row in snapshot.rows(0)] == ["[a.txt]\nNew.", "[a.txt]\nSame."]
            assert min(row.seq for row in snapshot.rows(0)) > max(old)
            gone, mark = snapshot.deleted(0)
            assert sorted(gone) == old
            assert snapshot.deleted(mark)[0].size == 0

    def test_only_the_deletions_that_a_segment_has_applied_are_forgotten(self, catalog: Any) -> None:
        add(catalog, "a.txt", "Old.\nSame.\n")
        add(catalog, "b.txt", "Other.\nLines.\n")
        add(catalog, "a.txt", "New.\n")
        add(catalog, "b.txt", "Newer.\n")
        with catalog.snapshot() as snapshot:
            gone, mark = snapshot.deleted(0)
            generation = snapshot.generation
        first, second, *rest = sorted(gone.tolist())
        catalog.replace_segments([], None, applied_mark=mark, applied_seqs=(0, second))
        with catalog.snapshot() as snapshot:
            assert len(snapshot.deleted(0)[0]) == 4  # nothing was registered: no generation is meant
        record = SegmentRecord(f"g{generation}-{first}-{second}-abc", generation, first, second, 2, "0" * 64)
        catalog.replace_segments([], record, applied_mark=mark, applied_seqs=(0, second))
        with catalog.snapshot() as snapshot:
            assert sorted(snapshot.deleted(0)[0].tolist()) == rest
        catalog.replace_segments([record.name], None, applied_mark=mark, applied_seqs=(0, rest[0]))
        with catalog.snapshot() as snapshot:
            assert snapshot.deleted(0)[0].tolist() == rest[1:]
            assert snapshot.segments() == []

    def test_an_index_elsewhere_is_told_what_lives(self, catalog: Any) -> None:
        add(catalog, "a.txt", "First line.\n\nSecond line.\n")
        add(catalog, "b.txt", "Third line.\n")
        with catalog.snapshot() as snapshot:
            first = snapshot.find_document("a.txt").no
            rows = list(snapshot.rows(0))
            assert snapshot.n_chunks() == len(rows) == 3
            assert snapshot.seqs().tolist() == [row.seq for row in rows]
            assert snapshot.chunk_ids_of([rows[2].seq, rows[0].seq, 999]) == {
                row.seq: row.chunk_id for row in (rows[0], rows[2])
            }
            assert snapshot.first_chunk_ids(2) == sorted(row.chunk_id for row in rows)[:2]
            found = snapshot.embeddings_of([rows[1].chunk_id, "none"])
            assert list(found) == [rows[1].chunk_id]
            assert np.array_equal(found[rows[1].chunk_id].vector, rows[1].embedding.vector)
            assert np.array_equal(found[rows[1].chunk_id].tokens.scales, rows[1].embedding.tokens.scales)
        catalog.delete_documents([first])
        with catalog.snapshot() as snapshot:
            assert snapshot.seqs().tolist() == [rows[2].seq]
            assert snapshot.n_chunks() == 1
            assert snapshot.chunk_ids_of([row.seq for row in rows]) == {rows[2].seq: rows[2].chunk_id}
            assert snapshot.embeddings_of([rows[0].chunk_id]) == {}

    def test_a_store_has_one_name_for_ever(self, catalog: Any) -> None:
        name = catalog.identity()
        add(catalog, "a.txt", "First line.\n")
        assert catalog.identity() == name
        assert name.isalnum()

    def test_known_texts_are_not_embedded_twice_and_go_with_their_last_chunk(self, catalog: Any) -> None:
        first = make_document("same title", "Shared.\n")
        keys = [item.text_sha256 for item in make_chunks(first)]
        for name in ("one", "two"):
            document = replace(make_document(name, "Shared.\n"), title="same title")
            catalog.enqueue([("default", name, f"file:///{name}")])
            commit(catalog, catalog.claim("tester"), document, make_chunks(document))
            assert catalog.known_embeddings(MODEL, keys) == set(keys)
        with catalog.snapshot() as snapshot:
            one, two = (snapshot.find_document(name).no for name in ("one", "two"))
        catalog.delete_documents([one])
        assert catalog.known_embeddings(MODEL, keys) == set(keys)
        catalog.delete_documents([two])
        assert catalog.known_embeddings(MODEL, keys) == set()

    def test_a_job_is_claimed_once_until_its_lease_runs_out(self, catalog: Any, clock: Any) -> None:
        catalog.enqueue([("default", "a.txt", "file:///a.txt")])
        first = catalog.claim("one")
        assert catalog.claim("two") is None
        clock.now += 10_000
        second = catalog.claim("two")
        assert second.document.id == first.document.id
        assert second.fence > first.fence
        document = make_document("a.txt", "One.\n")
        for late in (
            lambda: commit(catalog, first, document),
            lambda: catalog.fail(first, Failure("x", "y", retryable=False)),
            lambda: catalog.advance(first, DocumentState.CHUNKING),
        ):
            try:
                late()
            except LeaseLostError:
                continue
            raise AssertionError("a worker whose lease was lost could still write")
        commit(catalog, second, document)
        with catalog.snapshot() as snapshot:
            assert snapshot.find_document("a.txt").state is DocumentState.READY

    def test_a_failure_keeps_its_reason_and_the_version_before_it(self, catalog: Any) -> None:
        add(catalog, "a.txt", "Good.\n")
        catalog.enqueue([("default", "a.txt", "file:///a.txt")])
        catalog.fail(catalog.claim("tester"), Failure("undecodable", "no encoding fits", retryable=False))
        with catalog.snapshot() as snapshot:
            record = snapshot.find_document("a.txt")
            assert record.state is DocumentState.FAILED
            assert record.failure == Failure("undecodable", "no encoding fits", retryable=False)
            assert len(list(snapshot.rows(0))) == 1
        assert catalog.claim("tester") is None

    def test_a_retry_waits_for_its_time(self, catalog: Any, clock: Any) -> None:
        catalog.enqueue([("default", "a.txt", "file:///a.txt")])
        catalog.fail(catalog.claim("tester"), Failure("vanished", "gone", retryable=True), retry_after_s=30)
        catalog.enqueue([("default", "b.txt", "file:///b.txt")])
        assert catalog.claim("tester").document.name == "b.txt"
        clock.now += 31
        assert catalog.claim("tester") is None  # a failed document waits for someone to queue it
        catalog.enqueue([("default", "a.txt", "file:///a.txt")])
        assert catalog.claim("tester").document.name == "a.txt"

    def test_a_document_whose_time_has_come_is_queued_again_and_its_attempts_count_on(
        self, catalog: Any, clock: Any
    ) -> None:
        catalog.enqueue([("default", "a.txt", "file:///a.txt"), ("default", "b.txt", "file:///b.txt")])
        first, second = catalog.claim("tester"), catalog.claim("tester")
        catalog.fail(first, Failure("vanished", "gone", retryable=True), retry_after_s=30)
        catalog.fail(second, Failure("undecodable", "no encoding fits", retryable=False))
        assert catalog.requeue_due() == 0
        clock.now += 31
        assert catalog.requeue_due() == 1
        again = catalog.claim("tester")
        assert (again.document.name, again.document.attempts) == ("a.txt", 2)
        assert catalog.claim("tester") is None
        assert catalog.release("tester") == 1
        assert catalog.claim("other").document.attempts == 2  # given back in good order is no attempt

    def test_who_works_on_the_version_before_cannot_end_the_job_of_the_new_one(self, catalog: Any) -> None:
        catalog.enqueue([("default", "a.txt", "file:///old")])
        old = catalog.claim("one")
        catalog.enqueue([("default", "a.txt", "file:///new")])
        try:
            commit(catalog, old, make_document("a.txt", "Old.\n"))
        except LeaseLostError:
            new = catalog.claim("two")
            assert new.document.uri == "file:///new"
            return
        raise AssertionError("the job of the new version was ended by the old one's")

    def test_two_models_never_share_a_generation(self, catalog: Any) -> None:
        add(catalog, "a.txt", "One.\n")
        other = replace(MODEL, sha256="e" * 64)
        for attempt in (lambda: catalog.generation_for(other), lambda: _commit_under(catalog, other)):
            try:
                attempt()
            except StampMismatchError as error:
                assert "fake" in str(error)
                continue
            raise AssertionError("another model of the same dimension was let in")
        with catalog.snapshot() as snapshot:
            assert len(list(snapshot.rows(0))) == 1
            assert snapshot.model == MODEL

    def test_a_generation_is_built_beside_the_active_one_and_switched_to_at_once(self, catalog: Any) -> None:
        add(catalog, "a.txt", "One.\nTwo.\n")
        add(catalog, "empty.txt", "")
        first = catalog.generation_for(MODEL, "old")
        second = catalog.begin_generation(OTHER, "new")
        assert catalog.begin_generation(OTHER, "new") == second != first
        assert catalog.switch_generation(second) == 2
        with catalog.snapshot(second) as snapshot:
            assert [record.name for record in snapshot.pending(second)] == ["a.txt", "empty.txt"]
            assert (snapshot.generation, snapshot.model, list(snapshot.rows(0))) == (second, OTHER, [])
            assert snapshot.pending(first) == []
            assert [one.id for one in catalog.generations()] == [first, second]  # also inside of a snapshot
        n_brought = _bring_up(catalog, second, OTHER)
        assert n_brought == 2
        with catalog.snapshot() as snapshot:
            assert (snapshot.model, len(list(snapshot.rows(0)))) == (MODEL, 2)  # the old one answers until the switch
            assert snapshot.find_document("a.txt").stamp == make_stamp()
            epoch = snapshot.epoch
        assert catalog.switch_generation(second) == 0
        with catalog.snapshot() as snapshot:
            assert (snapshot.generation, snapshot.model, len(list(snapshot.rows(0)))) == (second, OTHER, 2)
            assert snapshot.find_document("a.txt").stamp == make_stamp(OTHER)
            assert snapshot.n_chunks_by_document() == {
                record.no: record.counters.n_chunks for record in snapshot.documents() if record.counters.n_chunks
            }
            assert snapshot.epoch > epoch
            assert (snapshot.holding(first), snapshot.holding(second)) == (Holding(2, 2, 0), Holding(2, 2, 0))
        states = {one.id: (one.state, one.source) for one in catalog.generations()}
        assert states == {first: ("retired", "old"), second: ("active", "new")}
        assert catalog.switch_generation(first) == 0  # and back
        with catalog.snapshot() as snapshot:
            assert (snapshot.model, snapshot.find_document("a.txt").stamp) == (MODEL, make_stamp())

    def test_no_generation_holds_another_version_than_the_newest(self, catalog: Any) -> None:
        add(catalog, "a.txt", "Old.\n")
        add(catalog, "b.txt", "Goes.\n")
        second = catalog.begin_generation(OTHER, "new")
        _bring_up(catalog, second, OTHER)
        with catalog.snapshot() as snapshot:
            stale = snapshot.find_document("a.txt")
            gone = snapshot.find_document("b.txt")
        add(catalog, "a.txt", "New.\n")
        catalog.delete_documents([gone.no])
        with catalog.snapshot(second) as snapshot:
            assert list(snapshot.rows(0)) == []
            assert [record.name for record in snapshot.pending(second)] == ["a.txt"]
            assert len(snapshot.deleted(0)[0]) == 2
        document = make_document("a.txt", "Old.\n")
        assert not _rechunk(catalog, second, stale, document, OTHER)
        assert not _rechunk(catalog, second, gone, make_document("b.txt", "Goes.\n"), OTHER)
        assert catalog.switch_generation(second) == 1
        assert _bring_up(catalog, second, OTHER) == 1
        assert catalog.switch_generation(second) == 0
        with catalog.snapshot() as snapshot:
            assert [row.text for row in snapshot.rows(0)] == ["[a.txt]\nNew."]

    def test_a_document_that_failed_is_as_pending_as_its_older_version_is_searchable(self, catalog: Any) -> None:
        add(catalog, "a.txt", "Good.\n")
        catalog.enqueue([("default", name, f"file:///{name}") for name in ("a.txt", "never.txt")])
        for _ in range(2):
            catalog.fail(catalog.claim("tester"), Failure("undecodable", "no encoding fits", retryable=False))
        second = catalog.begin_generation(OTHER, "new")
        with catalog.snapshot() as snapshot:
            assert [record.name for record in snapshot.pending(second)] == ["a.txt"]

    def test_a_generation_takes_chunks_of_its_own_model_only_and_only_what_was_embedded(self, catalog: Any) -> None:
        document = add(catalog, "a.txt", "One.\n")
        second = catalog.begin_generation(OTHER, "new")
        with catalog.snapshot() as snapshot:
            record = snapshot.find_document("a.txt")
        try:
            _rechunk(catalog, second, record, document, MODEL)
        except StampMismatchError as error:
            assert "fake" in str(error)
        else:
            raise AssertionError("chunks of another model were let in")
        counters = DocumentCounters(5, 1, 3, 0)
        chunks = make_chunks(document)
        assert not catalog.rechunk_document(second, record, chunks, make_stamp(OTHER), counters)
        assert _rechunk(catalog, second, record, document, OTHER)
        assert _rechunk(catalog, second, record, document, OTHER)  # twice is once
        with catalog.snapshot(second) as snapshot:
            assert len(list(snapshot.rows(0))) == 1

    def test_after_a_switch_the_old_model_writes_nothing_and_is_told_the_way_out(self, catalog: Any) -> None:
        add(catalog, "a.txt", "One.\n")
        second = catalog.begin_generation(OTHER, "folder/of/the/new")
        for attempt in (lambda: catalog.generation_for(OTHER), lambda: _commit_under(catalog, OTHER)):
            try:
                attempt()
            except StampMismatchError as error:
                assert "half built" in str(error)
                continue
            raise AssertionError("half a migration was used")
        _bring_up(catalog, second, OTHER)
        catalog.switch_generation(second)
        for attempt in (lambda: catalog.generation_for(MODEL), lambda: _commit_under(catalog, MODEL)):
            try:
                attempt()
            except StampMismatchError as error:
                assert "set model = folder/of/the/new" in str(error)
                assert "--rollback" in str(error)
                continue
            raise AssertionError("the old model was let in after the switch")

    def test_one_generation_is_built_at_a_time(self, catalog: Any) -> None:
        add(catalog, "a.txt", "One.\n")
        catalog.begin_generation(OTHER, "new")
        try:
            catalog.begin_generation(replace(MODEL, sha256="d" * 64), "third")
        except UsageError as error:
            assert "--drop" in str(error)
            return
        raise AssertionError("two were built at once")

    def test_what_is_dropped_leaves_nothing_and_what_answers_cannot_be(self, catalog: Any) -> None:
        document = add(catalog, "a.txt", "One.\nTwo.\n")
        keys = [item.text_sha256 for item in make_chunks(document)]
        first = catalog.generation_for(MODEL)
        second = catalog.begin_generation(OTHER, "new")
        _bring_up(catalog, second, OTHER)
        catalog.switch_generation(second)
        try:
            catalog.drop_generation(second)
        except UsageError:
            pass
        else:
            raise AssertionError("the active generation was dropped")
        record = SegmentRecord("g1-1-2-abc", first, 1, 2, 2, "0" * 64)
        catalog.replace_segments([], record)
        with catalog.snapshot() as snapshot:
            assert (snapshot.segments(), snapshot.segment_names()) == ([], [record.name])
        assert catalog.drop_generation(first) == DroppedGeneration(first, 2, 2, 1)
        assert (catalog.known_embeddings(MODEL, keys), len(catalog.known_embeddings(OTHER, keys))) == (set(), 2)
        with catalog.snapshot(first) as snapshot:
            assert list(snapshot.rows(0)) == []
            assert [one.name for one in snapshot.pending(first)] == ["a.txt"]
            assert snapshot.segment_names() == []
        third = catalog.begin_generation(MODEL, "old")  # under a new number: indexes may have kept the old one's
        assert [one.state for one in catalog.generations()] == ["retired", "active", "building"]
        assert third > second

    def test_an_epoch_is_known_by_number_and_token(self, catalog: Any) -> None:
        add(catalog, "a.txt", "One.\n")
        with catalog.snapshot() as before:
            assert before.knows(before.epoch, before.token)
            assert not before.knows(before.epoch, "another")
            assert not before.knows(before.epoch + 1, before.token)
        add(catalog, "b.txt", "Two.\n")
        with catalog.snapshot() as after:
            assert after.token != before.token
            assert after.knows(before.epoch, before.token)

    def test_filters_admit_by_collection_document_and_media_type(self, catalog: Any) -> None:
        a = add(catalog, "a.txt", "One.\n")
        add(catalog, "b.txt", "Two.\n", collection="other")
        with catalog.snapshot() as snapshot:
            numbers = {record.name: record.no for record in snapshot.documents()}
            for only, names in (
                (Filter(collections=("other",)), ["b.txt"]),
                (Filter(documents=(a.id,)), ["a.txt"]),
                (Filter(documents=("b.txt",)), ["b.txt"]),
                (Filter(documents=("a.txt", "b.txt"), collections=("other",)), ["b.txt"]),
                (Filter(media_types=("text/plain",)), ["a.txt", "b.txt"]),
                (Filter(collections=("none",)), []),
                (Filter(), ["a.txt", "b.txt"]),
            ):
                assert snapshot.document_numbers(only).tolist() == sorted(numbers[name] for name in names)

    def test_the_answer_log_is_a_chain_that_shows_tampering(self, catalog: Any) -> None:
        for number in range(3):
            catalog.append_answer(f"a{number}", "answered", {"question": f"q{number}"}, ["d1"])
        records = catalog.load_answers()
        assert [record.body["question"] for record in records] == ["q0", "q1", "q2"]
        assert records[1].previous_sha256 == records[0].chain_sha256
        assert catalog.load_answer("a1") == records[1]
        assert catalog.log_head() == LogHead(3, records[-1].chain_sha256)

    def test_a_purge_takes_the_words_and_leaves_the_chain(self, catalog: Any) -> None:
        document = add(catalog, "a.txt", "One.\n")
        kept = add(catalog, "b.txt", "Two.\n")
        catalog.append_answer("x", "answered", {"question": "secret"}, [document.id])
        catalog.append_answer("y", "answered", {"question": "open"}, [kept.id])
        with catalog.snapshot() as snapshot:
            number = snapshot.find_document("a.txt").no
        catalog.delete_documents([number])
        assert catalog.redact_answers(["another document"]) == 0
        assert catalog.redact_answers() == 1
        x, y = catalog.load_answers()
        assert x.body is None
        assert y.body == {"question": "open"}
        assert y.previous_sha256 == x.chain_sha256


def _bring_up(catalog: Catalog, generation: int, model: ModelStamp) -> int:
    """Brings in what is pending; returns how many documents."""
    with catalog.snapshot() as snapshot:
        pending = [(record, snapshot.load_document(record.no)) for record in snapshot.pending(generation)]
    assert all(_rechunk(catalog, generation, record, document, model) for record, document in pending)
    return len(pending)


def _rechunk(catalog: Catalog, generation: int, record: DocumentRecord, document: Document, model: ModelStamp) -> bool:
    chunks = make_chunks(document)
    catalog.put_embeddings(model, {item.text_sha256: make_embedding(item.chunk.text) for item in chunks})
    counters = DocumentCounters(len(document.text), len(chunks), sum(item.chunk.n_tokens for item in chunks), 0)
    return catalog.rechunk_document(generation, record, chunks, make_stamp(model), counters)


def _commit_under(catalog: Catalog, model: ModelStamp) -> None:
    catalog.enqueue([("default", "m.txt", "file:///m.txt")])
    job = catalog.claim("tester")
    assert job is not None
    commit(catalog, job, make_document("m.txt", "Mixed.\n"), stamp=make_stamp(model))
