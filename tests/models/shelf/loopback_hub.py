"""A model hub on the loopback address that can be told to misbehave in every way a server can."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def git_sha1(data: bytes) -> str:
    return hashlib.sha1(f"blob {len(data)}\0".encode() + data).hexdigest()


@dataclass
class Hub:
    """What it holds and how it behaves. Large files (.safetensors, .gguf) are elsewhere, as the hub's are: a redirect away."""

    files: dict[str, bytes]
    repository: str = "someone/small"
    break_after: list[int] = field(
        default_factory=list
    )  # of the large file: bytes after which the connection is cut, once each
    ranges: bool = True
    etags: bool = True
    weak_etags: bool = False
    announced_commit: str = COMMIT
    spoil: str = ""  # the name of a file that is sent with one byte changed, under the right hash
    status: dict[str, int] = field(default_factory=dict)  # by name
    loops: bool = False
    leads_to: str = ""  # where the large file is instead
    claims_bytes: int = 0  # the length it announces of the large file
    range_start: int | None = None  # the start it claims in Content-Range
    tires: bool = False  # a second request on a connection gets no answer: it was about to be closed
    asked: list[str] = field(default_factory=list)  # "path" or "path bytes=n-"
    requests: Counter[str] = field(default_factory=Counter)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, hub: Hub, *args: object) -> None:
        self.hub = hub
        self.n_answered = 0
        super().__init__(*args)  # type: ignore[arg-type]

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        hub = self.hub
        wanted = self.headers.get("Range", "")
        hub.asked.append(f"{self.path} {wanted}".strip())
        self.close_connection = not hub.tires or self.n_answered > 0
        if hub.tires and self.n_answered:
            return
        self.n_answered += 1
        if self.path.startswith("/cdn/"):
            self._file(self.path.removeprefix("/cdn/"), {})
            return
        front, _, rest = self.path.partition("/resolve/")
        revision, _, name = rest.partition("/")
        if hub.loops:
            self._empty(302, {"Location": self.path + "?again"})
        elif name in hub.status:
            self._empty(hub.status[name], {})
        elif front != f"/{hub.repository}" or name not in hub.files or revision not in ("main", COMMIT):
            self._empty(404, {})
        elif not name.endswith((".safetensors", ".gguf")):
            self._file(name, {"X-Repo-Commit": hub.announced_commit})
        else:
            data = hub.files[name]
            linked = {"X-Linked-ETag": f'"{hashlib.sha256(data).hexdigest()}"', "X-Linked-Size": str(len(data))}
            said = linked if hub.etags else {}
            self._empty(
                302, {"Location": hub.leads_to or f"/cdn/{name}", "X-Repo-Commit": hub.announced_commit, **said}
            )

    def _empty(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for key, value in {**headers, "Content-Length": "0"}.items():
            self.send_header(key, value)
        self.end_headers()

    def _file(self, name: str, headers: dict[str, str]) -> None:
        hub, data = self.hub, self.hub.files[name]
        etag = f'"{git_sha1(data)}"'
        if hub.spoil == name:
            data = data[:-1] + bytes([data[-1] ^ 1])
        start, wanted = 0, self.headers.get("Range", "")
        if wanted and hub.ranges:
            start = int(wanted.removeprefix("bytes=").rstrip("-"))
            if start >= len(data):
                self._empty(416, {})
                return
        self.send_response(206 if wanted and hub.ranges else 200)
        if hub.etags and name not in [n for n in hub.files if n.endswith((".safetensors", ".gguf"))]:
            headers = {**headers, "ETag": f"W/{etag}" if hub.weak_etags else etag}
        if wanted and hub.ranges:
            claimed = start if hub.range_start is None else hub.range_start
            headers = {**headers, "Content-Range": f"bytes {claimed}-{len(data) - 1}/{len(data)}"}
        is_large = name.endswith((".safetensors", ".gguf"))
        length = hub.claims_bytes if is_large and hub.claims_bytes else len(data) - start
        for key, value in {**headers, "Content-Length": str(length)}.items():
            self.send_header(key, value)
        self.end_headers()
        end = len(data)
        if is_large and hub.break_after:
            end = min(end, start + hub.break_after.pop(0))
        self.wfile.write(data[start:end])


@contextmanager
def running(hub: Hub) -> Iterator[str]:
    """The address of the hub while in the block."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, hub))
    server.daemon_threads = False
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
