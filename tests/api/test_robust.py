"""kill -9 of the server and of its workers, an end in good order, askers who leave: nothing acknowledged is lost, nothing leaks."""

import hashlib
import json
import os
import signal
import socket
import threading
from pathlib import Path

import httpx
import pytest
from tests.api.serving import Server, cli, until

from gawah.ingest import worker_name

LARGE_MB = 60


def pages(n, seed=""):
    """A text that takes a while to embed."""
    return "".join(
        f"Entry {seed}{i}: the keeper of lamp {i * 7919 % 10007} wrote {i * 104729 % 99991} lines that night.\n\n"
        for i in range(n)
    )


def workers(server):
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"worker" in words and str(server.store).encode() in words:
                found.append(int(folder.name))
    return found


def begin_upload(server, content, total):
    """A connection that has sent half a file, and holds on."""
    host, port = server.url.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)))
    head = b'--B\r\nContent-Disposition: form-data; name="file"; filename="half.txt"\r\n\r\n'
    connection.sendall(
        f"POST /v1/documents HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: multipart/form-data; boundary=B\r\n"
        f"Content-Length: {total}\r\n\r\n".encode() + head + content
    )  # fmt: skip
    return connection


def incoming(server):
    folder = server.store / "originals" / "incoming"
    return list(folder.iterdir()) if folder.is_dir() else []


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("robust") / "store", "--set", f"max_file_mb={LARGE_MB + 1}") as running:
        running.lamps = running.put("lamps.txt", pages(40))
        yield running


def test_kill_9_loses_no_acknowledged_upload_and_keeps_no_half_one(tmp_path):
    server = Server(tmp_path / "store")
    server.start()
    texts = {f"night-{i}.txt": pages(30, f"{i}-") for i in range(4)}
    acknowledged = {name: server.upload(name, text) for name, text in texts.items()}
    half = begin_upload(server, b"x" * 3_000_000, 9_000_000)
    until(lambda: incoming(server), "the half upload did not arrive")
    until(
        lambda: any(one["state"] != "queued" for one in server.client.get("/v1/documents").json()["documents"]),
        "no worker began",
    )
    before = workers(server)
    server.kill()
    half.close()
    until(lambda: not [pid for pid in before if Path(f"/proc/{pid}").exists()], "workers outlived the server")
    with server:
        assert not incoming(server)
        for name, job in acknowledged.items():
            ended = server.done(job)
            assert ended["state"] == "ready", ended
            original = server.client.get(f"/v1/documents/{job['document_id']}/original")
            assert hashlib.sha256(original.content).hexdigest() == job["sha256"]
            assert original.text == texts[name]
        assert "half.txt" not in {one["name"] for one in server.client.get("/v1/documents").json()["documents"]}
        answer = server.ask("What did entry 2-7 say?")
        assert answer["status"] in ("answered", "refused")
    assert json.loads(cli(server.store, "doctor", "--json").stdout)["ok"]


def test_kill_9_of_a_worker_is_made_good(tmp_path):
    with Server(tmp_path / "store") as server:
        job = server.upload("long.txt", pages(200))
        until(
            lambda: server.client.get(f"/v1/jobs/{job['id']}").json()["state"] in ("chunking", "embedding", "ready"),
            "no worker began",
        )
        (pid,) = workers(server)
        os.kill(pid, signal.SIGKILL)
        assert server.done(job)["state"] == "ready"
        assert "gawah_worker_restarts_total 1" in server.client.get("/metrics").text
        assert worker_name(pid) not in {worker_name(other) for other in workers(server)}


def test_sigterm_hands_back_what_is_under_way_and_the_next_server_does_it(tmp_path):
    server = Server(tmp_path / "store")
    server.start()
    job = server.upload("long.txt", pages(240))
    until(lambda: server.client.get(f"/v1/jobs/{job['id']}").json()["state"] == "embedding", "no worker began")
    server.stop()
    assert not workers(server)
    listed = json.loads(cli(server.store, "ls", "--json").stdout)["documents"]
    assert [document["state"] for document in listed] in (["queued"], ["ready"])
    with server:
        assert server.done(job)["state"] == "ready"


def test_an_upload_that_is_cut_off_leaves_nothing(server):
    half = begin_upload(server, b"x" * 2_500_000, 9_000_000)
    until(lambda: incoming(server), "the half upload did not arrive")
    half.close()
    until(lambda: not incoming(server), "the half upload stayed")
    assert "half.txt" not in {one["name"] for one in server.client.get("/v1/documents").json()["documents"]}
    until(
        lambda: [line for line in server.events("request") if line["status"] in (400, 499)], "the request did not end"
    )


