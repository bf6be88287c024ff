"""Each finding of the method, held against an experiment: a sentence that is computed, whatever comes out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from gawah.eval import Destroyed
from gawah.types import Comparison

SIGNIFICANT_P = 0.05
REPEATS, IN_CHANCE, CONTRARY, NOT = "Repeats", "Not shown", "Contradicted", "Does not repeat"


class Compared(Protocol):
    """What findings need of an experiment."""

    def destroyed(self, form: str) -> Destroyed: ...

    def strategies(self, treatment: str, baseline: str, system: str, k: int) -> Comparison: ...

    def whole(self, treatment: str, baseline: str, system: str, k: int) -> Comparison:
        """Over the questions only whose answer the baseline holds whole: what is mended is left out."""
        ...

    def systems(self, treatment: str, baseline: str, form: str, k: int) -> Comparison: ...


def findings(experiment: Compared) -> str:
    """A Markdown list, in the method's order: verdict, claim, evidence."""
    return "".join(f"- **{verdict}**: {claim} {evidence}\n" for verdict, claim, evidence in _each(experiment))


def better(c: Comparison) -> str:
    """The verdict on a claim that the treatment wins."""
    if c.p < SIGNIFICANT_P:
        return REPEATS if c.wins > c.losses else CONTRARY
    return IN_CHANCE if c.wins > c.losses else NOT


def equal(*comparisons: Comparison) -> str:
    """The verdict on a claim that there is no difference to be seen; that is no proof that there is none."""
    return REPEATS if all(c.p >= SIGNIFICANT_P for c in comparisons) else CONTRARY


def counted(c: Comparison) -> str:
    return f"+{c.wins}/−{c.losses}, p = {c.p:.4f}" if c.p >= 0.0001 else f"+{c.wins}/−{c.losses}, p = {c.p:.1e}"


def _each(x: Compared) -> Iterator[tuple[str, str, str]]:
    lost = {form: x.destroyed(form) for form in "ABCDEF"}
    n = lost["A"].n_needles
    in_text = {form: len(lost[form].in_text) for form in lost}
    yield (
        REPEATS if in_text["A"] else NOT,
        "blind cutting destroys answers: no chunk holds them whole, and no ranking finds them (method: 4 of 32).",
        f"A destroys {in_text['A']} of {n}.",
    )
    yield (
        REPEATS if in_text["A"] and not in_text["B"] else NOT,
        "overlap mends that (method: every strategy with overlap loses none).",
        f"B destroys {in_text['B']} of {n} in what is embedded; what can be quoted lacks {len(lost['B'].in_content)}.",
    )
    yield (
        REPEATS if not any(in_text[form] for form in "CE") else NOT,
        "cutting at boundaries destroys none.",
        f"C and D lack {in_text['C']} and {in_text['D']}, E and F {in_text['E']} and {in_text['F']} of {n}{_why(in_text)}.",
    )
    eighth, twentieth = (x.whole("B", "A", "dense", k) for k in (8, 20))
    everything = "; ".join(f"rank {k}: {counted(x.strategies('B', 'A', 'dense', k))}" for k in (8, 20))
    of_whole = f"rank 8: {counted(eighth)}; rank 20: {counted(twentieth)}"
    yield (
        equal(eighth, twentieth),
        "overlap improves nothing else (method: B – A at rank 8 +8/−6, p = 0.79; at rank 20 +9/−7, p = 0.80).",
        f"B – A, dense, {everything}. Of these, where A holds the answer whole, {of_whole}.",
    )
    harm = x.strategies("E", "F", "dense", 20)
    yield (
        better(harm),
        "overlap on top of a header hurts (method: F – E at rank 20 +2/−6).",
        f"F – E, dense, rank 20: {counted(x.strategies('F', 'E', 'dense', 20))}.",
    )
    for baseline, claim in (
        ("A", "header and boundaries together buy retrieval (method: E – A at rank 20 +18/−3, p = 0.0015)."),
        ("C", "it is the header, not the boundaries (method: E – C at rank 20 +12/−2, p = 0.0129)."),
    ):
        at_20 = x.strategies("E", baseline, "dense", 20)
        others = "; ".join(f"rank {k}: {counted(x.strategies('E', baseline, 'dense', k))}" for k in (1, 8))
        yield better(at_20), claim, f"E – {baseline}, dense, rank 20: {counted(at_20)}; {others}."
    titled = {k: x.strategies("product", "no header", "dense", k) for k in (1, 8, 20)}
    yield (
        better(titled[20]),
        "the same over the product's cuts, whose header has the document's own title (the reference's has the file's name).",
        f"Dense, {'; '.join(f'rank {k}: {counted(one)}' for k, one in titled.items())}.",
    )
    yield from _of_systems(x)


def _of_systems(x: Compared) -> Iterator[tuple[str, str, str]]:
    first, eighth = (x.systems("bm25", "dense", "E", k) for k in (1, 8))
    yield better(first), "BM25 beats dense at rank 1 (method: more than twice as often right).", f"{counted(first)}."
    behind = x.systems("dense", "bm25", "E", 8)
    yield better(behind), "and is well behind it at rank 8.", f"BM25 – dense, rank 8: {counted(eighth)}."
    for leg, said in (("bm25", "+10/−3, p = 0.09"), ("dense", "+10/−6, p = 0.45")):
        fourth = x.systems("rrf", leg, "E", 4)
        others = "; ".join(f"rank {k}: {counted(x.systems('rrf', leg, 'E', k))}" for k in (1, 8))
        yield (
            equal(fourth),
            f"on so few questions fusion cannot be told from {leg} (method, rank 4: {said}).",
            f"RRF – {leg}, rank 4: {counted(fourth)}; {others}.",
        )
    top = x.systems("rerank", "rrf", "E", 1)
    yield (
        better(top),
        "reranking the shortlist lifts the top of the list (method: a cross-encoder; here late interaction).",
        f"Rerank – RRF, rank 1: {counted(top)}; rank 8: {counted(x.systems('rerank', 'rrf', 'E', 8))}.",
    )


def _why(in_text: dict[str, int]) -> str:
    if not in_text["C"]:
        return ""
    return "; the reference drops what stands before a document's first section, the product does not"
