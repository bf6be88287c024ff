"""What the viewer loads: under the same rules as all else, inert, with validators, and of the version that was cited."""

import io
import re
import zipfile

import httpx
import pytest
from PIL import Image
from tests.api.serving import Server, cli, keyed, problem

from gawah.api import viewer_schemas as schemas
from gawah.testing.pdf import Page, pdf

HTML = "<html><body><nav>pier</nav><p>The pier is long.</p><script>alert(1)</script><p onclick=x()>The pier is old.</p></body></html>"
SECRET = "# Secret\n\nNobody may know of the second key.\n"


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    """A server that wants keys, documents in two collections, and a client for a reader of one of them."""
    store = tmp_path_factory.mktemp("viewer") / "store"
    operator = cli(store, "keys", "create", "operator", "--scope", "admin").stdout.strip()
    reader = cli(store, "keys", "create", "reader", "--scope", "read", "--collection", "open").stdout.strip()
    with Server(store, "--set", "require_key=true") as running:
        running.client.headers["Authorization"] = f"Bearer {operator}"
        pages = pdf(
            [Page(rotate=90).text(100, 200, "Turned words"), Page().text(72, 700, "Second page")],
            labels="0 << /S /r >>",
        )
        ids = {
            "pdf": running.put("a.pdf", pages, collection="open")["document_id"],
            "html": running.put("a.html", HTML, collection="open")["document_id"],
            "csv": running.put("a.csv", "name,size\nboat,3\nraft,5\n", collection="open")["document_id"],
            "md": running.put("a.md", "# A\n\nOne *two* three.\n", collection="open")["document_id"],
            "secret": running.put("s.md", SECRET, collection="closed")["document_id"],
            "secret pdf": running.put("s.pdf", pages, collection="closed")["document_id"],
        }
        with keyed(running, reader) as client:
            yield running, client, ids


def test_a_page_is_a_picture_with_a_validator(shelf):
    _, client, ids = shelf
    answer = client.get(f"/v1/documents/{ids['pdf']}/pages/1", params={"dpi": 72})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png")
    assert Image.open(io.BytesIO(answer.content)).size == (792, 612)  # turned by a quarter
    again = client.get(
        f"/v1/documents/{ids['pdf']}/pages/1", params={"dpi": 72}, headers={"If-None-Match": answer.headers["etag"]}
    )
    assert (again.status_code, again.content) == (304, b"")
    problem(client.get(f"/v1/documents/{ids['pdf']}/pages/3"), 404, "not_found")
    problem(client.get(f"/v1/documents/{ids['md']}/pages/1"), 400, "usage")
    problem(client.get(f"/v1/documents/{ids['pdf']}/pages/0"), 422, "invalid")


def test_the_layout_of_a_turned_page_has_words_and_boxes_where_they_are_seen(shelf):
    _, client, ids = shelf
    body = client.get(f"/v1/documents/{ids['pdf']}/pages/1/layout", params={"from": 7, "to": 12}).json()
    schemas.LayoutBody.model_validate(body)
    assert (body["n_pages"], body["label"], body["width"], body["height"]) == (2, "i", 792, 612)
    assert [word["text"] for word in body["words"]] == ["Turned", "words"]
    (box,) = body["boxes"]
    assert box == pytest.approx(body["words"][1]["box"], abs=0.1)
    left, top, right, bottom = (edge * side / 100 for edge, side in zip(box, (792, 612, 792, 612), strict=True))
    # (100, 200) from the bottom left is, turned clockwise, 200 from the left and 100 from the top; the words run downwards.
    assert left == pytest.approx(200, abs=4)
    assert 100 < top < bottom < 180
    assert right - left < 14
    other = client.get(f"/v1/documents/{ids['pdf']}/pages/2/layout", params={"from": 7, "to": 12}).json()
    assert other["boxes"] == []


