"""The commands that measure: eval, report."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gawah.cli.common import common_options, load, print_columns, print_json

if TYPE_CHECKING:
    from gawah.eval.baseline import Verdict
    from gawah.eval.run import Run
    from gawah.types import DocumentRecord

_WORSE = 1  # exit code


@click.command("eval")
@click.argument("folder", metavar="SET", type=click.Path(path_type=Path))
@click.option("--strategy", type=click.Choice(list("ABCDEF")), default="E", show_default=True, help="How to cut.")
@click.option("--reference", is_flag=True, help="The reference chunker instead of the block-aware one.")
@click.option(
    "--system", "systems", multiple=True, type=click.Choice(["dense", "bm25", "rrf", "rerank"]),
    help="Only this system (repeatable); default: all.",
)  # fmt: skip
@click.option("--queries", "queries_name", default="queries.jsonl", show_default=True, help="File of the questions.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Write the run here: metrics.json, questions.jsonl, *.run."
)
@click.option("--work", type=click.Path(path_type=Path), help="Folder of the indexes; default: below the cache.")
@click.option("--baseline", type=click.Path(path_type=Path), help="An earlier run: exit code 1 when this one is worse.")
@click.option(
    "--max-bluff", type=click.FloatRange(0, 1), metavar="SHARE", help="Exit code 1 when more of what must be refused is answered."
)
@click.option("--report", type=click.Path(path_type=Path), metavar="FILE", help="Write the run as a page (see gawah report).")
@common_options
@click.pass_context
def evaluate_set(
    context: click.Context,
    folder: Path,
    strategy: str,
    reference: bool,
    systems: tuple[str, ...],
    queries_name: str,
    out: Path | None,
    work: Path | None,
    baseline: Path | None,
    max_bluff: float | None,
    report: Path | None,
    store: Path | None,
    assignments: tuple[str, ...],
    as_json: bool,
) -> int:
    """Measure retrieval, gate and citations on a set of judged questions; no model writes.

    SET holds corpus/, queries.jsonl and unanswerable.jsonl. With --baseline or --max-bluff this is a deploy gate.
    """
    from gawah.chunk import Chunking
    from gawah.eval import load_collection
    from gawah.eval.baseline import judge_run
    from gawah.eval.record import metrics_of, read_baseline, write_files
    from gawah.evaluate import evaluate, workshop

    settings = load(context, store, assignments).settings
    collection = load_collection(folder, queries_name=queries_name)
    before = read_baseline(baseline) if baseline else None  # before anything is written: --out may name the same folder
    drawn = _report_of(baseline) if report else None
    chunking = Chunking(strategy, "reference" if reference else "blocks", settings.target_chars)
    shop = workshop(settings, work)
    run = evaluate(shop, collection, chunking=chunking, systems=systems, progress=_say_document)
    verdict = judge_run(run, baseline=before, max_bluff=max_bluff)
    metrics = write_files(run, out) if out else metrics_of(run)
    if report and drawn:
        drawn(run, report)
    for line in run.failed:
        click.echo(f"failed: {line}", err=True)
    if as_json:
        print_json(_body(metrics, verdict))
    else:
        _print_metrics(metrics)
        _print_verdict(verdict, gated=baseline is not None or max_bluff is not None)
    return 0 if verdict.passes else _WORSE


def _report_of(baseline: Path | None) -> Callable[[Run, Path], None]:
    """What will write the report of a run; what it lacks is said before anything is measured."""
    from gawah.eval.record import write_files
    from gawah.eval.report import read_facts, require_matplotlib, write_report

    require_matplotlib()
    before = read_facts(baseline) if baseline else None

    def write(run: Run, target: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="gawah-report-") as folder:
            write_files(run, Path(folder))
            write_report(read_facts(Path(folder)), target, before=before)

    return write


@click.command("report")
@click.argument("folder", metavar="RUN", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Where to write; default: report.html in RUN."
)
@click.option("--baseline", type=click.Path(path_type=Path), metavar="RUN", help="An earlier run over the same questions.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def report_run(folder: Path, output: Path | None, baseline: Path | None, as_json: bool) -> None:
    """Draw a run as one HTML page: figures with their numbers, and the questions that went wrong.

    RUN is a folder that `gawah eval --out` wrote. The page needs no network and runs no script.
    """
    from gawah.eval.report import read_facts, require_matplotlib, write_report

    require_matplotlib()
    facts = read_facts(folder)
    before = read_facts(baseline) if baseline else None
    target = output or facts.written.folder / "report.html"
    n_bytes = write_report(facts, target, before=before)
    if as_json:
        print_json({"report": str(target), "bytes": n_bytes})
    else:
        click.echo(str(target))


def _say_document(record: DocumentRecord) -> None:
    click.echo(f"{record.state.value}  {record.name}", err=True)


def _body(metrics: Mapping[str, Any], verdict: Verdict) -> dict[str, Any]:
    from gawah.wire import to_json

    comparisons = {name: to_json(one) for name, one in verdict.comparisons.items()}
    return {**metrics, "comparisons": comparisons, "passes": verdict.passes, "reasons": list(verdict.reasons)}


def _print_metrics(metrics: Mapping[str, Any]) -> None:
    n, chunks, tokens = metrics["n"], metrics["over_window"], metrics["tokens"]
    click.echo(f"{metrics['set']}: {n['documents']} documents, {n['chunks']} chunks by {metrics['strategy']}\n")
    rows: list[list[str]] = []
    for system, groups in metrics["systems"].items():
        for group, measures in groups.items():
            names = [name for name in measures if name != "mrr"]
            if not rows:
                rows.append(["system", "asked", "n", *names, "mrr"])
            cells = [_share(measures[name]) for name in names]
            rows.append([system, group, str(measures[names[0]]["n"]), *cells, f"{measures['mrr']:.3f}"])
    print_columns(rows)
    gate, citation = metrics["gate"], metrics["citation"]
    click.echo()
    rows = [
        ["answers destroyed", _count(metrics["destroyed"]), "no chunk holds the needle whole"],
        ["sentences whole", _count(metrics["survival"]), ""],
        ["over the window", str(chunks["before_guard"]), f"{chunks['truncated']} truncated"],
        ["tokens embedded", str(tokens["embedded"]), f"{tokens['context_share']:.1%} of them headers or overlap"],
    ]
    hidden = gate["bluffs_withheld"]
    for rate in ("give_ups", "bluffs"):
        rows.append([rate.replace("_", "-"), _share(gate[rate]), ""])
        rows += [[f"  {group}", _share(of), ""] for group, of in gate[rate].items() if isinstance(of, dict)]
    rows[-1 - sum(isinstance(of, dict) for of in gate["bluffs"].values())][2] = (
        f"at most {gate['bluffs']['at_most']:.1%}"
    )
    rows += [
        ["answered, answer hidden", _share(hidden), "of answerable questions, asked as if no answer had been found"],
        ["answered right", _share(gate["answered_right"]), "of those answered, an admitted passage holds the needle"],
        ["quotes exact", _count(citation["quote_exact"]), ""],
        ["pages right", _count(citation["page_right"]), ""],
        [
            "time a question",
            f"{metrics['times_ms']['total']['p50']:.1f} ms",
            f"p95 {metrics['times_ms']['total']['p95']:.1f} ms",
        ],
    ]
    print_columns(rows)


def _print_verdict(verdict: Verdict, *, gated: bool) -> None:
    if verdict.comparisons:
        click.echo()
        print_columns([
            ["against the baseline", "better", "worse", "same", "p"],
            *(
                [name, f"+{one.wins}", f"-{one.losses}", str(one.ties), f"{one.p:.4f}"]
                for name, one in verdict.comparisons.items()
            ),
        ])  # fmt: skip
    if gated:
        click.echo("\nPASS" if verdict.passes else "\nFAIL")
    for reason in verdict.reasons:
        click.echo(f"  {reason}")


def _count(of: Mapping[str, int]) -> str:
    return f"{of['k']}/{of['n']}"


def _share(of: Mapping[str, Any]) -> str:
    """As in 38/64 [.47,.71]: the interval is Wilson's, 95 %."""
    if not of["n"]:
        return "0/0"
    low, high = (f"{of[side]:.2f}".removeprefix("0") for side in ("low", "high"))
    return f"{of['k']}/{of['n']} [{low},{high}]"
