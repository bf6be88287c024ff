"""Files over the wire: what is kept, what is given back, and what hostile names, sizes and types come to."""

import hashlib
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.api.serving import Server, cli, problem, until

from gawah.api.problems import ProblemError
from gawah.api.ranges import parse_range, shown_type
from gawah.api.upload import checked_name

PLAIN = "The lighthouse keeper counts ninety ships each night.\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("documents") / "store", "--set", "max_file_mb=1") as running:
        yield running


def raw(server, body, boundary="B", **headers):
    content_type = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    return server.client.post("/v1/documents", content=body, headers={**content_type, **headers})


def form(file_name, content=PLAIN, field=b'name="file"'):
    disposition = b"Content-Disposition: form-data; " + field + b'; filename="' + file_name + b'"\r\n'
    return b"--B\r\n" + disposition + b"\r\n" + content.encode() + b"\r\n--B--\r\n"


def test_the_original_comes_back_to_the_byte_with_its_hash_as_etag(server):
    content = bytes(range(32, 127)) * 50 + b"\n"
    job = server.put("bytes.txt", content)
    url = f"/v1/documents/{job['document_id']}/original"
    whole = server.client.get(url)
    assert whole.content == content
    assert whole.headers["etag"] == f'"{hashlib.sha256(content).hexdigest()}"'
    assert (whole.headers["x-content-type-options"], whole.headers["accept-ranges"]) == ("nosniff", "bytes")
    head = server.client.head(url)
    assert (head.status_code, head.content, int(head.headers["content-length"])) == (200, b"", len(content))
    for asked, expected in (
        ("bytes=10-19", content[10:20]),
        ("bytes=-5", content[-5:]),
        ("bytes=4740-", content[4740:]),
    ):
        part = server.client.get(url, headers={"Range": asked})
        assert (part.status_code, part.content) == (206, expected)
        assert part.headers["content-range"].endswith(f"/{len(content)}")
    assert server.client.get(url, headers={"Range": "bytes=99999-"}).status_code == 416
    assert server.client.get(url, headers={"Range": "bytes=1-2", "If-Range": '"old"'}).status_code == 200
    assert server.client.get(url, headers={"If-None-Match": whole.headers["etag"]}).status_code == 304


@given(size=st.integers(0, 50), first=st.integers(0, 60) | st.none(), last=st.integers(0, 60) | st.none())
def test_a_range_is_what_a_slice_would_give(size, first, last):
    header = f"bytes={'' if first is None else first}-{'' if last is None else last}"
    data = bytes(range(size))
    backwards = None not in (first, last) and last < first
    nothing_there = not backwards and (
        (first is not None and first >= size) or (first is None and last is not None and 0 in (last, size))
    )
    if nothing_there:
        with pytest.raises(ProblemError) as raised:
            parse_range(header, size)
        assert (raised.value.status, raised.value.headers["Content-Range"]) == (416, f"bytes */{size}")
        return
    found = parse_range(header, size)
    if backwards or (first is None and last is None):
        assert found is None
    elif first is None:
        assert data[found.start : found.end] == data[-last:]
    else:
        assert data[found.start : found.end] == data[first : None if last is None else last + 1]


def test_a_new_version_leaves_the_old_one_where_its_citations_are(server):
    first = server.put("rules.txt", "Dogs may swim in the lake in May.\n")
    answer = server.ask("When may dogs swim in the lake?", documents=[first["document_id"]])
    (citation,) = answer["citations"]
    second = server.put("rules.txt", "Dogs may swim in the lake in June.\n")
    assert second["document_id"] == first["document_id"]
    url = f"/v1/documents/{first['document_id']}/original"
    assert server.client.get(url).text == "Dogs may swim in the lake in June.\n"
    assert (
        server.client.get(url, params={"sha256": citation["file_sha256"]}).text == "Dogs may swim in the lake in May.\n"
    )
    assert server.client.get(f"/v1/jobs/{first['id']}").json()["state"] == "superseded"
    assert server.client.get(f"/v1/answers/{answer['answer_id']}/verification").json()["holds"]
    versions = server.client.get(f"/v1/documents/{first['document_id']}").json()["versions"]
    assert [version["sha256"] for version in versions] == [second["sha256"], first["sha256"]]
    assert cli(server.store, "verify", answer["answer_id"]).returncode == 0


