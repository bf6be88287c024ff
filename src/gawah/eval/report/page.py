"""A run folder to one HTML page: no script, no network, no font of its own, the same bytes for the same run."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from gawah.errors import UsageError
from gawah.eval.report.answering import answers_section
from gawah.eval.report.comparison import comparison_section
from gawah.eval.report.gallery import gallery_section
from gawah.eval.report.gating import gate_section
from gawah.eval.report.layout import section
from gawah.eval.report.markup import Markup, element
from gawah.eval.report.reading import RunFacts
from gawah.eval.report.retrieval import at_a_glance, chunks_section, made_of, recall_section, times_section
from gawah.eval.report.words import questions

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"  # a browser would refuse what should not be there


def write_report(facts: RunFacts, target: Path, *, before: RunFacts | None = None) -> int:
    """Writes the page of a run to a file, compared with an earlier run over the same questions if one is given; returns
    its size in bytes.

    Raises ConfigurationError without matplotlib, UsageError when the earlier run is over other questions or the file
    cannot be written.
    """
    written = page(facts, before).encode("utf-8")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(written)
    except OSError as error:
        raise UsageError(f"cannot write the report to {target}: {error.strerror or error}") from error
    return len(written)


def page(facts: RunFacts, before: RunFacts | None = None) -> str:
    """The whole page; raises as `write_report` does."""
    metrics = facts.metrics
    sections = [
        section("made-of", "What was measured", made_of(metrics)),
        *([comparison_section(facts, before)] if before else []),
        recall_section(facts),
        gate_section(facts),
        answers_section(facts),
        chunks_section(metrics),
        times_section(facts),
        gallery_section(facts),
    ]
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("title", f"{metrics.set_name}: evaluation"),
        element("style", _style()),
    )
    asked = f"{questions(len(facts.answerable))} with an answer, {questions(len(facts.unanswerable))} to be refused."
    title = element(
        "header",
        element("h1", element("span", metrics.set_name, dir="auto"), ": evaluation"),
        element("p", asked),
        at_a_glance(metrics),
    )
    how = "Written by gawah report from the files of a run; nothing on this page was asked or computed a second time."
    body = element("body", element("main", title, *sections), element("footer", element("p", how)))
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _style() -> Markup:
    return Markup(resources.files("gawah.eval.report").joinpath("page.css").read_text(encoding="utf-8"))
