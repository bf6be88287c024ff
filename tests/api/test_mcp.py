"""The tools at /mcp: the same answers behind the same door, key by key and collection by collection."""

import asyncio
import json
import os

import pytest
from tests.api.serving import Server, cli, keyed, problem, until

pytest.importorskip("mcp")
import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from gawah.store.catalog import SqliteCatalog
from gawah.store.keyring import KeyRing

QUESTION = "When does the red gate open?"
READING = ["search", "ask", "get_source", "list_collections", "verify_answer"]
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_collections", "arguments": {}}}
HEADERS = {"Accept": "application/json, text/event-stream"}


def talk(server, conversation, *, key="", mode="auto"):
    async def talked():
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        async with (
            httpx2.AsyncClient(headers=headers, trust_env=False, timeout=60) as plain,
            Client(streamable_http_client(f"{server.url}/mcp", http_client=plain), mode=mode) as client,
        ):
            return await conversation(client)

    return asyncio.run(talked())


def make_key(server, name, *scopes, **options):
    """A key made beside the running server, as the command line does."""
    catalog = SqliteCatalog(server.store)
    try:
        return KeyRing(catalog).create(name, scopes=scopes, **options)[1]
    finally:
        catalog.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("mcp") / "store", "--mcp-write") as running:
        running.ours = running.put("gate.txt", "The red gate opens at dawn.\n", collection="ours")
        running.theirs = running.put("vault.txt", "The vault code is changed on Fridays.\n", collection="theirs")
        yield running


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_an_answer_over_http_is_the_one_of_the_answers_route(server, mode):
    result = talk(server, lambda client: client.call_tool("ask", {"question": QUESTION}), mode=mode)
    asked = server.ask(QUESTION)
    assert result.structured_content["citations"] == asked["citations"] != []
    assert result.structured_content["answer"] == asked["answer"]
    stored = server.client.get(f"/v1/answers/{result.structured_content['answer_id']}").json()
    assert stored == result.structured_content
    until(
        lambda: [one for one in server.events("audit") if one.get("answer_id") == stored["answer_id"]],
        "no audit line of it",
    )


def test_a_key_of_one_collection_finds_nothing_else_by_any_tool(server):
    key = make_key(server, "bound", "read", "ask", collections=["ours"])
    theirs = server.ask("When is the vault code changed?")["answer_id"]

    async def conversation(client):
        names = [tool.name for tool in (await client.list_tools()).tools]
        refused = [
            await client.call_tool("get_source", {"document_id": server.theirs["document_id"]}),
            await client.call_tool("ask", {"question": "vault?", "collections": ["theirs"]}),
            await client.call_tool("ask", {"question": "vault?", "documents": [server.theirs["document_id"]]}),
            await client.call_tool("search", {"question": "vault?", "documents": ["vault.txt"]}),
            await client.call_tool("verify_answer", {"answer_id": theirs}),
        ]
        seen = await client.call_tool("list_collections")
        found = await client.call_tool("search", {"question": "vault code"})
        own = await client.call_tool("ask", {"question": QUESTION})
        verified = await client.call_tool("verify_answer", {"answer_id": own.structured_content["answer_id"]})
        with pytest.raises(MCPError):
            await client.call_tool("add_document", {"name": "a.md", "text": "x"})
        return names, refused, seen, found, verified

    names, refused, seen, found, verified = talk(server, conversation, key=key)
    assert names == READING
    assert all(one.is_error and one.content[0].text.startswith("not_found: ") for one in refused)
    assert [one["name"] for one in seen.structured_content["collections"]] == ["ours"]
    assert {hit["collection"] for hit in found.structured_content["hits"]} == {"ours"}
    assert verified.structured_content["holds"]


def test_tools_are_those_the_scopes_allow(server):
    def names(key):
        async def conversation(client):
            return [tool.name for tool in (await client.list_tools()).tools]

        return talk(server, conversation, key=key)

    assert names(make_key(server, "reader", "read")) == ["search", "get_source", "list_collections"]
    assert names(make_key(server, "asker", "ask")) == ["ask", "verify_answer"]
    assert names(make_key(server, "writer", "ingest")) == ["add_document", "remove_document"]


