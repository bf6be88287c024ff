"""What a hostile page, client or document tries at the door, byte by byte on a plain connection."""

import json
import socket

import pytest
from tests.api.serving import Server, problem

SECRET = "The vault opens with 4711.\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("security") / "store") as running:
        running.vault = running.put("vault.txt", SECRET)
        yield running


def sent(server, *lines, body=b""):
    """The whole of what comes back when exactly this is sent: status and bytes."""
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        head = "\r\n".join([*lines, "Connection: close", "", ""]).replace("HOST", f"{host}:{port}")
        connection.sendall(head.encode("latin-1") + body)
        received = b""
        while piece := connection.recv(65536):
            received += piece
    return int(received.split(None, 2)[1]), received


@pytest.mark.parametrize(
    "lines",
    [
        ["GET /v1/documents HTTP/1.1", "Host: evil.example", "X-Forwarded-Host: HOST"],
        ["GET /v1/documents HTTP/1.1", "Host: evil.example@HOST"],
        ["GET /v1/documents HTTP/1.1", "Host: HOST.evil.example"],
        ["GET /v1/documents HTTP/1.1", "Host: evil.example", "Host: HOST"],
        ["GET /v1/documents HTTP/1.1", "Host: HOST", "Host: evil.example"],
        ["GET http://HOST/v1/documents HTTP/1.1", "Host: evil.example"],
        ["GET /v1/documents HTTP/1.1", "Host: localhost\x00.evil.example"],
        ["GET /v1/documents HTTP/1.1"],
        ["GET /v1/documents HTTP/1.0"],
    ],
    ids=lambda lines: " | ".join(lines)[:60],
)
def test_a_name_that_was_bent_to_this_machine_opens_nothing(server, lines):
    """DNS rebinding: the browser believes that this is evil.example, and says so in Host."""
    status, received = sent(server, *lines)
    assert status in (400, 421)
    assert b"vault" not in received


