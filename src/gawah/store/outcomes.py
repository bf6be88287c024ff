"""The log of outcomes, each step of it one transaction (answers.py)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gawah.store import answers
from gawah.store.sql import Order
from gawah.store.transactions import Transactions, again
from gawah.types import AnswerRecord, LogHead


class Outcomes(Transactions):
    """The part of ports.Catalog that records what was answered and refused."""

    @again
    def append_answer(
        self, answer_id: str, status: str, body: Mapping[str, object], document_ids: Iterable[str]
    ) -> None:
        with self._database.writing(Order.LOG) as opened:
            answers.append(opened, answer_id, status, body, document_ids, self.clock())

    def load_answer(self, answer_id: str) -> AnswerRecord:
        with self._database.reading() as opened:
            return answers.load(opened, answer_id)

    def load_answers(self) -> list[AnswerRecord]:
        with self._database.reading() as opened:
            return answers.load_all(opened)

    def log_head(self) -> LogHead | None:
        """Where the log ended when it was last written to; None in a store where nothing was recorded since it is kept."""
        with self._database.reading() as opened:
            return answers.head(opened)

    @again
    def redact_answers(self, document_ids: Iterable[str] | None = None) -> int:
        """Empties every outcome that carries words of these documents, or of any that was removed; returns how many."""
        with self._database.writing(Order.LOG) as opened:
            chosen = answers.removed_documents(opened) if document_ids is None else document_ids
            return answers.redact(opened, chosen)