def test_a_framed_page_is_sandboxed_marked_and_loads_nothing(shelf):
    _, client, ids = shelf
    text = client.get(f"/v1/documents/{ids['html']}/text").json()["text"]
    start = text.index("pier is old")
    answer = client.get(f"/v1/documents/{ids['html']}/framed", params={"from": start - 4, "to": start + 4})
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("sandbox; default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert "<script" not in answer.text
    assert "onclick" not in answer.text
    assert '<p><mark class="soft" id="cited">The pier</mark> is old.</p>' in answer.text
    params = {"from": start - 4, "to": start + 4, "strong": [f"{start}-{start + 4}"]}
    both = client.get(f"/v1/documents/{ids['html']}/framed", params=params).text
    assert '<mark class="soft" id="cited">The</mark> <mark class="strong">pier</mark> is old.' in both
    for wrong in ("x", "5", "5-", "9-2", "1-2-3"):
        problem(client.get(f"/v1/documents/{ids['html']}/framed", params={"strong": wrong}), 400, "usage")
    problem(client.get(f"/v1/documents/{ids['md']}/framed"), 400, "usage")


def test_cells_have_the_files_own_numbers(shelf):
    _, client, ids = shelf
    body = client.get(f"/v1/documents/{ids['csv']}/cells").json()
    schemas.CellsBody.model_validate(body)
    assert [(row["number"], [cell["text"] for cell in row["cells"]]) for row in body["rows"]] == [
        (1, ["name", "size"]),
        (2, ["boat", "3"]),
        (3, ["raft", "5"]),
    ]
    assert body["sheets"] == []
    below = client.get(f"/v1/documents/{ids['csv']}/cells", params={"row": 3}).json()
    assert [row["number"] for row in below["rows"]] == [3]
    assert client.get(f"/v1/documents/{ids['csv']}/cells", params={"row": 4_000_000}).json()["rows"] == []
    problem(client.get(f"/v1/documents/{ids['md']}/cells"), 400, "usage")


def test_blocks_are_the_texts(shelf):
    _, client, ids = shelf
    body = client.get(f"/v1/documents/{ids['md']}/blocks").json()
    schemas.BlocksBody.model_validate(body)
    assert body["text"] == "# A\n\nOne *two* three.\n"
    assert [(one["kind"], body["text"][one["from"] : one["to"]]) for one in body["blocks"]] == [
        ("heading", "# A"),
        ("paragraph", "One *two* three."),
    ]


PATHS = ("pages/1", "pages/1/layout", "framed", "cells", "blocks", "original", "text", "place?from=0&to=1")


@pytest.mark.parametrize("path", PATHS)
def test_what_is_not_yours_is_not_there(shelf, path):
    _, client, ids = shelf
    for document in (ids["secret"], ids["secret pdf"], "f" * 32):
        problem(client.get(f"/v1/documents/{document}/{path}"), 404, "not_found")


def ticket_of(client, path):
    return client.post("/v1/tickets", json={"path": path}).json()["ticket"]


def test_a_ticket_reads_its_document_and_nothing_else(shelf):
    server, client, ids = shelf
    ticket = ticket_of(client, f"/v1/documents/{ids['pdf']}/")
    with httpx.Client(base_url=server.url, trust_env=False, timeout=60) as bare:
        params = {"ticket": ticket}
        assert bare.get(f"/v1/documents/{ids['pdf']}/pages/1", params=params).status_code == 200
        assert (
            bare.get(f"/v1/documents/{ids['pdf']}/original", params=params, headers={"Range": "bytes=0-4"}).content
            == b"%PDF-"
        )
        for method, path in (
            ("GET", f"/v1/documents/{ids['html']}/framed"), ("GET", f"/v1/documents/{ids['pdf']}"), ("GET", "/v1/documents"),
            ("DELETE", f"/v1/documents/{ids['pdf']}"), ("POST", f"/v1/documents/{ids['pdf']}/retry"), ("GET", "/v1/me"),
            ("GET", f"/v1/documents/{ids['pdf']}/../{ids['html']}/framed"),
        ):  # fmt: skip
            assert bare.request(method, path, params=params).status_code == 401, path
        problem(bare.get(f"/v1/documents/{ids['pdf']}/pages/1", params={"ticket": "x"}), 401, "unauthorised")
        # A ticket for what is not theirs can be had and opens nothing: it stands for the key, no more.
        foreign = ticket_of(client, f"/v1/documents/{ids['secret']}/")
        problem(bare.get(f"/v1/documents/{ids['secret']}/text", params={"ticket": foreign}), 404, "not_found")


@pytest.mark.parametrize(
    "path",
    ["/", "/v1/", "/v1/documents/", "/v1/documents/a/b/", "/v1/documents/../", "/v1/answers/a/", "/v1/documents/a"],
)
def test_a_ticket_is_for_one_document_or_run(shelf, path):
    _, client, _ = shelf
    problem(client.post("/v1/tickets", json={"path": path}), 400, "usage")


def test_a_ticket_ends_with_its_key(shelf):
    server, _, ids = shelf
    token = cli(server.store, "keys", "create", "leaver", "--scope", "read").stdout.strip()
    with keyed(server, token) as client:
        ticket = ticket_of(client, f"/v1/documents/{ids['md']}/")
    with httpx.Client(base_url=server.url, trust_env=False, timeout=60) as bare:
        assert bare.get(f"/v1/documents/{ids['md']}/text", params={"ticket": ticket}).status_code == 200
        cli(server.store, "keys", "revoke", "leaver")
        problem(bare.get(f"/v1/documents/{ids['md']}/text", params={"ticket": ticket}), 401, "unauthorised")


def test_where_a_quote_stands_now_is_found_in_the_newest_version(server):
    server.put("pot.md", "# Pot\n\nThe iron pot of the canteen holds forty litres.\n")
    answer = server.ask("How many litres does the iron pot of the canteen hold?")
    path = f"/v1/answers/{answer['answer_id']}/citations/1/now"
    (citation,) = answer["citations"]
    first = server.client.get(path).json()
    schemas.CitedNow.model_validate(first)
    assert (first["changed"], first["now"]) == (False, [citation["from"], citation["to"]])
    server.put("pot.md", "# Pot\n\nNew.\n\nThe iron pot of the canteen holds forty litres.\n")
    second = server.client.get(path).json()
    assert (second["changed"], second["now"]) == (True, [citation["from"] + 6, citation["to"] + 6])
    server.put("pot.md", "# Pot\n\nGone.\n")
    assert server.client.get(path).json()["now"] is None
    problem(server.client.get(path.replace("/1/now", "/9/now")), 404, "not_found")


def test_a_file_that_changed_on_the_disk_is_not_drawn_with_places_of_another(server, tmp_path):
    file = tmp_path / "docs" / "b.pdf"
    file.parent.mkdir()
    file.write_bytes(pdf([Page().text(72, 700, "First words")]))
    cli(server.store, "ingest", file.parent, "--collection", "disk")
    (document,) = server.client.get("/v1/documents", params={"collection": "disk"}).json()["documents"]
    path = f"/v1/documents/{document['id']}/pages/1"
    assert server.client.get(path).status_code == 200
    file.write_bytes(pdf([Page().text(72, 500, "Other words")]))
    problem(server.client.get(path, params={"dpi": 90}), 409, "source_changed")
    file.unlink()
    problem(server.client.get(path, params={"dpi": 91}), 404, "not_found")


def test_a_file_of_an_archive_has_an_original_and_pages(server, tmp_path):
    inner = pdf([Page().text(72, 700, "Packed words")])
    with zipfile.ZipFile(tmp_path / "packed.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("in/plan.pdf", inner)
    cli(server.store, "ingest", tmp_path / "packed.zip", "--collection", "packed")
    (document,) = server.client.get("/v1/documents", params={"collection": "packed"}).json()["documents"]
    whole = server.client.get(f"/v1/documents/{document['id']}/original")
    assert whole.content == inner
    assert whole.headers["etag"] == f'"{document["indexed_sha256"]}"'
    part = server.client.get(f"/v1/documents/{document['id']}/original", headers={"Range": "bytes=1-3"})
    assert (part.status_code, part.content) == (206, b"PDF")
    assert server.client.get(f"/v1/documents/{document['id']}/pages/1").status_code == 200


def test_the_page_and_its_files_are_served_under_a_strict_policy(server):
    page = server.client.get("/")
    names = re.findall(r'"(/page/[a-z_]+\.(?:js|css|svg))"', page.text)
    assert len(names) >= 4
    for answer in (page, *(server.client.get(name) for name in names)):
        assert answer.status_code == 200
        assert answer.headers["content-security-policy"].startswith(
            "default-src 'none'; script-src 'self'; style-src 'self';"
        )
        assert answer.headers["x-content-type-options"] == "nosniff"
        again = server.client.get(answer.request.url.path, headers={"If-None-Match": answer.headers["etag"]})
        assert again.status_code == 304
    assert server.client.get("/page/style.py").status_code == 404
    assert server.client.get("/page/..%2Fweb.py").status_code == 404
