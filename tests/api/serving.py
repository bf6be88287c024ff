"""A real server as a process on loopback, and what tests ask of it."""

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time

import httpx

READY_S = 60
DONE = ("ready", "failed", "superseded", "removed")


class Server:
    """`gawah serve` on a store. `with Server(store) as server: server.client.get("/v1/documents")`."""

    def __init__(self, store, *words, cache=None, environment=None):
        self.store = store
        self.words = words
        self.environment = {
            **os.environ, "GAWAH_STORE": str(store), **(environment or {}),
            **({"XDG_CACHE_HOME": str(cache)} if cache else {}),
        }  # fmt: skip
        self.lines = []
        self.process = None
        self.client = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        command = [sys.executable, "-m", "gawah", "serve", "--port", "0", *map(str, self.words)]
        self.process = subprocess.Popen(command, env=self.environment, stderr=subprocess.PIPE, text=True)
        ready = queue.Queue()
        self._reader = threading.Thread(target=self._read, args=(ready,), daemon=True)
        self._reader.start()
        try:
            self.ready = ready.get(timeout=READY_S)
        except queue.Empty:
            self.process.kill()
            raise AssertionError(f"the server did not get ready: {self.lines}") from None
        assert self.ready, f"the server ended: {self.lines}"
        self.url = self.ready["url"]
        self.client = httpx.Client(base_url=self.url, timeout=60, trust_env=False)

    def _read(self, ready):
        for line in self.process.stderr:
            try:
                body = json.loads(line)
            except ValueError:
                body = {"event": "text", "text": line}
            self.lines.append(body)
            if body["event"] == "ready":
                ready.put(body)
        ready.put(None)

    def stop(self, code=0):
        """SIGTERM; the exit code is the server's."""
        if self.process is None:
            return
        self.client.close()
        self.process.terminate()
        try:
            assert self.process.wait(60) == code, self.lines[-5:]
        finally:
            self._cleared()

    def kill(self):
        """kill -9."""
        self.client.close()
        self.process.kill()
        self.process.wait()
        self._cleared()

    def _cleared(self):
        self._reader.join(30)
        self.process.stderr.close()
        self.process = None

    def events(self, event):
        return [line for line in self.lines if line["event"] == event]

    def upload(self, name, content, *, status=202, **options):
        collection = options.pop("collection", "default")
        headers = options.pop("headers", {})
        answer = self.client.post(
            "/v1/documents",
            files={"file": (name.rsplit("/", 1)[-1], content)},
            data={"collection": collection, "name": name},
            headers=headers,
        )
        assert answer.status_code == status, answer.text
        return answer.json()

    def done(self, job):
        """Waits for a job by its own event stream; returns it as it ended."""
        with self.client.stream("GET", f"/v1/jobs/{job['id']}/events") as stream:
            found = list(events_of(stream.iter_lines()))
        names = [name for name, _ in found]
        assert names.count("done") == 1, names
        assert names[-1] == "done", names
        return found[-1][1]

    def put(self, name, content, **options):
        """Uploads, and waits until the document is ready."""
        job = self.done(self.upload(name, content, **options))
        assert job["state"] == "ready", job
        return job

    def ask(self, question, **options):
        answer = self.client.post("/v1/answers", json={"question": question, **options})
        assert answer.status_code == 200, answer.text
        return answer.json()


def events_of(lines):
    """(name, body) of each event of a stream."""
    name, data = "", []
    for line in lines:
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            data.append(line.removeprefix("data: "))
        elif not line and data:
            yield name, json.loads("\n".join(data))
            name, data = "", []


def until(condition, what, limit_s=60):
    """Looks again and again; no test depends on how long it takes."""
    deadline = time.monotonic() + limit_s
    while not (found := condition()):
        assert time.monotonic() < deadline, what
        threading.Event().wait(0.02)
    return found


def cli(store, *words, code=0, environment=None):
    done = subprocess.run(
        [sys.executable, "-m", "gawah", *map(str, words)],
        check=False, capture_output=True, text=True, env={**os.environ, "GAWAH_STORE": str(store), **(environment or {})},
    )  # fmt: skip
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    return done


def problem(answer, status, code):
    """An answer is a problem of that kind, in the form of RFC 9457."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert (body["status"], body["code"]) == (status, code), body
    assert body["request_id"] == answer.headers["x-request-id"]
    assert "\n" not in body["detail"]
    return body


@contextlib.contextmanager
def keyed(server, token):
    with httpx.Client(
        base_url=server.url, timeout=60, trust_env=False, headers={"Authorization": f"Bearer {token}"}
    ) as client:
        yield client