def test_a_removed_documents_original_stays_for_its_citations_and_a_purge_takes_it(server):
    job = server.put("secret.txt", "The canary is called Zarathustra-771.\n")
    url = f"/v1/documents/{job['document_id']}"
    removed = server.client.delete(url).json()
    assert (removed["chunks"], removed["purged"]) == (1, False)
    problem(server.client.get(url), 404, "not_found")
    assert "Zarathustra" in server.client.get(f"{url}/original", params={"sha256": job["sha256"]}).text
    assert server.client.get(f"/v1/jobs/{job['id']}").json()["state"] == "removed"
    again = server.put("secret.txt", "The canary is called Zarathustra-771.\n")
    purged = server.client.delete(url, params={"purge": "true"})
    assert purged.json()["purged"], purged.text
    problem(server.client.get(f"{url}/original", params={"sha256": again["sha256"]}), 404, "not_found")
    held = [path for path in server.store.rglob("*") if path.is_file() and b"Zarathustra" in path.read_bytes()]
    assert held == []


def test_a_failed_document_says_why_and_can_be_tried_again(server):
    job = server.done(server.upload("broken.docx", b"PK\x03\x04 this is no archive"))
    assert (job["state"], job["done"], bool(job["failure"]["reason"])) == ("failed", True, True)
    again = server.client.post(f"/v1/documents/{job['document_id']}/retry")
    assert again.status_code == 202
    assert again.headers["location"] == f"/v1/jobs/{again.json()['id']}"
    assert server.done(again.json())["failure"]["code"] == job["failure"]["code"]
    failed = server.client.get("/v1/documents", params={"state": "failed"}).json()["documents"]
    assert [document["name"] for document in failed] == ["broken.docx"]
    server.client.delete(f"/v1/documents/{job['document_id']}")


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "/etc/passwd",
        "a/../b.txt",
        "a//b",
        ".",
        "",
        "a\\b.txt",
        "a\r\nX-Evil: 1",
        "a\x00b",
        "\u202etxt.exe",
        "x" * 2000,
    ],
)
def test_a_name_that_is_a_path_or_steers_something_is_refused(server, name):
    body = problem(
        server.client.post("/v1/documents", files={"file": ("a.txt", PLAIN)}, data={"name": name}), 400, "bad_name"
    )
    assert "\n" not in json.dumps(body["detail"]).strip('"')
    assert not list((server.store / "originals" / "incoming").iterdir())


@given(st.text(max_size=60))
def test_a_checked_name_never_leads_out_of_its_folder(name):
    try:
        checked = checked_name(name, "name")
    except ProblemError:
        return
    parts = checked.split("/")
    assert not {"", ".", ".."} & set(parts)
    assert "\\" not in checked
    assert checked.isprintable() or not re.search(r"[\x00-\x1f\x7f]", checked)


def test_the_path_of_a_file_name_is_left_out(server):
    answer = raw(server, form(b"../../../tmp/evil.txt"))
    assert answer.json()["document"] == "evil.txt"
    assert (
        server.client.post("/v1/documents", files={"file": ("C:\\users\\me\\evil.txt", PLAIN)}).json()["document"]
        == "evil.txt"
    )
    job = server.done(answer.json())
    inside = str((server.store / "originals").resolve())
    assert server.client.get(f"/v1/documents/{job['document_id']}").json()["uri"].startswith(f"file://{inside}/")
    server.client.delete(f"/v1/documents/{job['document_id']}")


