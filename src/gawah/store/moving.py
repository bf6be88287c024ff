"""A whole store in one file, and a store from it: between machines, and between SQLite and PostgreSQL.

The file is a ZIP archive: `gawah.json` says what it is, `tables/` holds the rows (tables.py), `originals/` the files that were
handed over, and `manifest.json`, written last, counts and hashes of all. A store is filled in one transaction, after which
every table is read back and held against its hash: what is cut off or killed leaves an empty store.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from gawah import __version__
from gawah.errors import ForeignStoreError, NotFoundError, StoreCorruptError, StoreError, StoreFullError, UsageError
from gawah.fingerprint import sha256_parts
from gawah.store import answers, epochs, generations, jobs, records
from gawah.store.catalog import SqlCatalog
from gawah.store.migrations import MIGRATIONS
from gawah.store.originals import NO_ROOM, Originals
from gawah.store.sql import Connection, Order
from gawah.store.tables import TABLES, digest_of, is_empty, lines_of, put_lines

FORMAT = 1
HEAD, MANIFEST = "gawah.json", "manifest.json"
_PAGE = 512
_COPIED_BYTES = 1 << 20
_FAR = 1 << 62


@dataclass(frozen=True, slots=True)
class Moved:
    """What is in an exported store. `fingerprint` is that of the active generation, as an index of it has."""

    n_rows: dict[str, int]
    n_originals: int
    fingerprint: str
    n_bytes: int


def export_store(catalog: SqlCatalog, originals: Originals, file: Path) -> Moved:
    """Writes a store, as of one moment, beside whoever works on it. The file is there whole or not at all.

    Raises UsageError when the file is there already or its folder is not, StoreError, StoreFullError.
    """
    if file.exists():
        raise UsageError(f"{file} is there already; name a new file")
    if not file.parent.is_dir():
        raise UsageError(f"there is no folder {file.parent}; make it, or name another file")
    unfinished = file.with_name(f".{file.name}-{secrets.token_hex(4)}")
    with _storage_errors(file):
        try:
            with unfinished.open("xb") as stream:
                with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
                    manifest = _write(catalog, originals, archive)
                stream.flush()
                os.fsync(stream.fileno())
            unfinished.replace(file)
        finally:
            unfinished.unlink(missing_ok=True)
        return _moved(manifest, file)


def import_store(file: Path, catalog: SqlCatalog, originals: Originals) -> Moved:
    """Fills an empty store. Raises UsageError for one that is not empty, StoreCorruptError for a file that is cut short or
    altered, ForeignStoreError for a file of another kind or version, NotFoundError without one.
    """
    with _storage_errors(file), _opened(file) as archive:
        head, manifest = _head(archive), _json(archive, MANIFEST)
        with catalog.reading() as opened:
            _require_empty(opened)
        put = _originals_put(archive, manifest["originals"], originals)
        with put, catalog.writing(Order.CONTENT, Order.LOG) as opened:
            _require_empty(opened)
            _put_tables(archive, opened, manifest)
            catalog.set_numbers(opened, _checked_numbers(manifest["numbers"]))
            _rewrite_places(opened, head["originals"], str(originals.root))
            jobs.reclaim(opened, catalog.clock())  # who worked on it works on another store
            opened.execute("DELETE FROM meta WHERE key = 'identity'")  # what is kept elsewhere is the other store's
            epochs.bump(opened)
        return _moved(manifest, file)


def fingerprint_of(opened: Connection) -> str:
    """What ports.Index fingerprints of the active generation would be, from the rows."""
    return sha256_parts(_contents(opened))


def _contents(opened: Connection) -> Iterator[bytes]:
    active = generations.active(opened)
    last = ""
    while active is not None:
        page = opened.execute(
            "SELECT c.id, e.vector, e.signs, e.scales FROM chunks c JOIN embeddings e ON e.id = c.embedding "
            "WHERE c.generation = ? AND c.id > ? ORDER BY c.id LIMIT ?",
            (active.id, last, _PAGE),
        ).fetchall()
        for chunk_id, vector, signs, scales in page:
            yield from (chunk_id.encode("ascii"), vector, signs, scales)
        if len(page) < _PAGE:
            return
        last = page[-1][0]


# --- writing


def _write(catalog: SqlCatalog, originals: Originals, archive: zipfile.ZipFile) -> dict[str, Any]:
    nobody_sweeps = originals.placing() if originals.root.is_dir() else contextlib.nullcontext()
    with nobody_sweeps, catalog.reading_one_moment() as opened:
        head = {
            "format": FORMAT,
            "store_version": len(MIGRATIONS),
            "gawah": __version__,
            "originals": str(originals.root),
        }
        archive.writestr(HEAD, json.dumps(head))
        tables = {}
        for table in TABLES:
            n_lines, digest = 0, hashlib.sha256()
            with archive.open(f"tables/{table.name}.jsonl", "w", force_zip64=True) as member:
                for line in lines_of(opened, table):
                    member.write(line)
                    digest.update(line)
                    n_lines += 1
            tables[table.name] = {"n_rows": n_lines - 1, "sha256": digest.hexdigest()}
        kept = {name: _write_original(archive, name, path) for name, path in originals.all()}
        manifest = {
            "tables": tables,
            "originals": kept,
            "numbers": catalog.numbers(opened),
            "fingerprint": fingerprint_of(opened),
            "log_faults": _log_faults(opened),
        }
    archive.writestr(MANIFEST, json.dumps(manifest, sort_keys=True))
    return manifest


def _write_original(archive: zipfile.ZipFile, name: str, path: Path) -> str:
    digest = hashlib.sha256()
    member = zipfile.ZipInfo(f"originals/{name}")  # stored: most are compressed already
    with path.open("rb") as source, archive.open(member, "w", force_zip64=True) as target:
        while piece := source.read(_COPIED_BYTES):
            target.write(piece)
            digest.update(piece)
    return digest.hexdigest()


def _log_faults(opened: Connection) -> list[str]:
    """What was wrong with the log of outcomes before: a move neither adds to it nor hides it."""
    head = answers.head(opened)
    chains: list[str] = []

    def every() -> Iterator[Any]:
        last = 0
        while page := opened.execute("SELECT * FROM answers WHERE seq > ? ORDER BY seq LIMIT 64", (last,)).fetchall():
            for row in page:
                chains.append(row["chain_sha256"])
                yield records.answer_record(row)
            last = page[-1]["seq"]

    faults = [f"altered at {answer_id}" for answer_id in answers.broken_links(every())]
    if head and (len(chains) < head.n_answers or (head.n_answers and chains[head.n_answers - 1] != head.chain_sha256)):
        faults.append("its end is not the one that was recorded")
    return faults


# --- reading


@contextlib.contextmanager
def _opened(file: Path) -> Iterator[zipfile.ZipFile]:
    if not file.is_file():
        raise NotFoundError(f"no such file: {str(file)!r}; check the path")
    try:
        with zipfile.ZipFile(file) as archive:
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise StoreCorruptError(f"{file} is no exported store, or is cut short ({error}); export it again") from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise StoreCorruptError(f"{file} lacks a part of an exported store ({error}); export it again") from error


def _head(archive: zipfile.ZipFile) -> dict[str, Any]:
    head = _json(archive, HEAD)
    if head.get("format") != FORMAT or head.get("store_version") != len(MIGRATIONS):
        raise ForeignStoreError(
            f"the file is of gawah {head.get('gawah')}, store version {head.get('store_version')}, and this is "
            f"{__version__}, version {len(MIGRATIONS)}: export and import with the same gawah"
        )
    return head


def _json(archive: zipfile.ZipFile, name: str) -> dict[str, Any]:
    found = json.loads(archive.read(name))
    if not isinstance(found, dict):
        raise TypeError(f"{name} is no object")
    return found


def _require_empty(opened: Connection) -> None:
    if not is_empty(opened):
        raise UsageError("the store is not empty; import into a new one (--store, catalog)")


@contextlib.contextmanager
def _originals_put(archive: zipfile.ZipFile, listed: dict[str, str], originals: Originals) -> Iterator[None]:
    """Puts originals in place before the rows that refer to them; those that were not there go again where that fails."""
    there = {name for name, _ in originals.all()}
    placed: list[str] = []
    try:
        for name, sha256 in listed.items():
            with archive.open(f"originals/{name}") as source:
                originals.restore(name, sha256, _pieces(source))
            placed.append(name)
        yield
    except UsageError:  # the store was filled meanwhile by somebody who may refer to the same files
        raise
    except BaseException:
        originals.remove(name for name in placed if name not in there)
        raise


def _checked_numbers(numbers: dict[str, Any]) -> dict[str, int]:
    """The last number of each table that counts; ValueError for one after which there would be none left."""
    for table, number in numbers.items():
        if not isinstance(number, int) or not 0 <= number < _FAR:
            raise ValueError(f"the number {number} of {table}")
    return numbers


def _pieces(source: BinaryIO | Any) -> Iterator[bytes]:
    while piece := source.read(_COPIED_BYTES):
        yield piece


def _put_tables(archive: zipfile.ZipFile, opened: Connection, manifest: dict[str, Any]) -> None:
    """Rows of every table, read back; raises StoreCorruptError where they are not what was exported."""
    for name in ("meta", "epochs"):
        opened.execute(f"DELETE FROM {name}")  # noqa: S608
    for table in TABLES:
        with archive.open(f"tables/{table.name}.jsonl") as lines:
            put_lines(opened, table, lines)
        expected = manifest["tables"][table.name]
        if digest_of(opened, table) != (expected["n_rows"], expected["sha256"]):
            raise StoreCorruptError(f"the table {table.name} is not what was exported; export the store again")
    if fingerprint_of(opened) != manifest["fingerprint"]:
        raise StoreCorruptError("the index would not be what was exported; export the store again")
    if _log_faults(opened) != manifest["log_faults"]:
        raise StoreCorruptError("the log of outcomes does not hold as it did; export the store again")


def _rewrite_places(opened: Connection, before: str, now: str) -> None:
    """Originals lie in this store's folder now."""
    if before == now:
        return
    for table, column, old, new in (
        ("uploads", "path", f"{before}/", f"{now}/"),
        ("documents", "uri", f"{Path(before).as_uri()}/", f"{Path(now).as_uri()}/"),
    ):
        opened.execute(
            f"UPDATE {table} SET {column} = ? || substr({column}, CAST(? AS INTEGER)) "  # noqa: S608
            f"WHERE substr({column}, 1, CAST(? AS INTEGER)) = ?",
            (new, len(old) + 1, len(old), old),
        )


def _moved(manifest: dict[str, Any], file: Path) -> Moved:
    n_rows = {name: table["n_rows"] for name, table in manifest["tables"].items()}
    return Moved(n_rows, len(manifest["originals"]), manifest["fingerprint"], file.stat().st_size)


@contextlib.contextmanager
def _storage_errors(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in NO_ROOM:
            raise StoreFullError(f"no room left beside {file}; free some and run the command again") from error
        raise StoreError(
            f"{file}: {error.strerror or error}; check the path, and the permissions of its folder"
        ) from error
