"""Generations as rows: which model built which set of vectors, what each holds, and the switch from one to another.

No generation ever holds another version of a document than `contents`: who commits a version takes the document out of all
others, where it is pending again. So "everything is there" is one question, and a switch asks it in its own transaction.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence

from gawah.errors import NotFoundError, StampMismatchError, UsageError
from gawah.store import chunks, records
from gawah.store.sql import Connection, Row
from gawah.types import (
    DocumentCounters,
    DocumentRecord,
    DroppedGeneration,
    Generation,
    Holding,
    ModelStamp,
    Stamp,
)
from gawah.wire import from_json, to_json

_COLUMNS = "id, model, source, state, created_at, switched_at, dropped_at"
# A document is searchable from its first commit on, whatever became of later attempts.
_PENDING = (
    "FROM documents d WHERE d.stamp IS NOT NULL AND NOT EXISTS "
    "(SELECT 1 FROM generation_documents g WHERE g.generation = ? AND g.document_no = d.no)"
)


def every(connection: Connection) -> list[Generation]:
    return [_generation(row) for row in connection.execute(f"SELECT {_COLUMNS} FROM generations ORDER BY id")]  # noqa: S608


def of(connection: Connection, generation: int) -> Generation:
    """Raises NotFoundError."""
    found = connection.execute(f"SELECT {_COLUMNS} FROM generations WHERE id = ?", (generation,)).fetchone()  # noqa: S608
    if found is None:
        raise NotFoundError(f"there is no generation {generation}; `gawah migrate --status` lists them")
    return _generation(found)


def active(connection: Connection) -> Generation | None:
    found = connection.execute(f"SELECT {_COLUMNS} FROM generations WHERE state = 'active'").fetchone()  # noqa: S608
    return None if found is None else _generation(found)


def active_for(connection: Connection, model: ModelStamp, source: str, now: float) -> int:
    """The active generation, made when there is none; raises StampMismatchError when it is another model's."""
    found = active(connection)
    if found is None:
        return _inserted(connection, model, source, "active", now)
    if found.model != model:
        raise StampMismatchError(_mismatch(connection, found, model))
    if source and not found.source:
        connection.execute("UPDATE generations SET source = ? WHERE id = ?", (source, found.id))
    return found.id


def begin(connection: Connection, model: ModelStamp, source: str, now: float) -> int:
    """The generation of that model, begun when there is none. One that was dropped is never begun again under its number:
    indexes may still have what it held.

    Raises UsageError while another one is half built.
    """
    kept = [one for one in every(connection) if one.dropped_at is None]
    found = next((one for one in kept if one.model == model), None)
    half_built = next((one for one in kept if one.state == "building"), None)
    if found is not None:
        connection.execute("UPDATE generations SET source = ? WHERE id = ?", (source or found.source, found.id))
        return found.id
    if half_built is not None:
        raise UsageError(
            f"generation {half_built.id} with {half_built.model.name} is half built; go on with it: "
            f"gawah migrate --model {half_built.source}, or drop it: gawah migrate --drop"
        )
    return _inserted(connection, model, source, "building", now)


def require_model(connection: Connection, generation: int, model: ModelStamp) -> Generation:
    """The generation, if that model built it; raises NotFoundError, StampMismatchError."""
    found = of(connection, generation)
    if found.model != model:
        raise StampMismatchError(
            f"generation {generation} is of {found.model.name} ({found.model.sha256[:12]}), not of {model.name} "
            f"({model.sha256[:12]}): name the model it is built with"
        )
    return found


# --- what a generation holds


def pending(connection: Connection, generation: int) -> list[DocumentRecord]:
    if of(connection, generation).state == "active":
        return []
    rows = connection.execute(f"SELECT {records.DOCUMENT_COLUMNS} {_PENDING} ORDER BY d.no", (generation,))
    return [records.document_record(row) for row in rows]


def holding(connection: Connection, generation: int) -> Holding:
    if of(connection, generation).state == "active":
        row = connection.execute(
            "SELECT count(*), CAST(coalesce(sum(n_chunks), 0) AS BIGINT) FROM documents WHERE stamp IS NOT NULL"
        ).fetchone()
        return Holding(row[0], row[1], 0)
    row = connection.execute(
        "SELECT count(*), CAST(coalesce(sum(n_chunks), 0) AS BIGINT) FROM generation_documents WHERE generation = ?",
        (generation,),
    ).fetchone()
    return Holding(row[0], row[1], _n_pending(connection, generation))


def note(
    connection: Connection, generation: Generation, document_no: int, stamp: Stamp, counters: DocumentCounters
) -> None:
    """Writes down that a generation holds a document: for the active one in the document's own row."""
    written = records.stamp_json(stamp)
    if generation.state == "active":
        connection.execute(
            "UPDATE documents SET stamp = ?, n_chunks = ?, n_tokens = ?, n_truncated = ? WHERE no = ?",
            (written, counters.n_chunks, counters.n_tokens, counters.n_truncated, document_no),
        )
        return
    connection.execute(
        "DELETE FROM generation_documents WHERE generation = ? AND document_no = ?", (generation.id, document_no)
    )
    connection.execute(
        "INSERT INTO generation_documents (generation, document_no, stamp, n_chunks, n_tokens, n_truncated) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        (generation.id, document_no, written, counters.n_chunks, counters.n_tokens, counters.n_truncated),
    )


