"""Settings and an evaluation set to a measured run: an index for each way of cutting, built once and used again.

The indexes live in a work folder of their own, one for each corpus, chunking and model; deleting it costs time only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gawah.app import Application, build_embedder, build_generator
from gawah.ask import Assistant, answer
from gawah.chunk import Chunking
from gawah.config import Settings
from gawah.errors import NotFoundError, UsageError
from gawah.eval.answers import Answers, Cited, Judged, Reply, judge_replies
from gawah.eval.asking import Answerer, ask_each
from gawah.eval.collection import Collection, CollectionError
from gawah.eval.run import Run, Subject, measure
from gawah.eval.server import AnswerServer, answer_server
from gawah.eval.truncate import TruncatingEmbedder
from gawah.fingerprint import sha256_json, sha256_text
from gawah.ports import Embedder, Generator
from gawah.types import DocumentRecord, Refusal
from gawah.wire import to_json

_HASH_CHARS = 8
_MODEL_CHARS = 12
_LONGEST_DEADLINE_S = 86_400  # sockets and locks take no infinite wait for a number

Progress = Callable[[DocumentRecord], None]
Heard = Callable[[Judged], None]


@dataclass(frozen=True, slots=True)
class Workshop:
    """What sets are measured with: settings, the folder of the indexes, and an encoder that is loaded once."""

    settings: Settings
    work: Path
    embedder: Embedder

    def folder(self, collection: Collection, chunking: Chunking) -> Path:
        """Where the index of a corpus under a chunking and the encoder's whole stamp is, or will be."""
        corpus = sha256_text(str(collection.corpus_dir.resolve()))[:_HASH_CHARS]
        model = sha256_json(to_json(self.embedder.stamp))[:_MODEL_CHARS]
        return (
            self.work
            / f"{collection.corpus_dir.resolve().parent.name}-{corpus}"
            / f"{chunking.name.replace('/', '.')}-{model}"
        )


def workshop(settings: Settings, work: Path | None = None) -> Workshop:
    """A workshop with the settings' encoder; its folder is below the cache unless given."""
    return Workshop(settings, work or settings.cache / "eval", build_embedder(settings))


def evaluate(
    shop: Workshop,
    collection: Collection,
    *,
    chunking: Chunking | None = None,
    systems: Sequence[str] = (),
    cite: bool = True,
    progress: Progress | None = None,
) -> Run:
    """Indexes the set's corpus where that is not done yet, and measures it; answers are quoted, no model writes.

    `chunking` is the product's unless given. Quoting takes most of the time and tells nothing of retrieval: `cite=False`
    leaves it out. Raises CollectionError when the set cannot be used, StoreBusyError when another process indexes the
    same, and what ingest and retrieval raise.
    """
    chunking = chunking or Chunking(target=shop.settings.target_chars)
    own = shop.settings.model_copy(update={"store": shop.folder(collection, chunking), "generator": "extractive"})
    with Application(own, create=True, embedder=_embedder(shop, chunking), chunking=chunking) as app:
        app.require_all()
        _ingest(app, collection, progress)
        assistant = app.assistant
        generator = assistant.generator if cite else None
        subject = Subject(app.catalog, app.retriever, assistant.gate, generator, chunking)
        return measure(subject, collection, systems=systems)


@dataclass(frozen=True, slots=True)
class Asking:
    """Who is asked for answers, and how. With a server nobody else; `generator` is None for the settings' extractive one."""

    deadline_s: float
    concurrency: int
    generator: Generator | None
    server: AnswerServer | None