def test_a_file_name_cannot_add_a_header(server):
    name = 'quote".txt; filename="x.html'
    job = server.done(server.client.post("/v1/documents", files={"file": ("a.txt", PLAIN)}, data={"name": name}).json())
    given = server.client.get(f"/v1/documents/{job['document_id']}/original").headers["content-disposition"]
    assert re.fullmatch(
        r"(inline|attachment); filename=\"[A-Za-z0-9 ._-]*\"; filename\*=UTF-8''[A-Za-z0-9%._~-]*", given
    )
    odd = server.done(server.client.post("/v1/documents", files={"file": ("नमस्ते é.txt", PLAIN + "x")}).json())
    assert odd["document"] == "नमस्ते é.txt"
    assert (
        "filename*=UTF-8''%E0%A4"
        in server.client.get(f"/v1/documents/{odd['document_id']}/original").headers["content-disposition"]
    )
    for one in (job, odd):
        server.client.delete(f"/v1/documents/{one['document_id']}")


@pytest.mark.parametrize("name", ["page.html", "image.svg", "data.xml", "page.xhtml", "script.js", "style.css"])
def test_what_could_run_is_served_inert(server, name):
    content = '<html xmlns="http://www.w3.org/1999/xhtml"><script>alert(document.domain)</script><p>A page.</p></html>'
    job = server.done(server.upload(name, content))
    answer = server.client.get(f"/v1/documents/{job['document_id']}/original")
    assert answer.content == content.encode()
    assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert answer.headers["x-content-type-options"] == "nosniff"
    kind = answer.headers["content-type"]
    assert kind in ("application/octet-stream", "text/plain; charset=utf-8")
    if name.endswith(("html", "svg", "xml")):
        assert answer.headers["content-disposition"].startswith("attachment; ")
    server.client.delete(f"/v1/documents/{job['document_id']}")


@given(
    st.sampled_from(["text/html", "image/svg+xml", "application/xml", "application/xhtml+xml", "text/xml"])
    | st.text(max_size=30)
)
def test_no_type_that_a_browser_runs_is_ever_told(media_type):
    assert shown_type(media_type).split(";")[0] not in {
        "text/html", "image/svg+xml", "application/xml", "text/xml", "application/xhtml+xml", "text/javascript", "text/css",
    }  # fmt: skip


def test_a_file_over_the_limit_is_refused_whether_it_says_so_or_not(server):
    problem(raw(server, form(b"big.txt", "x" * 1_100_000)), 413, "too_large")

    def pieces():
        yield form(b"big.txt", "")[:-9]
        for _ in range(20):
            yield b"x" * 100_000
        yield b"\r\n--B--\r\n"

    problem(raw(server, pieces()), 413, "too_large")
    assert not list((server.store / "originals" / "incoming").iterdir())


def test_a_body_over_the_limit_is_refused_whether_it_says_so_or_not(server):
    body = json.dumps({"question": "x" * 1_100_000}).encode()
    headers = {"Content-Type": "application/json"}
    problem(server.client.post("/v1/answers", content=body, headers=headers), 413, "too_large")
    problem(
        server.client.post("/v1/answers", content=iter([body[:600_000], body[600_000:]]), headers=headers),
        413,
        "too_large",
    )


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 400, "malformed"),
        (b'--B\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhalf', 400, "malformed"),
        (b"no form at all", 400, "malformed"),
        (b'--B\r\nContent-Disposition: form-data; name="other"\r\n\r\nx\r\n--B--\r\n', 400, "unknown_field"),
        (b'--B\r\nContent-Disposition: form-data; name="name"\r\n\r\nx\r\n--B--\r\n', 400, "one_file"),
        (form(b"a.txt")[:-6] + b"\r\n" + form(b"b.txt"), 400, "one_file"),
        (b'--B\r\nContent-Disposition: form-data; name="name"\r\n\r\n\xff\xfe\r\n--B--\r\n', 400, "malformed"),
        (b"--B\r\nX: " + b"y" * 20_000 + b"\r\n\r\nx\r\n--B--\r\n", 400, "malformed"),
        (b"--B\r\n\r\nx\r\n" * 30 + b"--B--\r\n", 400, "unknown_field"),
        (form(b""), 400, "bad_name"),
    ],
)  # fmt: skip
def test_a_broken_form_is_one_line_and_leaves_nothing(server, body, status, code):
    problem(raw(server, body), status, code)
    assert not list((server.store / "originals" / "incoming").iterdir())


