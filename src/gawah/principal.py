"""Who asks: what they may do and which collections they see. What is not theirs is not there."""

from __future__ import annotations

from dataclasses import dataclass

from gawah.errors import NotFoundError
from gawah.types import DocumentRecord, Filter

LOCAL = "local"


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks. No collections mean all."""

    id: str
    scopes: frozenset[str]
    collections: tuple[str, ...] = ()

    def may(self, scope: str) -> bool:
        return scope in self.scopes or "admin" in self.scopes

    def sees_everybodys_answers(self) -> bool:
        """Only who may see every collection: answers quote documents of any."""
        return "admin" in self.scopes and not self.collections

    def sees(self, collection: str) -> bool:
        return not self.collections or collection in self.collections

    def require_document(self, record: DocumentRecord) -> DocumentRecord:
        """The record; what is not theirs is not there (NotFoundError)."""
        if not self.sees(record.collection):
            raise NotFoundError(f"no document {record.id}")
        return record

    def narrowed(self, only: Filter) -> Filter | None:
        """The filter within what they may see; NotFoundError for a collection that is not theirs, as for one nobody has."""
        if foreign := [name for name in only.collections if not self.sees(name)]:
            raise NotFoundError(f"no document is of {foreign[0]}")
        collections = only.collections or self.collections
        return Filter(collections, only.documents, only.media_types) or None


LOCAL_PRINCIPAL = Principal(LOCAL, frozenset({"read", "ask", "ingest", "admin"}))
