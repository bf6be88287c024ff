"""What happened, counted, in the text form that Prometheus reads. The server counts; nobody else's numbers are taken."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Iterable, Mapping

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_HELP = {
    "gawah_requests_total": ("counter", "Requests by route, method and status."),
    "gawah_request_seconds": ("histogram", "Seconds from a request's head to the end of its answer."),
    "gawah_answers_total": ("counter", "Questions by what came of them: answered, refused, failed."),
    "gawah_citations_total": ("counter", "Citations in the answers given."),
    "gawah_uploads_total": ("counter", "Files acknowledged."),
    "gawah_upload_bytes_total": ("counter", "Bytes of the files acknowledged."),
    "gawah_worker_restarts_total": ("counter", "Ingest processes that ended by themselves and were started again."),
    "gawah_documents": ("gauge", "Documents by state."),
    "gawah_chunks": ("gauge", "Chunks that can be found."),
    "gawah_generation": ("gauge", "The generation that answers; its model is the label."),
    "gawah_jobs": ("gauge", "Documents that wait or are at work."),
    "gawah_workers": ("gauge", "Ingest processes that run."),
}

Labels = tuple[tuple[str, str], ...]


class Metrics:
    """Counters and one histogram; safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[tuple[str, Labels], float] = {}
        self._buckets: dict[str, list[int]] = {}
        self._spent: dict[str, float] = {}

    def count(self, name: str, amount: float = 1, **labels: str) -> None:
        assert name in _HELP, name
        key = (name, tuple(sorted(labels.items())))
        with self._lock:
            self._counts[key] = self._counts.get(key, 0) + amount

    def observe(self, route: str, seconds: float) -> None:
        with self._lock:
            buckets = self._buckets.setdefault(route, [0] * (len(_SECONDS) + 1))
            buckets[bisect_left(_SECONDS, seconds)] += 1
            self._spent[route] = self._spent.get(route, 0.0) + seconds

    def exposition(self, gauges: Mapping[tuple[str, Labels], float]) -> str:
        """Everything, with the gauges as they are at this moment."""
        with self._lock:
            plain = {**self._counts, **gauges}
            histogram = list(self._histogram())
        lines = []
        for name, (kind, text) in _HELP.items():
            lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]
            if kind == "histogram":
                lines += histogram
            lines += [
                f"{name}{_braced(labels)} {value:g}" for (of, labels), value in sorted(plain.items()) if of == name
            ]
        return "\n".join(lines) + "\n"

    def _histogram(self) -> Iterable[str]:
        for route, buckets in sorted(self._buckets.items()):
            n = 0
            for bound, more in zip((*map(str, _SECONDS), "+Inf"), buckets, strict=True):
                n += more
                yield f"gawah_request_seconds_bucket{_braced((('le', bound), ('route', route)))} {n}"
            yield f"gawah_request_seconds_sum{_braced((('route', route),))} {self._spent[route]:.6f}"
            yield f"gawah_request_seconds_count{_braced((('route', route),))} {n}"


def _braced(labels: Labels) -> str:
    escaped = ((name, value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")) for name, value in labels)
    inside = ",".join(f'{name}="{value}"' for name, value in escaped)
    return f"{{{inside}}}" if inside else ""