def prepare_asking(
    settings: Settings, embedder: Embedder, *, deadline_s: float | None = None, concurrency: int = 1, server: str = ""
) -> Asking:
    """What `ask_set` needs, without asking anything yet; the deadline is the generator's unless given.

    The key of the settings goes to a server only when that is the endpoint it was set for. Raises ConfigurationError, and
    UsageError for a deadline beyond a day.
    """
    deadline_s = settings.generator_timeout_s if deadline_s is None else deadline_s
    if not 0 < deadline_s <= _LONGEST_DEADLINE_S:
        raise UsageError(
            f"a deadline of {deadline_s:g} s is no time to answer in; choose at most {_LONGEST_DEADLINE_S:,} s"
        )
    if server:
        is_own = server.rstrip("/") == settings.openai_url.rstrip("/")
        key = settings.openai_key.get_secret_value() if is_own else ""
        asked = answer_server(server, model=settings.generator_model, api_key=key, deadline_s=deadline_s)
        return Asking(deadline_s, concurrency, None, asked)
    if settings.generator == "extractive":
        return Asking(deadline_s, concurrency, None, None)
    hurried = settings.model_copy(update={"generator_timeout_s": deadline_s})
    return Asking(deadline_s, concurrency, build_generator(hurried, embedder), None)


def ask_set(
    shop: Workshop,
    collection: Collection,
    run: Run,
    asking: Asking,
    *,
    chunking: Chunking | None = None,
    heard: Heard | None = None,
) -> Answers:
    """Asks every question of a measured set, as `ask` does but for the log, or a server; `heard` is told as replies come.

    One question fails alone. Raises ConfigurationError for what every question would meet.
    """
    if asking.server is not None:
        return _asked(collection, run, asking, asking.server, asking.server.endpoint.server, heard)
    chunking = chunking or Chunking(target=shop.settings.target_chars)
    own = shop.settings.model_copy(update={"store": shop.folder(collection, chunking)})
    embedder = _embedder(shop, chunking)
    with Application(own, embedder=embedder, generator=asking.generator, chunking=chunking) as app:
        assistant = app.assistant
        with app.catalog.snapshot() as snapshot:
            app.index.view(snapshot)  # opened before the first deadline runs
        return _asked(collection, run, asking, _answering(assistant), assistant.generator.name, heard)


def _asked(
    collection: Collection, run: Run, asking: Asking, answerer: Answerer, name: str, heard: Heard | None
) -> Answers:
    queries = collection.questions
    reached = {one.query.id: one.reached for one in run.asked}

    def judged(replies: dict[int, Reply]) -> Answers:
        return judge_replies(
            [(queries[number], replies[number]) for number in sorted(replies)],
            reached,
            answerer=name,
            is_remote=asking.server is not None,
            deadline_s=asking.deadline_s,
            concurrency=asking.concurrency,
        )

    replies: dict[int, Reply] = {}
    questions = [query.query for query in queries]
    for number, reply in ask_each(questions, answerer, concurrency=asking.concurrency, deadline_s=asking.deadline_s):
        replies[number] = reply
        if heard:
            heard(judged({number: reply}).judged[0])
    return judged(replies)


def _answering(assistant: Assistant) -> Answerer:
    def reply(question: str) -> Reply:
        outcome = answer(assistant, question)
        if isinstance(outcome, Refusal):
            return Reply("refused", detail=outcome.reason)
        cited = tuple(Cited(citation.document_name, citation.quote) for citation in outcome.citations)
        return Reply("answered" if cited else "uncited", outcome.text, cited)

    return reply


def _embedder(shop: Workshop, chunking: Chunking) -> Embedder:
    return TruncatingEmbedder(shop.embedder) if chunking.rules == "reference" else shop.embedder


def _ingest(app: Application, collection: Collection, progress: Progress | None) -> None:
    """Brings the index to the state of the corpus: what is new or changed goes in, what is not in it goes out.

    The folder's real path is used: reached by a link, its files would count as other documents of the same words.
    """
    root = collection.corpus_dir.resolve()
    try:
        plan = app.plan(root)
    except NotFoundError as error:
        raise CollectionError(f"the corpus of {collection.name}: {error}") from error
    inside = root.as_uri().rstrip("/") + "/"
    if gone := [*plan.vanished, *(record for record in app.documents() if not record.uri.startswith(inside))]:
        app.remove(gone)
        plan = app.plan(root)  # a name that was taken is free now
    for record in app.ingest(plan):
        if progress:
            progress(record)