def test_a_large_upload_takes_no_more_memory_than_a_small_one(server):
    def peak_mib():
        status = Path(f"/proc/{server.process.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) // 1024

    def pieces():
        yield b'--B\r\nContent-Disposition: form-data; name="file"; filename="large.bin"\r\n\r\n'
        for _ in range(LARGE_MB):
            yield bytes(1_000_000)
        yield b"\r\n--B--\r\n"

    server.done(server.upload("small.bin", b"\x00"))
    before = peak_mib()
    answer = server.client.post(
        "/v1/documents", content=pieces(), headers={"Content-Type": "multipart/form-data; boundary=B"}
    )
    assert (answer.status_code, answer.json()["size_bytes"]) == (202, LARGE_MB * 1_000_000)
    assert peak_mib() - before < LARGE_MB // 4
    server.client.delete(f"/v1/documents/{answer.json()['document_id']}")


def test_askers_who_leave_and_readers_who_are_slow_leak_nothing(server):
    descriptors = Path(f"/proc/{server.process.pid}/fd")

    def leave(path, body=None):
        host, port = server.url.removeprefix("http://").split(":")
        connection = socket.create_connection((host, int(port)))
        content = json.dumps(body).encode() if body else b""
        connection.sendall(
            f"{'POST' if body else 'GET'} {path} HTTP/1.1\r\nHost: {host}:{port}\r\nAccept: text/event-stream\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n".encode()
            + content
        )
        connection.recv(1)
        connection.close()

    def round_of_leaving():
        for _ in range(6):
            leave("/v1/answers", {"question": "What did the keeper of lamp 7919 write?"})
            leave("/v1/events")
            leave(f"/v1/documents/{server.lamps['document_id']}/original")

    round_of_leaving()
    until(lambda: len(list(descriptors.iterdir())) < 100, "descriptors stay open")
    before = len(list(descriptors.iterdir()))
    round_of_leaving()
    until(lambda: len(list(descriptors.iterdir())) <= before + 5, f"more than {before} descriptors stay open")
    assert server.ask("What did the keeper of lamp 7919 write?")["answer_id"]
    assert not server.events("error")


def test_many_ask_at_once_while_documents_come_in(server):
    jobs = [server.upload(f"more-{i}.txt", pages(10, f"m{i}-")) for i in range(3)]
    faults, answers = [], []

    def asker(number):
        with httpx.Client(base_url=server.url, timeout=120, trust_env=False) as client:
            request = {"question": f"How many lines did the keeper of lamp {number * 7919} write?"}
            answer = client.post("/v1/answers", json=request)
            (answers if answer.status_code == 200 else faults).append(answer.json())

    threads = [threading.Thread(target=asker, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    assert len(answers) == 20
    assert {server.done(job)["state"] for job in jobs} == {"ready"}
    cited = [answer["answer_id"] for answer in answers if answer["citations"]]
    for answer_id in cited[:2]:
        assert server.client.get(f"/v1/answers/{answer_id}/verification").json()["holds"]
    assert json.loads(cli(server.store, "doctor", "--json").stdout)["ok"]


def test_two_workers_and_a_command_line_share_one_store(tmp_path, folder):
    root = folder({f"note-{i}.txt": pages(8, f"n{i}-") for i in range(6)})
    with Server(tmp_path / "store", "--workers", "2") as server:
        jobs = [server.upload(f"up-{i}.txt", pages(8, f"u{i}-")) for i in range(6)]
        cli(server.store, "ingest", root)
        assert {server.done(job)["state"] for job in jobs} == {"ready"}
        documents = server.client.get("/v1/documents").json()["documents"]
        assert len(documents) == 12
        until(
            lambda: {one["state"] for one in server.client.get("/v1/documents").json()["documents"]} == {"ready"},
            "some document is not ready",
        )
    assert json.loads(cli(server.store, "doctor", "--json").stdout)["ok"]


def test_a_store_of_another_model_is_one_line_and_exit_5(tmp_path, make_app, folder):
    app = make_app()
    list(app.ingest(app.plan(folder({"a.txt": "One.\n"}))))
    done = cli(app.settings.store, "serve", "--port", "0", code=5)
    assert done.stderr.count("\n") == 1
    assert "was built with" in done.stderr