def test_a_body_without_its_kind_is_told_which_to_name(server):
    for options in ({"content": b'{"question": "x"}'}, {"json": ["x"]}):
        said = problem(server.client.post("/v1/answers", **options), 422, "invalid")
        assert said["detail"] == "the body must be a JSON object, sent with Content-Type: application/json"


def test_another_kind_of_body_is_told_so(server):
    problem(server.client.post("/v1/documents", json={}), 415, "not_multipart")
    problem(
        server.client.post("/v1/answers", content=b"{", headers={"Content-Type": "application/json"}), 400, "malformed"
    )
    body = problem(server.client.post("/v1/answers", json={"question": "a", "extra": 1}), 422, "invalid")
    assert body["errors"][0]["where"] == "body/extra"
    problem(server.client.post("/v1/answers", json={"question": 1}), 422, "invalid")
    problem(server.client.get("/v1/documents", params={"cursor": "nonsense"}), 400, "cursor")
    problem(server.client.put("/v1/documents"), 405, "method_not_allowed")
    problem(server.client.get("/nowhere"), 404, "not_found")


def test_an_upload_with_an_idempotency_key_is_done_once(server):
    headers = {"Idempotency-Key": "one"}
    first = server.upload("once.txt", PLAIN, headers=headers)
    again = server.client.post(
        "/v1/documents",
        files={"file": ("once.txt", PLAIN)},
        data={"name": "once.txt", "collection": "default"},
        headers=headers,
    )
    assert (again.json()["id"], again.headers["idempotent-replayed"]) == (first["id"], "true")
    other = server.client.post("/v1/documents", files={"file": ("once.txt", PLAIN + "!")}, headers=headers)
    problem(other, 422, "idempotency_mismatch")
    problem(
        server.client.post("/v1/documents", files={"file": ("a", "b")}, headers={"Idempotency-Key": "a b"}),
        400,
        "idempotency_key",
    )
    server.client.delete(f"/v1/documents/{server.done(first)['document_id']}")


def test_an_answer_with_an_idempotency_key_is_given_once(server):
    server.put("harbour.txt", "The harbour master sleeps on Tuesdays.\n")
    headers = {"Idempotency-Key": "answer-1"}
    request = {"question": "When does the harbour master sleep?"}
    first = server.client.post("/v1/answers", json=request, headers=headers)
    again = server.client.post("/v1/answers", json=request, headers=headers)
    assert again.json() == first.json()
    assert again.headers["idempotent-replayed"] == "true"
    problem(
        server.client.post("/v1/answers", json={"question": "Another?"}, headers=headers), 422, "idempotency_mismatch"
    )


def test_a_document_named_like_anothers_id_takes_nothing_from_it(server):
    job = server.put("target.txt", "The target stands on the northern shore.\n")
    server.put(job["document_id"], "An impostor.\n", collection="other")
    assert server.client.get(f"/v1/documents/{job['document_id']}").json()["name"] == "target.txt"


def test_a_watched_folder_is_ingested_as_it_changes(tmp_path):
    folder = tmp_path / "watched"
    folder.mkdir()
    (folder / "a.txt").write_text("The first page.\n")
    with Server(tmp_path / "store", "--watch", folder, "--collection", "seen") as server:
        ready = {"collection": "seen", "state": "ready"}

        def names():
            return [one["name"] for one in server.client.get("/v1/documents", params=ready).json()["documents"]]

        until(lambda: names() == ["a.txt"], "the folder was not ingested")
        (folder / "b.txt").write_text("The second page.\n")
        until(lambda: names() == ["a.txt", "b.txt"], "the change was not ingested")