def test_a_text_is_added_and_removed_by_who_may_and_the_log_says_who(server):
    key = make_key(server, "editor", "read", "ingest", collections=["ours"])

    async def conversation(client):
        foreign = await client.call_tool("add_document", {"name": "a.md", "text": "x", "collection": "theirs"})
        added = await client.call_tool("add_document", {"name": "bell.md", "text": "The bell weighs 90 kg.\n"})
        return foreign, added

    foreign, added = talk(server, conversation, key=key)
    assert foreign.content[0].text.startswith("not_found")
    body = added.structured_content
    assert body["collection"] == "ours"
    assert server.done({"id": body["job"]})["state"] == "ready"
    removed = talk(
        server, lambda client: client.call_tool("remove_document", {"document_id": body["document_id"]}), key=key
    )
    assert removed.structured_content["removed"] == body["document_id"]
    lines = until(
        lambda: (
            found
            if len(found := [one for one in server.events("audit") if one.get("document_id") == body["document_id"]])
            > 1
            else []
        ),
        "the audit log lacks what was done",
    )
    assert [line["action"] for line in lines] == ["upload", "remove"]
    assert all(line["key"] and line["request_id"] for line in lines)


def test_the_door_is_the_servers_own(server):
    problem(server.client.post("/mcp", json=CALL, headers={**HEADERS, "Host": "evil.example"}), 421, "host")
    problem(server.client.post("/mcp", json=CALL, headers={**HEADERS, "Origin": "https://evil.example"}), 403, "origin")
    problem(
        server.client.post("/mcp", json=CALL, headers={**HEADERS, "X-Forwarded-For": "192.0.2.1"}), 401, "unauthorised"
    )
    with keyed(server, "gawah_wrong_key") as client:
        problem(client.post("/mcp", json=CALL, headers=HEADERS), 401, "unauthorised")
    problem(server.client.get("/mcp", headers=HEADERS), 405, "method_not_allowed")
    problem(server.client.delete("/mcp"), 405, "method_not_allowed")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400), (b"no json", 400), (b"[]", 400), (b"null", 400), (b'{"jsonrpc": "2.0"}', 400), (b"\xff\xfe", 400),
        (b"[" * 100_000, 400), (b"{" * 100, 400), (b"x" * 1_100_000, 413), (b'{"a": "' + b"x" * 1_000_000 + b'"}', 400),
    ],
)  # fmt: skip
def test_bodies_that_are_no_messages_are_refused_and_cost_nothing(server, body, status):
    answer = server.client.post("/mcp", content=body, headers={**HEADERS, "Content-Type": "application/json"})
    assert answer.status_code == status, answer.text
    assert len(answer.content) < 4000


def test_a_body_that_lies_about_its_length_is_cut_at_the_limit(server):
    def pieces():
        for _ in range(30):
            yield b"x" * 100_000

    answer = server.client.post("/mcp", content=pieces(), headers={**HEADERS, "Content-Type": "application/json"})
    assert answer.status_code == 413


def test_nothing_of_this_was_a_server_error_and_no_question_is_logged(server):
    assert "vault?" not in json.dumps(server.lines)
    assert QUESTION not in json.dumps(server.lines)
    assert not server.events("text")
    assert not server.events("error")
    assert not [line for line in server.events("request") if line["status"] >= 500]


def test_without_the_library_the_route_and_the_command_say_what_to_install(tmp_path):
    (tmp_path / "shadow" / "mcp").mkdir(parents=True)
    (tmp_path / "shadow" / "mcp" / "__init__.py").write_text("raise ImportError('too old')\n")
    shadowed = {"PYTHONPATH": f"{tmp_path / 'shadow'}:{os.environ.get('PYTHONPATH', '')}"}
    with Server(tmp_path / "store", "--workers", "0", environment=shadowed) as server:
        for _ in range(2):
            body = problem(server.client.post("/mcp", json=CALL, headers=HEADERS), 501, "mcp_missing")
            assert "gawah[mcp]" in body["detail"]
        assert server.client.get("/v1/documents").status_code == 200
    done = cli(tmp_path / "store", "mcp", code=5, environment=shadowed)
    assert done.stderr.count("\n") == 1
    assert "gawah[mcp]" in done.stderr


def test_without_leave_nobody_can_change_documents(tmp_path):
    with Server(tmp_path / "store", "--workers", "0") as server:

        async def conversation(client):
            return [tool.name for tool in (await client.list_tools()).tools]

        assert talk(server, conversation) == READING
