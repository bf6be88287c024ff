"""The command that measures: eval."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gawah.cli.common import PATH, common_options, load, print_columns
from gawah.cli.terminal import print_json, say

if TYPE_CHECKING:
    from gawah.eval.baseline import Verdict
    from gawah.types import DocumentRecord

_WORSE = 1  # exit code


@click.command("eval")
@click.argument("folder", metavar="SET", type=PATH)
@click.option("--strategy", type=click.Choice(list("ABCDEF")), default="E", show_default=True, help="How to cut.")
@click.option("--reference", is_flag=True, help="The reference chunker instead of the block-aware one.")
@click.option(
    "--system", "systems", multiple=True, type=click.Choice(["dense", "bm25", "rrf", "rerank"]),
    help="Only this system (repeatable); default: all.",
)  # fmt: skip
@click.option("--queries", "queries_name", default="queries.jsonl", show_default=True, help="File of the questions.")
@click.option(
    "--out", type=PATH, help="Write the run here: metrics.json, questions.jsonl, *.run."
)
@click.option("--work", type=PATH, help="Folder of the indexes; default: below the cache.")
@click.option("--baseline", type=PATH, help="An earlier run: exit code 1 when this one is worse.")
@click.option(
    "--max-bluff", type=click.FloatRange(0, 1), metavar="SHARE", help="Exit code 1 when more of what must be refused is answered."
)
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
    chunking = Chunking(strategy, "reference" if reference else "blocks", settings.target_chars)
    shop = workshop(settings, work)
    run = evaluate(shop, collection, chunking=chunking, systems=systems, progress=_say_document)
    verdict = judge_run(run, baseline=before, max_bluff=max_bluff)
    metrics = write_files(run, out) if out else metrics_of(run)
    for line in run.failed:
        say(f"failed: {line}", err=True)
    if as_json:
        print_json(_body(metrics, verdict))
    else:
        _print_metrics(metrics)
        _print_verdict(verdict, gated=baseline is not None or max_bluff is not None)
    return 0 if verdict.passes else _WORSE


def _say_document(record: DocumentRecord) -> None:
    say(f"{record.state.value}  {record.name}", err=True)


def _body(metrics: Mapping[str, Any], verdict: Verdict) -> dict[str, Any]:
    from gawah.wire import to_json

    comparisons = {name: to_json(one) for name, one in verdict.comparisons.items()}
    return {**metrics, "comparisons": comparisons, "passes": verdict.passes, "reasons": list(verdict.reasons)}


def _print_metrics(metrics: Mapping[str, Any]) -> None:
    n, chunks, tokens = metrics["n"], metrics["over_window"], metrics["tokens"]
    say(f"{metrics['set']}: {n['documents']} documents, {n['chunks']} chunks by {metrics['strategy']}")
    say()
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
    say()
    rows = [
        ["answers destroyed", _count(metrics["destroyed"]), "no chunk holds the needle whole"],
        ["sentences whole", _count(metrics["survival"]), ""],
        ["over the window", str(chunks["before_guard"]), f"{chunks['truncated']} truncated"],
        ["tokens embedded", str(tokens["embedded"]), f"{tokens['context_share']:.1%} of them headers or overlap"],
    ]
    for rate in ("give_ups", "bluffs"):
        rows.append([rate.replace("_", "-"), _share(gate[rate]), ""])
        rows += [[f"  {group}", _share(of), ""] for group, of in gate[rate].items() if isinstance(of, dict)]
    rows[-1 - sum(isinstance(of, dict) for of in gate["bluffs"].values())][2] = (
        f"at most {gate['bluffs']['at_most']:.1%}"
    )
    rows += [
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
        say()
        print_columns([
            ["against the baseline", "better", "worse", "same", "p"],
            *(
                [name, f"+{one.wins}", f"-{one.losses}", str(one.ties), f"{one.p:.4f}"]
                for name, one in verdict.comparisons.items()
            ),
        ])  # fmt: skip
    if gated:
        say()
        say("PASS" if verdict.passes else "FAIL")
    for reason in verdict.reasons:
        say(f"  {reason}")


def _count(of: Mapping[str, int]) -> str:
    return f"{of['k']}/{of['n']}"


def _share(of: Mapping[str, Any]) -> str:
    """As in 38/64 [.47,.71]: the interval is Wilson's, 95 %."""
    if not of["n"]:
        return "0/0"
    low, high = (f"{of[side]:.2f}".removeprefix("0") for side in ("low", "high"))
    return f"{of['k']}/{of['n']} [{low},{high}]"
