"""Recorded outcomes against their sources as they are now: every quote is sliced again from the file it was taken from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gawah.errors import ExtractionError
from gawah.fingerprint import sha256_text
from gawah.ports import Catalog
from gawah.sources import found_file, read_source
from gawah.types import AnswerRecord, Document, SourceFile, VerifyStatus

_MOST_PLACES = 10_000  # of a word that stands everywhere, any place will do


@dataclass(frozen=True, slots=True)
class SourceReader:
    """How an original is read again."""

    extract: Callable[[SourceFile, bytes], Document]
    max_file_bytes: int


@dataclass(frozen=True, slots=True)
class CitationCheck:
    """What became of one citation. `now` is where its words are now, when they have moved."""

    answer_id: str
    marker: int
    document: str
    status: VerifyStatus
    detail: str
    now: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class _Source:
    """A cited document today: its text from the file, or why there is none; and the text the store holds."""

    text: str | None
    why_not: str
    stored: str | None


def verify_answer(catalog: Catalog, record: AnswerRecord, reader: SourceReader) -> list[CitationCheck]:
    """One check a citation; a refusal, and an answer that a purge has emptied, have none."""
    if record.body is None:
        return []
    sources: dict[str, _Source] = {}
    checks = []
    for citation in _citations(record.body):
        key = f"{citation['document_id']} {citation['url'].split('#')[0]}"
        if key not in sources:
            sources[key] = _load(catalog, citation, reader)
        status, detail, now = _check(citation, sources[key])
        checks.append(CitationCheck(record.id, citation["marker"], citation["document"], status, detail, now))
    return checks


def verification_json(record: AnswerRecord, checks: Sequence[CitationCheck]) -> dict[str, Any]:
    """`{answer_id, holds, emptied, checks}`; an emptied outcome, whose words a purge took, holds nothing that could fail."""
    shown = [
        {
            "marker": check.marker,
            "document": check.document,
            "status": check.status,
            "detail": check.detail,
            "now": list(check.now) if check.now else None,
        }
        for check in checks
    ]
    holds = all(check.status == "ok" for check in checks)
    return {"answer_id": record.id, "holds": holds, "emptied": record.body is None, "checks": shown}


def _citations(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list(body["citations"])


def _load(catalog: Catalog, citation: Mapping[str, Any], reader: SourceReader) -> _Source:
    text, why_not = _read_again(citation, reader)
    return _Source(text, why_not, _stored_text(catalog, citation))


def _read_again(citation: Mapping[str, Any], reader: SourceReader) -> tuple[str | None, str]:
    found = found_file(citation["url"].split("#")[0])
    if found is None:
        return None, "the file is not there any more"
    try:
        source, data = read_source(found, citation["collection"], citation["document"], reader.max_file_bytes)
        return reader.extract(source, data).text, ""
    except ExtractionError as error:
        return None, f"the file cannot be read any more: {error}"


def _stored_text(catalog: Catalog, citation: Mapping[str, Any]) -> str | None:
    """The canonical text that the citation was made from, if the store still holds that very version."""
    with catalog.snapshot() as snapshot:
        held = [record for record in snapshot.documents() if record.id == citation["document_id"]]
        if not held or held[0].text_sha256 != citation["text_sha256"]:
            return None
        text = snapshot.load_document(held[0].no).text
    return text if sha256_text(text) == citation["text_sha256"] else None


def _check(citation: Mapping[str, Any], source: _Source) -> tuple[VerifyStatus, str, tuple[int, int] | None]:
    start, end, quote = citation["from"], citation["to"], citation["quote"]
    if source.text is None:
        kept = source.stored is not None and source.stored[start:end] == quote
        return "missing", source.why_not + ("; the store still holds the cited text" if kept else ""), None
    if source.text[start:end] == quote:
        same = sha256_text(source.text) == citation["text_sha256"]
        return "ok", "" if same else "the file has changed elsewhere", None
    at = find_again(source.text, citation)
    if at is not None:
        return "moved", f"the words are at {at},{at + len(quote)} now", (at, at + len(quote))
    return "changed", "the words are not in the file any more", None


def find_again(text: str, citation: Mapping[str, Any]) -> int | None:
    """Where a citation's quote stands in a text: with the words around it if they are there, else nearest to where it was."""
    quote, start = citation["quote"], citation["from"]
    places: list[int] = []
    at = text.find(quote)
    while at >= 0 and len(places) < _MOST_PLACES:
        places.append(at)
        at = text.find(quote, at + 1)
    if not places:
        return None
    before, after = citation["prefix"], citation["suffix"]

    def unlikeness(at: int) -> tuple[bool, int]:
        around = text.startswith(before, max(0, at - len(before))) and text.startswith(after, at + len(quote))
        return (not around, abs(at - start))

    return min(places, key=unlikeness)