def test_another_sites_page_changes_and_reads_nothing(server):
    """CSRF: requests that a browser sends for any page without asking first, and the ones it asks for."""
    form = "multipart/form-data; boundary=B"
    upload = b'--B\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nx\r\n--B--\r\n'
    question = json.dumps({"question": "How does the vault open?"}).encode()
    attempts = [
        ("POST /v1/documents", form, upload),
        ("POST /v1/answers", "text/plain", question),
        ("POST /v1/answers", "application/x-www-form-urlencoded", b"question=x"),
        ("POST /v1/search", "text/plain", question),
        ("POST /v1/chat/completions", "text/plain", b"{}"),
        ("POST /mcp", "text/plain", b"{}"),
        (f"DELETE /v1/documents/{server.vault['document_id']}", "text/plain", b""),
        (f"POST /v1/documents/{server.vault['document_id']}/retry", "text/plain", b""),
        (f"GET /v1/documents/{server.vault['document_id']}/text", "text/plain", b""),
        ("GET /v1/events", "text/plain", b""),
    ]
    before = server.client.get("/v1/jobs").json()["jobs"][0]["id"]
    for request, kind, body in attempts:
        for marks in (
            ["Origin: https://evil.example"],
            ["Origin: null"],
            ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"],
        ):
            lines = [
                f"{request} HTTP/1.1",
                "Host: HOST",
                f"Content-Type: {kind}",
                f"Content-Length: {len(body)}",
                *marks,
            ]
            status, received = sent(server, *lines, body=body)
            assert status == 403, (request, marks)
            assert b"4711" not in received
    assert server.client.get("/v1/jobs").json()["jobs"][0]["id"] == before
    answer = server.client.request(
        "OPTIONS", "/v1/answers", headers={"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    )
    assert answer.status_code == 403
    for path in ("/v1/documents", "/healthz"):
        assert not [name for name in server.client.get(path).headers if name.startswith("access-control-")]


def test_a_body_that_is_not_said_to_be_json_is_no_question(server):
    """What an old browser, which sends no Origin, could send from a form is not taken for JSON."""
    question = json.dumps({"question": "How does the vault open?"})
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=B"):
        answer = server.client.post("/v1/answers", content=question, headers={"Content-Type": kind})
        assert answer.status_code in (400, 415, 422), kind
        assert "4711" not in answer.text


PATHS = [
    "/v1/documents/{}", "/v1/documents/{}/original", "/v1/documents/{}/text", "/v1/answers/{}", "/v1/answers/{}/verification",
    "/v1/runs/{}/metrics.json", "/v1/runs/first/{}", "/v1/runs/{}/{}",
]  # fmt: skip
UPWARDS = [
    "..",
    "../..",
    "%2e%2e",
    "..%2f..%2fcatalog.sqlite",
    "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "....//",
    "/etc/passwd",
    "..%5c..",
    "%00",
    "a%0d%0ab",
]


@pytest.mark.parametrize("path", PATHS)
def test_no_path_leads_out_of_the_store(server, path):
    for upwards in UPWARDS:
        target = path.replace("{}", upwards)
        status, received = sent(server, f"GET {target} HTTP/1.1", "Host: HOST")
        assert status in (400, 404, 405), target
        assert b"root:" not in received
        assert b"SQLite format" not in received


def test_what_is_said_in_a_name_is_no_header_and_no_line_of_the_log(server):
    evil = "a\r\nSet-Cookie: evil=1\r\n\r\n<script>"
    for field in (
        f'filename="{evil}"',
        "filename*=UTF-8''a%0D%0ASet-Cookie:%20evil=1",
        'filename="a\\"; evil=1.txt"',
        'filename="a\u2028b.txt"',
    ):
        body = f'--B\r\nContent-Disposition: form-data; name="file"; {field}\r\n\r\nWords of it.\r\n--B--\r\n'.encode()
        status, received = sent(
            server,
            "POST /v1/documents HTTP/1.1",
            "Host: HOST",
            "Content-Type: multipart/form-data; boundary=B",
            f"Content-Length: {len(body)}",
            body=body,
        )
        assert status in (202, 400)
        assert b"\nSet-Cookie" not in received
        if status == 202:
            job = json.loads(received.partition(b"\r\n\r\n")[2])
            original = server.client.get(f"/v1/documents/{job['document_id']}/original")
            assert "set-cookie" not in original.headers
            assert original.headers["content-disposition"].count(";") == 2
    forged = '%0a{"event":"audit","action":"forged"}'
    sent(server, f"GET /v1/documents/{forged} HTTP/1.1", "Host: HOST", 'X-Request-Id: a"}\t{"event":"audit"')
    assert not [line for line in server.lines if line["event"] == "text" or line.get("action") == "forged"]


@pytest.mark.parametrize("path", ["/v1/answers", "/v1/search", "/v1/chat/completions", "/mcp"])
def test_a_body_that_is_too_large_too_deep_or_broken_is_refused(server, path):
    json_type = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    for body in (
        b"[" * 200_000,
        b'{"question":' * 50_000,
        b'{"question": "' + b"\\ud800" + b'"}',
        b'{"question": NaN}',
        b"\x00",
        b"\xff\xfe{}",
    ):
        answer = server.client.post(path, content=body, headers=json_type)
        assert 400 <= answer.status_code < 500, (path, body[:20], answer.text[:200])
        assert len(answer.content) < 5000
    problem(server.client.post(path, content=b"x" * (1 << 21), headers=json_type), 413, "too_large")

    def without_length():
        for _ in range(40):
            yield b"x" * 65536

    assert server.client.post(path, content=without_length(), headers=json_type).status_code == 413


def test_a_request_that_two_readers_would_read_differently_is_refused(server):
    """Request smuggling: two lengths, or a length beside chunks."""
    smuggled = b"0\r\n\r\nGET /v1/documents HTTP/1.1\r\nHost: evil\r\n\r\n"
    for lines in (
        ["Content-Length: 5", "Content-Length: 6"],
        ["Content-Length: 5", "Transfer-Encoding: chunked"],
        ["Transfer-Encoding: xchunked"],
    ):
        _, received = sent(
            server, "POST /v1/search HTTP/1.1", "Host: HOST", "Content-Type: application/json", *lines, body=smuggled
        )
        assert b"vault.txt" not in received
    assert not server.events("error")
    assert not [line for line in server.events("request") if line["status"] >= 500]
