"""A folder with a corpus, judged queries and unanswerable ones to a `Collection`; nothing is indexed or judged here.

A line of `queries.jsonl` is an object with id, query, needle and document; a line of `unanswerable.jsonl` has id, query
and kind. Every other field is kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Literal, TypeVar

from gawah.errors import UsageError

KINDS = ("prose", "table", "code", "formula", "identifier", "code-mixed")
PHRASINGS = ("own", "ticket")
UNANSWERABLE_KINDS = ("near", "far")

Fold = Literal["md", "pdf"]
"""How a needle is compared: with white space collapsed, or by letters and digits only (see `match`)."""

_CORPUS = "corpus"
_QUERY_FIELDS = frozenset(
    {"id", "query", "needle", "document", "kind", "phrasing", "section", "page", "needle_cells", "needle_parts"}
)
_UNANSWERABLE_FIELDS = frozenset({"id", "query", "kind"})


class CollectionError(UsageError):
    """An evaluation set, or a file that is exchanged about one, cannot be used; the message names file and line."""

    code = "collection"


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """A question and the verbatim words that answer it, which stand once in the corpus.

    `document` is relative to the corpus folder and may hold "/". `page` counts from 1 ("3", or "3-4" for a needle over a
    page break), `needle_cells` are those of a table row, `needle_parts` the two sides of a page break.
    """

    id: str
    query: str
    needle: str
    document: str
    kind: str = "prose"
    phrasing: str = "own"
    section: str = ""
    page: str = ""
    needle_cells: tuple[str, ...] = ()
    needle_parts: tuple[str, ...] = ()
    extras: Mapping[str, object] = field(default_factory=dict, hash=False)

    @property
    def fold(self) -> Fold:
        """How its needle is compared; the document's name decides."""
        return "pdf" if self.document.lower().endswith(".pdf") else "md"


@dataclass(frozen=True, slots=True)
class UnanswerableQuery:
    """A question that must be refused: `near` by its words, or `far` from everything in the corpus."""

    id: str
    query: str
    kind: str
    extras: Mapping[str, object] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Collection:
    """An evaluation set, with at least one query."""

    name: str
    corpus_dir: Path
    queries: tuple[JudgedQuery, ...]
    unanswerable: tuple[UnanswerableQuery, ...]

    @property
    def questions(self) -> tuple[JudgedQuery | UnanswerableQuery, ...]:
        """All of them, in the order in which a run asks them."""
        return (*self.queries, *self.unanswerable)


def load_collection(folder: Path, *, corpus_dir: Path | None = None, queries_name: str = "queries.jsonl") -> Collection:
    """The set in a folder. Its documents are in `corpus/`, else in the other folder that has them, unless `corpus_dir` is given.

    Beside `NAME.jsonl` the questions to refuse are in `NAME-unanswerable.jsonl`, else in `unanswerable.jsonl`, which may be
    absent. Raises CollectionError for a folder, file or line that cannot be used, for an id
    that is used twice, and for a set without queries.
    """
    if not folder.is_dir():
        raise CollectionError(f"there is no evaluation set {folder}: it must be a folder with queries.jsonl")
    queries_path = folder / queries_name
    queries = load_queries(queries_path)
    if not queries:
        raise CollectionError(f"{queries_path} is empty: a set needs at least one question with a needle")
    unanswerable_path = queries_path.with_name(f"{queries_path.stem}-unanswerable.jsonl")
    if not unanswerable_path.exists():
        unanswerable_path = folder / "unanswerable.jsonl"
    unanswerable = load_unanswerable(unanswerable_path) if unanswerable_path.exists() else ()
    if twice := {query.id for query in queries} & {query.id for query in unanswerable}:
        raise CollectionError(f"{unanswerable_path}: the id {min(twice)!r} is also in {queries_name}; rename one")
    return Collection(
        name=folder.resolve().name,
        corpus_dir=corpus_dir if corpus_dir is not None else _corpus_of(folder, queries),
        queries=queries,
        unanswerable=unanswerable,
    )


def load_queries(path: Path) -> tuple[JudgedQuery, ...]:
    """The questions of a `queries.jsonl`, in order; raises CollectionError with file and line."""
    return _load(path, _judged_query)


def load_unanswerable(path: Path) -> tuple[UnanswerableQuery, ...]:
    """The questions of an `unanswerable.jsonl`, in order; raises CollectionError with file and line."""
    return _load(path, _unanswerable_query)


