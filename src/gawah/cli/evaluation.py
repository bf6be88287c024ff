"""The commands that measure: eval, report."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gawah.cli.common import PATH, common_options, counted, load, print_columns
from gawah.cli.terminal import print_json, say

if TYPE_CHECKING:
    from gawah.chunk import Chunking
    from gawah.eval import Collection
    from gawah.eval.answers import Answers, Judged
    from gawah.eval.baseline import Verdict
    from gawah.eval.run import Run
    from gawah.evaluate import Asking, Workshop
    from gawah.types import DocumentRecord

_WORSE = 1  # exit codes
_NOTHING_CAME = 7
_MOST_AT_ONCE = 64


@click.command("eval", short_help="Measure retrieval, gate and quotes on a set.")
@click.argument("folder", metavar="SET", type=PATH)
@click.option("--strategy", type=click.Choice(list("ABCDEF")), default="E", show_default=True, help="How to cut.")
@click.option("--reference", is_flag=True, help="The reference chunker instead of the block-aware one.")
@click.option(
    "--system", "systems", multiple=True, type=click.Choice(["dense", "bm25", "rrf", "rerank"]),
    help="Only this system (repeatable); default: all.",
)  # fmt: skip
@click.option("--queries", "queries_name", default="queries.jsonl", show_default=True, help="File of the questions.")
@click.option("--out", type=PATH, help="Write the run here: metrics.json, questions.jsonl, *.run.")
@click.option("--work", type=PATH, help="Folder of the indexes; default: below the cache.")
@click.option("--baseline", type=PATH, help="An earlier run: exit code 1 when this one is worse.")
@click.option(
    "--max-bluff",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="Exit code 1 when more of what must be refused is answered.",
)
@click.option("--report", type=PATH, metavar="FILE", help="Write the run as a page (see gawah report).")
@click.option("--answers", is_flag=True, help="Ask every question too, with the configured generator.")
@click.option(
    "--server", metavar="URL", help="Ask a running server instead: an OpenAI-compatible URL that ends in /v1."
)
@click.option(
    "--deadline",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="For one answer; default: generator_timeout_s.",
)
@click.option(
    "--concurrency", type=click.IntRange(1, _MOST_AT_ONCE), help="How many questions are asked at a time; default: 1."
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
    report: Path | None,
    answers: bool,
    server: str | None,
    deadline: float | None,
    concurrency: int | None,
    store: Path | None,
    assignments: tuple[str, ...],
    as_json: bool,
) -> int:
    """Measure retrieval, gate and citations on a set of judged questions; no model writes unless --answers is given.

    SET holds corpus/, queries.jsonl and unanswerable.jsonl. With --baseline or --max-bluff this is a deploy gate. With
    --answers or --server every question is asked, and what the retriever missed is told from what the generator missed.
    """
    from gawah.chunk import Chunking
    from gawah.eval import load_collection
    from gawah.eval.baseline import judge_run
    from gawah.eval.record import metrics_of, read_baseline, write_files
    from gawah.evaluate import evaluate, prepare_asking, workshop

    if not (answers or server) and (deadline or concurrency):
        raise click.UsageError("--deadline and --concurrency are for --answers or --server")
    settings = load(context, store, assignments).settings
    collection = load_collection(folder, queries_name=queries_name)
    before = read_baseline(baseline) if baseline else None  # before anything is written: --out may name the same folder
    drawn = _report_of(baseline) if report else None
    chunking = Chunking(strategy, "reference" if reference else "blocks", settings.target_chars)
    shop = workshop(settings, work)
    asking = None
    if answers or server:  # what cannot be asked is said before anything is done
        asking = prepare_asking(
            settings, shop.embedder, deadline_s=deadline, concurrency=concurrency or 1, server=server or ""
        )
    run = evaluate(shop, collection, chunking=chunking, systems=systems, progress=_say_document)
    verdict = judge_run(run, baseline=before, max_bluff=max_bluff)
    metrics = write_files(run, out) if out else metrics_of(run)
    for line in run.failed:
        say(f"failed: {line}", err=True)
    asked = _ask(shop, collection, run, asking, chunking, out) if asking else None
    if asked is not None:
        verdict = judge_run(run, baseline=before, max_bluff=max_bluff, answers=asked)
        metrics = write_files(run, out, asked) if out else metrics_of(run, asked)
    if report and drawn:
        drawn(run, asked, report)
    if as_json:
        print_json(_body(metrics, verdict))
    else:
        _print_metrics(metrics)
        _print_verdict(verdict, gated=baseline is not None or max_bluff is not None)
    if asked is not None and asked.none_came:
        say(f"gawah: nothing came from {asked.answerer}: {asked.judged[0].reply.detail}", err=True)
        return _NOTHING_CAME
    return 0 if verdict.passes else _WORSE


def _report_of(baseline: Path | None) -> Callable[[Run, Answers | None, Path], None]:
    """What will write the report of a run; what it lacks is said before anything is measured."""
    from gawah.eval.record import write_files
    from gawah.eval.report import read_facts, require_matplotlib, write_report

    require_matplotlib()
    before = read_facts(baseline) if baseline else None

    def write(run: Run, asked: Answers | None, target: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="gawah-report-") as folder:
            write_files(run, Path(folder), asked)
            write_report(read_facts(Path(folder)), target, before=before)

    return write


@click.command("report", short_help="Draw a measured run as one HTML page.")
@click.argument("folder", metavar="RUN", type=PATH)
@click.option("-o", "--output", type=PATH, metavar="FILE", help="Where to write; default: report.html in RUN.")
@click.option("--baseline", type=PATH, metavar="RUN", help="An earlier run over the same questions.")
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
        say(str(target))


def _ask(
    shop: Workshop, collection: Collection, run: Run, asking: Asking, chunking: Chunking, out: Path | None
) -> Answers:
    """Asks, says what comes, and keeps it below `out` as it comes."""
    from gawah.eval.record import AnswerLog
    from gawah.evaluate import ask_set

    def said(one: Judged) -> None:
        say(f"{one.reply.status}  {one.query.id}", err=True)

    if out is None:
        return ask_set(shop, collection, run, asking, chunking=chunking, heard=said)
    with AnswerLog(out, [query.id for query in collection.questions]) as log:

        def kept(one: Judged) -> None:
            log.add(one)
            said(one)

        return ask_set(shop, collection, run, asking, chunking=chunking, heard=kept)


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
    if "answers" in metrics:
        _print_answers(metrics["answers"])


def _print_answers(answers: Mapping[str, Any]) -> None:
    """The tally by group, then whose failure it was."""
    tally = answers["tally"]
    at_once = counted(answers["concurrency"], "question")
    say()
    say(f"asked {answers['answerer']}, {at_once} at a time, at most {answers['deadline_s']:g} s each")
    say()
    columns = {**tally["answerable"], **{f"unanswerable {kind}": of for kind, of in tally["unanswerable"].items()}}
    statuses = list(tally["answerable"]["all"])
    rows = [["", *statuses]]
    for name, of in columns.items():
        rows.append([name, *("–" if of[status] is None else _share(of[status]) for status in statuses)])
    print_columns(rows)
    right, retriever, generator = (
        answers[name] and answers[name]["all"] for name in ("answered_right", "retriever_missed", "generator_missed")
    )
    say()
    judge = "a quote holds the needle" if answers["judged_by"] == "quotes" else "the answer holds the needle's words"
    rows = [["answered right", _share(right), judge], ["  in words", _share(right["contains"]), ""]]
    if retriever:
        parts = ", ".join(
            f"{retriever[name]['k']} {name.replace('_', ' ')}" for name in ("not_found", "not_admitted", "refused")
        )
        rows += [
            ["retriever missed", _share(retriever), parts],
            ["generator missed", _share(generator), f"{generator['uncited']['k']} uncited"],
            ["no answer", _share(answers["no_answer"]["all"]), "the needle was there, nothing came of it"],
        ]
    else:
        rows.append(["retriever missed", "unknown", "its retrieval cannot be seen from here"])
    rows.append(["bluffs", _share(answers["bluffs"]), f"at most {answers['bluffs']['at_most']:.1%}"])
    if answers["times_ms"]["n"]:
        spent = answers["times_ms"]
        rows.append(["time an answer", f"{spent['p50']:.1f} ms", f"p95 {spent['p95']:.1f} ms"])
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