def forget(connection: Connection, document_no: int) -> list[int]:
    """Takes a document out of every generation; returns the ids of the embeddings its chunks used, one a chunk."""
    held = connection.execute("SELECT DISTINCT generation FROM chunks WHERE document_no = ?", (document_no,)).fetchall()
    used = [embedding for row in held for embedding in chunks.remove(connection, document_no, row[0])]
    connection.execute("DELETE FROM generation_documents WHERE document_no = ?", (document_no,))
    return used


def delete_documents(connection: Connection, document_nos: Sequence[int]) -> int:
    """Deletes documents with all that was made of them; returns how many chunks, those of other generations included."""
    n_chunks = 0
    for no in document_nos:
        used = forget(connection, no)
        chunks.drop_unused(connection, used)
        n_chunks += len(used)
        connection.execute("DELETE FROM jobs WHERE document_no = ?", (no,))
        connection.execute("DELETE FROM documents WHERE no = ?", (no,))
    return n_chunks


# --- from one to another


def switch(connection: Connection, generation: int, now: float) -> int:
    """Makes a generation the active one if it lacks nothing; returns how many searchable documents it lacks."""
    chosen, before = of(connection, generation), active(connection)
    if chosen.state == "active":
        return 0
    if n_lacking := _n_pending(connection, generation):
        return n_lacking
    if before is not None:
        connection.execute(
            "INSERT INTO generation_documents (generation, document_no, stamp, n_chunks, n_tokens, n_truncated) "
            "SELECT ?, no, stamp, n_chunks, n_tokens, n_truncated FROM documents WHERE stamp IS NOT NULL",
            (before.id,),
        )
        connection.execute("UPDATE generations SET state = 'retired', switched_at = ? WHERE id = ?", (now, before.id))
    connection.execute(
        "UPDATE documents SET (stamp, n_chunks, n_tokens, n_truncated) = "
        "(SELECT g.stamp, g.n_chunks, g.n_tokens, g.n_truncated FROM generation_documents g "
        "WHERE g.generation = ? AND g.document_no = documents.no) WHERE stamp IS NOT NULL",
        (generation,),
    )
    connection.execute("DELETE FROM generation_documents WHERE generation = ?", (generation,))
    connection.execute("UPDATE generations SET state = 'active', switched_at = ? WHERE id = ?", (now, generation))
    return 0


def drop(connection: Connection, generation: int, now: float) -> DroppedGeneration:
    """Throws away what a generation holds. Its row stays, so that its number is never used again and its model is known."""
    chosen = of(connection, generation)
    if chosen.state == "active":
        raise UsageError(f"generation {generation} is the one that answers; it cannot be dropped")
    n_chunks = connection.execute("DELETE FROM chunks WHERE generation = ?", (generation,)).rowcount
    n_embeddings = connection.execute(
        "DELETE FROM embeddings WHERE model_sha256 = ? "
        "AND NOT EXISTS (SELECT 1 FROM chunks WHERE chunks.embedding = embeddings.id)",
        (chunks.embedding_key(chosen.model),),
    ).rowcount
    n_segments = connection.execute("DELETE FROM segments WHERE generation = ?", (generation,)).rowcount
    for table in ("deletions", "generation_documents"):
        connection.execute(f"DELETE FROM {table} WHERE generation = ?", (generation,))  # noqa: S608
    connection.execute("UPDATE generations SET state = 'retired', dropped_at = ? WHERE id = ?", (now, generation))
    return DroppedGeneration(generation, n_chunks, n_embeddings, n_segments)


def _n_pending(connection: Connection, generation: int) -> int:
    return int(connection.execute(f"SELECT count(*) {_PENDING}", (generation,)).fetchone()[0])


def _inserted(connection: Connection, model: ModelStamp, source: str, state: str, now: float) -> int:
    row = connection.execute(
        "INSERT INTO generations (model, source, state, created_at) VALUES (?, ?, ?, ?) RETURNING id",
        (json.dumps(to_json(model), sort_keys=True), source, state, now),
    ).fetchall()[0]
    return int(row[0])


def _generation(row: Row) -> Generation:
    return Generation(
        id=row["id"],
        model=from_json(ModelStamp, json.loads(row["model"])),
        source=row["source"],
        state=row["state"],
        created_at=row["created_at"],
        switched_at=row["switched_at"],
        dropped_at=row["dropped_at"],
    )


def _mismatch(connection: Connection, found: Generation, model: ModelStamp) -> str:
    """One line on two models that must not be mixed, and the ways out."""
    there, here = to_json(found.model), to_json(model)
    parts = [f"{key} {_short(there, key)} there, {_short(here, key)} here" for key in here if here[key] != there[key]]
    differing = f"({'; '.join(parts)})"
    again = f"set model = {found.source or found.model.name}"
    known = next((one for one in reversed(every(connection)) if one.model == model), None)
    if known is None or known.dropped_at is not None:
        return (
            f"this store was built with {found.model.name}, not with {model.name} as it is now {differing}; "
            f"{again} again, or build a generation with the new model: gawah migrate --model"
        )
    if known.state == "building":
        return (
            f"the generation with {model.name} is half built, the store stands under {found.model.name} {differing}; "
            f"{again} until `gawah migrate` has switched"
        )
    day = time.strftime("%Y-%m-%d", time.gmtime(found.switched_at)) if found.switched_at else "another day"
    return (
        f"this store was migrated from {model.name} to {found.model.name} on {day} {differing}; {again}, "
        "or go back: gawah migrate --rollback"
    )


def _short(stamp: Mapping[str, object], key: str) -> str:
    return str(stamp[key])[:12]
