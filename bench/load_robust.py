"""The unkind half of `bench.load`: large uploads in constant memory, clients that are slow or leave, ends of every kind."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from tests.api.serving import Server, until
from tests.api.test_robust import begin_upload, incoming, pages, workers

_MEMORY_SHARE = 8  # an upload may make the server grow by an eighth of itself at most
_LEAK_DESCRIPTORS, _LEAK_THREADS = 8, 4


class Report(Protocol):
    """Where figures and broken promises go."""

    def say(self, what: str, figure: str) -> None: ...

    def promise(self, holds: bool, what: str) -> None: ...  # noqa: FBT001


def memory_mib(server: Server, field: str) -> float:
    """VmRSS (now) or VmHWM (the most since it was reset) of the server, in MiB."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.split(f"{field}:")[1].split()[0]) / 1024


def held(server: Server) -> tuple[int, int]:
    """How many descriptors and threads the server has."""
    process = Path(f"/proc/{server.process.pid}")
    return len(list((process / "fd").iterdir())), len(list((process / "task").iterdir()))


def upload_large(store: Path, n_mb: int, report: Report) -> None:
    def pieces() -> Iterator[bytes]:
        yield b'--B\r\nContent-Disposition: form-data; name="file"; filename="large.bin"\r\n\r\n'
        for number in range(n_mb):
            yield number.to_bytes(4, "big") * 250_000
        yield b"\r\n--B--\r\n"

    with Server(store, "--set", f"max_file_mb={n_mb + 1}") as server:
        server.ask("Who looks after the gates?")
        Path(f"/proc/{server.process.pid}/clear_refs").write_text("5")  # the peak begins anew
        before = memory_mib(server, "VmRSS")
        began = time.monotonic()
        answer = server.client.post(
            "/v1/documents", content=pieces(), headers={"Content-Type": "multipart/form-data; boundary=B"}
        )
        seconds = time.monotonic() - began
        peak = memory_mib(server, "VmHWM")
        sha256 = hashlib.sha256(b"".join(list(pieces())[1:-1])).hexdigest()
        report.promise(
            answer.status_code == 202 and answer.json()["sha256"] == sha256, f"the upload failed: {answer.text[:200]}"
        )
        server.done(answer.json())
        server.client.delete(f"/v1/documents/{answer.json()['document_id']}")
    report.say(
        f"upload of {n_mb} MB: seconds; memory of the server before, at its peak",
        f"{seconds:.1f} s; {before:.0f} MiB, {peak:.0f} MiB",
    )
    report.promise(
        peak - before < n_mb / _MEMORY_SHARE, f"an upload of {n_mb} MB took {peak - before:.0f} MiB of memory"
    )


def abuse(store: Path, n_clients: int, report: Report) -> None:
    """Half uploads, askers and readers who leave, readers who do not read: all at once, twice; the second leaves no more behind."""
    with Server(store) as server:
        document = server.client.get("/v1/documents").json()["documents"][0]["id"]

        def round_of_abuse() -> None:
            with contextlib.ExitStack() as stack:
                for _ in range(n_clients):
                    stack.callback(begin_upload(server, b"x" * 300_000, 90_000_000).close)
                    stack.callback(
                        _asked(server, "POST", "/v1/answers", {"question": "Who looks after the gates?"}).close
                    )
                    stack.callback(_asked(server, "GET", "/v1/events").close)
                    stack.callback(_asked(server, "GET", f"/v1/documents/{document}/original").close)
                assert server.ask("Who looks after the gates?")["answer_id"]
            until(lambda: not incoming(server), "half uploads stay")

        round_of_abuse()
        settled = _settled(server)
        jobs = server.client.get("/v1/jobs").json()["jobs"]
        round_of_abuse()
        after = _settled(server)
        report.say(
            f"{4 * n_clients} slow and aborted clients, twice: descriptors, threads after the first and the second time",
            f"{settled[0]}, {settled[1]}; {after[0]}, {after[1]}",
        )
        report.promise(after[0] <= settled[0] + _LEAK_DESCRIPTORS, "descriptors leak")
        report.promise(after[1] <= settled[1] + _LEAK_THREADS, "threads leak")
        report.promise(server.client.get("/v1/jobs").json()["jobs"] == jobs, "aborted uploads left jobs")
        report.promise(not server.events("error"), f"the server logged errors: {server.events('error')[:2]}")


def _asked(server: Server, method: str, path: str, body: dict[str, Any] | None = None) -> socket.socket:
    """A connection that has asked for something and does not read what comes."""
    host, port = server.url.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)))
    content = b"" if body is None else json.dumps(body).encode()
    connection.sendall(
        f"{method} {path} HTTP/1.1\r\nHost: {host}:{port}\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(content)}\r\n\r\n".encode()
        + content
    )
    return connection


def _settled(server: Server) -> tuple[int, int]:
    """Descriptors and threads once they have stopped changing: a second without."""
    last, since = held(server), time.monotonic()

    def still() -> bool:
        nonlocal last, since
        now = held(server)
        if now != last:
            last, since = now, time.monotonic()
        return time.monotonic() - since > 1

    until(still, "the server does not come to rest")
    return last


def end_in_order(store: Path, n_entries: int, report: Report) -> None:
    """SIGTERM while a document is embedded and a question is asked."""
    server = Server(store)
    server.start()
    jobs = [server.upload(f"long-{i}.txt", pages(n_entries, f"{i}-")) for i in range(3)]
    until(lambda: server.client.get(f"/v1/jobs/{jobs[0]['id']}").json()["state"] == "embedding", "no worker began")
    began = time.monotonic()
    server.stop()
    seconds = time.monotonic() - began
    report.promise(not workers(server), "workers outlived the server")
    began = time.monotonic()
    with server:
        states = {server.done(job)["state"] for job in jobs}
    report.say(
        "SIGTERM while three documents are read: seconds to the end; all ready after the next start in",
        f"{seconds:.1f} s; {time.monotonic() - began:.1f} s",
    )
    report.promise(states == {"ready"}, f"after SIGTERM and a start documents are {states}")


def killed(store: Path, n_uploads: int, report: Report) -> None:
    """kill -9 of workers while uploads come in, then of the server; whatever was acknowledged must become ready."""
    server = Server(store, "--workers", "2")
    server.start()
    acknowledged: dict[str, dict[str, Any]] = {}
    texts = {f"night-{i}.txt": pages(30, f"{i}-") for i in range(n_uploads)}
    for number, (name, text) in enumerate(texts.items()):
        acknowledged[name] = server.upload(name, text)
        if number % 3 == 2:
            for pid in workers(server)[:1]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
    half = begin_upload(server, b"x" * 3_000_000, 9_000_000)
    until(lambda: incoming(server), "the half upload did not arrive")
    before = workers(server)
    server.kill()
    half.close()
    until(lambda: not [pid for pid in before if Path(f"/proc/{pid}").exists()], "workers outlived the server")
    lost = []
    with server:
        for name, job in acknowledged.items():
            ended = server.done(job)
            original = server.client.get(f"/v1/documents/{job['document_id']}/original")
            if ended["state"] != "ready" or original.text != texts[name]:
                lost.append(f"{name}: {ended['state']}")
        left_behind = incoming(server)
    report.say(
        f"kill -9 of {n_uploads // 3} workers and of the server: acknowledged uploads lost",
        f"{len(lost)} of {len(acknowledged)}",
    )
    report.promise(not lost, f"acknowledged uploads were lost: {lost}")
    report.promise(not left_behind, "half an upload stayed")