def _corpus_of(folder: Path, queries: Sequence[JudgedQuery]) -> Path:
    if (folder / _CORPUS).is_dir():
        return folder / _CORPUS
    others = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith((".", "_")))
    # The first part of a name tells: what follows may be inside an archive.
    tops = {part for query in queries for part in PurePosixPath(query.document).parts[:1]}
    holding = (
        [path for path in others if tops <= {inner.name for inner in path.iterdir()}] if len(others) > 1 else others
    )
    if len(holding) != 1:
        found = ", ".join(path.name for path in others) or "none"
        raise CollectionError(
            f"{folder} has no folder {_CORPUS}/, and of its other folders ({found}) not just one has the documents; "
            "put the documents into one"
        )
    return holding[0]


_Query = TypeVar("_Query", JudgedQuery, UnanswerableQuery)


def _load(path: Path, read_row: Callable[[Mapping[str, object]], _Query]) -> tuple[_Query, ...]:
    queries: list[_Query] = []
    line_of: dict[str, int] = {}
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip():
            continue
        try:
            query = read_row(_object(line))
        except ValueError as error:
            raise CollectionError(f"{path}:{number}: {error}") from error
        if query.id in line_of:
            raise CollectionError(
                f"{path}:{number}: the id {query.id!r} is also in line {line_of[query.id]}; rename one"
            )
        line_of[query.id] = number
        queries.append(query)
    return tuple(queries)


def _lines(path: Path) -> list[str]:
    """Lines end at LF only: U+2028 and its like are plain characters of a JSON string."""
    try:
        data = path.read_bytes()
    except OSError as error:
        hint = "; an evaluation set is a folder with corpus/ and queries.jsonl (docs/evaluation.md)"
        raise CollectionError(f"cannot read {path}: {error.strerror or error}{hint}") from error
    try:
        return data.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        raise CollectionError(f"{path}:{number}: not UTF-8 ({error.reason}); save the file as UTF-8") from error


def _object(line: str) -> Mapping[str, object]:
    try:
        row: Any = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON at character {error.colno}: {error.msg}") from error
    except RecursionError as error:
        raise ValueError("not JSON that can be read: nested too deeply") from error
    if not isinstance(row, dict):
        raise ValueError(f"a JSON object is wanted, not {_named(row)}")
    return row


def _judged_query(row: Mapping[str, object]) -> JudgedQuery:
    return JudgedQuery(
        id=_text(row, "id"),
        query=_text(row, "query"),
        needle=_text(row, "needle"),
        document=_text(row, "document"),
        kind=_optional(row, "kind") or "prose",
        phrasing=_optional(row, "phrasing") or "own",
        section=_optional(row, "section"),
        page=str(row["page"]) if type(row.get("page")) is int else _optional(row, "page"),
        needle_cells=_texts(row, "needle_cells"),
        needle_parts=_texts(row, "needle_parts"),
        extras=_extras(row, _QUERY_FIELDS),
    )


def _unanswerable_query(row: Mapping[str, object]) -> UnanswerableQuery:
    return UnanswerableQuery(
        id=_text(row, "id"),
        query=_text(row, "query"),
        kind=_text(row, "kind"),
        extras=_extras(row, _UNANSWERABLE_FIELDS),
    )


def _extras(row: Mapping[str, object], known: frozenset[str]) -> dict[str, object]:
    return {key: value for key, value in row.items() if key not in known}


def _optional(row: Mapping[str, object], key: str) -> str:
    """A string field, "" when it is absent, null or empty."""
    return "" if row.get(key) in (None, "") else _text(row, key)


def _text(row: Mapping[str, object], key: str) -> str:
    value = row.get(key)
    if value is None:
        raise ValueError(f"the field {key!r} is missing")
    if not isinstance(value, str):
        raise ValueError(f"the field {key!r} must be a string, not {_named(value)}")
    if not value.strip():
        raise ValueError(f"the field {key!r} is blank")
    return _encodable(key, value)


def _texts(row: Mapping[str, object], key: str) -> tuple[str, ...]:
    values = row.get(key)
    if values is None:
        return ()
    if not isinstance(values, list) or not all(isinstance(value, str) and value.strip() for value in values):
        raise ValueError(f"the field {key!r} must be a list of strings that are not blank")
    return tuple(_encodable(key, value) for value in values)


def _encodable(key: str, value: str) -> str:
    r"""A JSON escape such as \ud800 makes half a character, which no document can hold."""
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise ValueError(f"the field {key!r} holds half a character (a lone surrogate)")
    return value


def _named(value: object) -> str:
    names = {type(None): "null", bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list"}
    return names.get(type(value), "an object")
