"""A snapshot to what a measurement needs of it: texts, chunks, and what chunking did to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from gawah.chunk import Audit, Chunking
from gawah.ports import Embedder, Snapshot
from gawah.types import Chunk, DocumentState, Stamp


@dataclass(frozen=True, slots=True)
class Corpus:
    """What a snapshot holds: canonical texts by name and by document id, all chunks, and what was counted of them."""

    texts: Mapping[str, str]
    texts_by_id: Mapping[str, str]
    chunks_by_name: Mapping[str, tuple[Chunk, ...]]
    audit: Audit
    stamps: tuple[Stamp, ...]
    failed: tuple[str, ...]

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        return tuple(chunk for own in self.chunks_by_name.values() for chunk in own)


def read_corpus(snapshot: Snapshot, chunking: Chunking, embedder: Embedder) -> Corpus:
    """Texts, chunks and audit of everything that is searchable."""
    texts: dict[str, str] = {}
    by_id: dict[str, str] = {}
    chunks: dict[str, tuple[Chunk, ...]] = {}
    audits: list[Audit] = []
    records = snapshot.documents()
    for record in records:
        if record.stamp is None:
            continue
        document = snapshot.load_document(record.no)
        chunks[record.name] = own = tuple(snapshot.chunks_of(record.no))
        texts[record.name] = by_id[record.id] = document.text
        audits.append(
            chunking.audit(
                document, own, count_tokens=embedder.count_tokens, window_tokens=embedder.stamp.window_tokens
            )
        )
    failed = tuple(
        f"{record.name}: {record.failure.code}: {record.failure.reason}"
        for record in records
        if record.state is DocumentState.FAILED and record.failure
    )
    stamps = tuple(dict.fromkeys(record.stamp for record in records if record.stamp))
    return Corpus(texts, by_id, chunks, total_audit(audits), stamps, failed)


def total_audit(audits: Sequence[Audit]) -> Audit:
    """The audit of a corpus: the sums of its documents'."""
    return Audit(*(sum(getattr(audit, field.name) for audit in audits) for field in fields(Audit)))
