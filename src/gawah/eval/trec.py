"""Runs and judgements to the text files of TREC and back, so that `trec_eval` and `ir_measures` can be used beside this.

A run line is `query Q0 document rank score tag`, a qrels line `query 0 document grade`, with blanks between. An id may
hold blanks, which the formats cannot: blanks, control characters and "%" are written as %XX of their UTF-8 bytes.

`trec_eval` orders by score alone, keeps scores in single precision and puts equal ones in descending order of the ids: to
be judged in exactly the order shown, write `with_rank_scores(run)`. Our Recall@k (is a chunk with the needle among the
first k) is `Success@k` there.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote, unquote_to_bytes

from gawah.errors import UsageError
from gawah.eval.collection import CollectionError, JudgedQuery
from gawah.eval.match import folded_text, needle_of
from gawah.types import Hit, Ranking

Run = Mapping[str, Ranking]
"""One system's rankings by query id."""

Qrels = Mapping[str, Mapping[str, int]]
"""Grades by query id and chunk id; 1 holds the needle."""

DESTROYED = "destroyed"  # stands for the chunk that should hold a needle and does not exist
_UNSAFE = re.compile(r"[\s%\x00-\x20\x7f-\xa0\ufeff]")
_ESCAPED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_RUN_FIELDS = 6
_QREL_FIELDS = 4

N = TypeVar("N", int, float)


