"""What the growth benchmark measured, as tables of Markdown: a column a size, the last with graphs of neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

Found = dict[str, Any]

_ASKED = ("open_cold_ms", "open_warm_ms", "first_answer_cold_ms", "anonymous_mib", "with_mapped_files_mib")
_GROWN = (
    "rows_per_s",
    "segments",
    "index_bytes_per_chunk",
    "catalog_bytes_per_chunk",
    "peak_anonymous_mib",
    "memory_before_mib",
)


def p50(found: Found, leg: str) -> float:
    return float(found["query"]["p50"] if leg == "query" else found["legs"][leg]["p50"])


def as_markdown(results: Found) -> str:
    graphs = results["hnsw"].get("asked")
    every: list[Found] = [*results["asked"], *([graphs] if graphs else [])]
    heads = [f"{found['chunks']:,}" for found in results["asked"]] + ([f"{graphs['chunks']:,} hnsw"] if graphs else [])
    machine = results["machine"]
    said = (
        f"{results['real_passages']:,} real passages; {machine['cores']} cores; load at the end {machine['load']:.1f}; "
        f"{results.get('minutes', 0)} minutes."
    )
    legs = ("query", *results["asked"][0]["legs"])
    full_codes = results["asked"][min(1, len(results["asked"]) - 1)]["legs"]["rerank"]["p50"]
    rows = [
        _row("chunks", heads),
        "|---|" + "---:|" * len(heads),
        *(_row(f"{_named(leg)}, ms p50 / p95{_grows(results, leg)}", _cells(every, leg)) for leg in legs),
        _row("whole query, processor ms p50", _each(every, lambda found: f"{found['query_cpu']['p50']:.1f}")),
        _row(
            "whole query with every token code, ms p50",
            _each(every, lambda found: f"{p50(found, 'query') - p50(found, 'rerank') + full_codes:.1f}"),
        ),
        *(_row(name.replace("_", " "), [f"{found[name]:,.0f}" for found in every]) for name in _ASKED),
        *(_row(f"recall {k}", [f"{found['recall'][k]:.3f}" for found in every]) for k in ("@10", "@25", "@100")),
        *(_row(name.replace("_", " "), [f"{found[name]:,}" for found in results["grown"]]) for name in _GROWN),
    ]
    return "\n".join([said, "", *rows, "", *_remarks(results)]) + "\n"


def _remarks(results: Found) -> Iterable[str]:
    yield f"Analysing: {results['analysed_per_s']:,} passages a second and core."
    if build := results["hnsw"].get("build"):
        yield (
            f"Graphs: {build['graphs']} in {build['seconds']} s, {build['bytes'] / 1e6:,.0f} MB, "
            f"peak {build['peak_anonymous_mib']:,} MiB."
        )
    sizes = results["grown"][-1]["bytes_per_chunk"]
    yield "Bytes a chunk by file: " + ", ".join(f"{name.split('.')[0]} {n:,.0f}" for name, n in sizes.items() if n >= 1)


def _row(name: str, cells: Iterable[str]) -> str:
    return f"| {name} | " + " | ".join(cells) + " |"


def _cells(every: list[Found], leg: str) -> list[str]:
    found = [each["query"] if leg == "query" else each["legs"][leg] for each in every]
    return [f"{cell['p50']:.1f} / {cell['p95']:.1f}" for cell in found]


def _each(every: list[Found], shown: Callable[[Found], str]) -> list[str]:
    return [shown(found) for found in every]


def _named(leg: str) -> str:
    return "whole query" if leg == "query" else leg


def _grows(results: Found, leg: str) -> str:
    exponent = results["exponents"].get(leg)
    return "" if exponent is None else f" (n^{exponent})"
