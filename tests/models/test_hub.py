"""A model that is not here comes from the hub, over its client; when it cannot be had, one line says what to do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.models.small_checkpoint import write_checkpoint

from gawah.fingerprint import sha256_file

SOURCE = Path(__file__).resolve().parents[2] / "src"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
FIND = """
import pathlib, sys, gawah.errors
from gawah.models.checkpoint import find_checkpoint
try:
    found = find_checkpoint(sys.argv[1], cache_directory=pathlib.Path(sys.argv[2]))
    print(found.name, found.source, found.model_sha256, sep="|")
except gawah.errors.ModelError as error:
    print(error)
"""


class Hub(BaseHTTPRequestHandler):
    """As much of the hub as its client asks for: a repository's commit, its tree, its files."""

    def __init__(self, root: Path, *args: object) -> None:
        self.root = root
        super().__init__(*args)  # type: ignore[arg-type]

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self.answer(with_body=False)

    def do_GET(self) -> None:
        self.answer(with_body=True)

    def answer(self, *, with_body: bool) -> None:
        path = self.path.partition("?")[0]
        files = [file for file in sorted(self.root.rglob("*")) if file.is_file()]
        names = [file.relative_to(self.root).as_posix() for file in files]
        kind, etag = "application/json", ""
        if not path.removeprefix("/api/models").startswith("/someone/small"):
            self.send_error(404)
            return
        if "/resolve/" in path:
            file = self.root / path.partition("/resolve/")[2].partition("/")[2]
            if not file.is_file():
                self.send_error(404)
                return
            kind, etag, body = "application/octet-stream", sha256_file(file)[:40], file.read_bytes()
        elif "/tree/" in path:
            body = json.dumps(
                [
                    {"type": "file", "path": name, "size": file.stat().st_size, "oid": sha256_file(file)[:40]}
                    for name, file in zip(names, files, strict=True)
                ]
            ).encode()
        else:
            siblings = [{"rfilename": name} for name in names]
            body = json.dumps({"id": "someone/small", "sha": COMMIT, "siblings": siblings}).encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Repo-Commit", COMMIT)
        if etag:
            self.send_header("ETag", f'"{etag}"')
        self.end_headers()
        if with_body:
            self.wfile.write(body)


@contextmanager
def running_hub(root: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Hub, root))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def find(name: str, folder: Path, endpoint: str) -> str:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("HF_") and "proxy" not in key.lower()}
    environment = {**kept, "PYTHONPATH": str(SOURCE), "HF_HOME": str(folder / "hub"), "HF_ENDPOINT": endpoint}
    command = [sys.executable, "-c", FIND, name, str(folder / "cache")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1, done.stdout
    return done.stdout


def test_a_model_comes_from_the_hub_once_and_then_from_its_cache(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "repository")
    sha256 = sha256_file(tmp_path / "repository" / "model.safetensors")
    with running_hub(tmp_path / "repository") as endpoint:
        first = find("someone/small", tmp_path, endpoint)
    name, source, found = first.strip().split("|")
    assert name.startswith("someone/small@")
    assert (source, found) == ("hub someone/small", sha256)
    assert find("someone/small", tmp_path, "http://127.0.0.1:9") == first  # nobody listens there


def test_a_model_that_the_hub_does_not_have_is_one_line(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "repository")
    with running_hub(tmp_path / "repository") as endpoint:
        message = find("someone/else", tmp_path, endpoint)
    assert "someone/else" in message
    assert "name a folder" in message


def test_a_hub_that_cannot_be_reached_is_one_line(tmp_path: Path) -> None:
    message = find("someone/small", tmp_path, "http://127.0.0.1:9")
    assert "cannot be reached" in message
    assert "name a folder" in message


@pytest.mark.parametrize("name", ["no such model", "a/b/c", ""])
def test_what_is_neither_a_folder_nor_a_name_is_one_line(tmp_path: Path, name: str) -> None:
    assert "neither a folder here nor a model's name" in find(name, tmp_path, "http://127.0.0.1:9")