def qrels_of(queries: Sequence[JudgedQuery], chunks: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """Grade 1 for each chunk, given as texts by id, that holds a query's needle whole.

    A query whose needle no chunk holds is judged against `DESTROYED`, which no run returns: other tools would leave a
    query without judgements out of their means instead of counting it as not found.
    """
    folded = {
        fold: {chunk_id: folded_text(text, fold) for chunk_id, text in chunks.items()}
        for fold in sorted({query.fold for query in queries})
    }
    qrels: dict[str, dict[str, int]] = {}
    for query in queries:
        needle = needle_of(query)
        holders = {chunk_id: 1 for chunk_id, text in folded[query.fold].items() if needle.is_in(text)}
        qrels[query.id] = holders or {DESTROYED: 1}
    return qrels


def with_rank_scores(run: Run) -> dict[str, Ranking]:
    """The run with scores that fall by 1 from rank to rank, down to 1, so that no tool can see a tie."""
    return {
        query_id: replace(
            ranking, hits=tuple(replace(hit, score=float(len(ranking.hits) - i)) for i, hit in enumerate(ranking.hits))
        )
        for query_id, ranking in run.items()
    }


def write_run(path: Path, run: Run) -> None:
    """Writes a run, scores in full precision. A query without hits leaves no line: the format has no way to say it.

    Raises UsageError when rankings are of several systems, or a score is no finite number.
    """
    path.write_text("".join(f"{line}\n" for line in run_lines(run)), encoding="utf-8", newline="\n")


def read_run(path: Path) -> dict[str, Ranking]:
    """The rankings of a run file by query id, ordered by score, equal scores by the rank written, then by id.

    Ranks are counted anew from 1, and `cutoff` is the number of hits, since the file does not tell. Raises
    CollectionError, with file and line, for a line that is no hit, a hit that stands twice, and more than one system.
    """
    return parse_run(_read(path), str(path))


def write_qrels(path: Path, qrels: Qrels) -> None:
    """Writes judgements."""
    path.write_text("".join(f"{line}\n" for line in qrels_lines(qrels)), encoding="utf-8", newline="\n")


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """Judgements by query id; raises CollectionError, with file and line, for what is none, or stands twice."""
    return parse_qrels(_read(path), str(path))


def run_lines(run: Run) -> Iterator[str]:
    """The lines of a run file; raises as `write_run` does."""
    systems = sorted({ranking.system for ranking in run.values()})
    if len(systems) > 1:
        raise UsageError(f"a run file holds one system, not {', '.join(systems)}; write one file each")
    for query_id, ranking in run.items():
        for hit in ranking.hits:
            if not math.isfinite(hit.score):
                raise UsageError(
                    f"the score of {hit.chunk_id} for {query_id!r} is {hit.score}; a run file holds numbers"
                )
            words = (_escape(query_id), "Q0", _escape(hit.chunk_id), str(hit.rank), repr(float(hit.score)))
            yield " ".join((*words, _escape(ranking.system)))


def qrels_lines(qrels: Qrels) -> Iterator[str]:
    """The lines of a qrels file."""
    for query_id, grades in qrels.items():
        for chunk_id, grade in grades.items():
            yield f"{_escape(query_id)} 0 {_escape(chunk_id)} {grade}"


def parse_run(lines: Iterable[str], name: str) -> dict[str, Ranking]:
    """The rankings in the lines of a run file; `name` stands in errors."""
    scored: dict[str, list[tuple[float, int, str]]] = {}
    seen: set[tuple[str, str]] = set()
    system: str | None = None
    for number, words in _split(lines, name, _RUN_FIELDS):
        query_id, chunk_id, tag = _unescape(words[0]), _unescape(words[2]), _unescape(words[5])
        _note_new((query_id, chunk_id), seen, f"{name}:{number}")
        if system is not None and tag != system:
            raise CollectionError(f"{name}:{number}: two systems in one run file, {system!r} and {tag!r}; split it")
        system = tag
        score = _number(float, words[4], f"{name}:{number}", "score")
        if not math.isfinite(score):
            raise CollectionError(f"{name}:{number}: the score {words[4]!r} is no finite number")
        scored.setdefault(query_id, []).append((-score, _number(int, words[3], f"{name}:{number}", "rank"), chunk_id))
    return {query_id: _ranking(system or "", hits) for query_id, hits in scored.items()}


def parse_qrels(lines: Iterable[str], name: str) -> dict[str, dict[str, int]]:
    """The judgements in the lines of a qrels file; `name` stands in errors."""
    qrels: dict[str, dict[str, int]] = {}
    seen: set[tuple[str, str]] = set()
    for number, words in _split(lines, name, _QREL_FIELDS):
        query_id, chunk_id = _unescape(words[0]), _unescape(words[2])
        _note_new((query_id, chunk_id), seen, f"{name}:{number}")
        qrels.setdefault(query_id, {})[chunk_id] = _number(int, words[3], f"{name}:{number}", "grade")
    return qrels


def _read(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise CollectionError(f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise CollectionError(f"{path} is not UTF-8 ({error.reason}); save the file as UTF-8") from error


def _split(lines: Iterable[str], name: str, n_fields: int) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(lines, start=1):
        words = line.split()
        if not words:
            continue
        if len(words) != n_fields:
            raise CollectionError(f"{name}:{number}: {len(words)} fields where {n_fields} are wanted")
        yield number, words


def _note_new(pair: tuple[str, str], seen: set[tuple[str, str]], place: str) -> None:
    if pair in seen:
        raise CollectionError(f"{place}: {pair[1]!r} stands twice for the query {pair[0]!r}; remove one line")
    seen.add(pair)


def _number(read: Callable[[str], N], word: str, place: str, what: str) -> N:
    try:
        return read(word)
    except ValueError as error:
        raise CollectionError(f"{place}: the {what} {word!r} is no number") from error


def _ranking(system: str, scored: list[tuple[float, int, str]]) -> Ranking:
    hits = tuple(Hit(chunk_id, -score, rank) for rank, (score, _, chunk_id) in enumerate(sorted(scored), start=1))
    return Ranking(system, hits, len(hits))


def _escape(identifier: str) -> str:
    if not identifier:
        raise UsageError("an empty id or system cannot stand in a TREC file; name it")
    return _UNSAFE.sub(lambda found: quote(found[0], safe=""), identifier)


def _unescape(word: str) -> str:
    return _ESCAPED.sub(_decoded, word)


def _decoded(found: re.Match[str]) -> str:
    """Foreign files may hold a "%" of their own: what is no UTF-8 stays as it is."""
    try:
        return unquote_to_bytes(found[0]).decode("utf-8")
    except UnicodeDecodeError:
        return found[0]
