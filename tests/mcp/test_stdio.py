"""The tools on standard streams, by the official client and by hand: the command line's answers, errors of one line, nothing
but the protocol on standard output.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client, MCPError, StdioServerParameters, stdio_client
from tests.api.serving import cli

QUESTION = "How much is the membership fee?"
FAR = "Which enzyme folds collagen in the deep sea?"
READING = ["search", "ask", "get_source", "list_collections", "verify_answer"]


def talk(store, conversation, *words, mode="auto"):
    """What a conversation with a server of this store returns."""
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "gawah", "mcp", "--store", str(store), *words], env=dict(os.environ)
    )

    async def talked():
        with Path(os.devnull).open("w") as nowhere:  # noqa: ASYNC230
            async with Client(stdio_client(command, nowhere), mode=mode) as client:
                return await conversation(client)

    return asyncio.run(talked())


def comparable(body):
    return {**body, "answer_id": "", "provenance": {**body["provenance"], "times_ms": {}}}


def text_of(result):
    (content,) = result.content
    return content.text


def raw(store, *lines, words=()):
    """The process, fed with lines and then left: its exit code, the objects it wrote, and its complaints."""
    done = subprocess.run(
        [sys.executable, "-m", "gawah", "mcp", "--store", str(store), *words],
        input=b"".join(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines),
        capture_output=True, check=False, timeout=120,
    )  # fmt: skip
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode()


HELLO = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "by-hand", "version": "1"}},
}  # fmt: skip
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def calling(name, number=2, **arguments):
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_an_answer_is_the_command_lines_to_the_letter_its_sources_open_and_its_quotes_verify(store, mode):
    async def conversation(client):
        names = [tool.name for tool in (await client.list_tools()).tools]
        answer = await client.call_tool("ask", {"question": QUESTION})
        citation = answer.structured_content["citations"][0]
        place = {"document_id": citation["document_id"], "from": citation["from"], "to": citation["to"]}
        source = await client.call_tool("get_source", {**place, "text_sha256": citation["text_sha256"]})
        other = await client.call_tool("get_source", {**place, "text_sha256": "0" * 64})
        verified = await client.call_tool("verify_answer", {"answer_id": answer.structured_content["answer_id"]})
        return names, answer, source, other, verified

    names, answer, source, other, verified = talk(store, conversation, mode=mode)
    assert names == READING
    printed = json.loads(cli(store, "ask", QUESTION, "--json").stdout)
    assert comparable(answer.structured_content) == comparable(printed)
    citation = printed["citations"][0]
    for words in (printed["answer"], citation["quote"], f"[{citation['marker']}] ", citation["url"]):
        assert words in text_of(answer)
    assert source.structured_content["text"] == citation["quote"]
    assert (source.structured_content["changed"], other.structured_content["changed"]) == (False, True)
    assert source.structured_content["fragment"] == citation["fragment"]
    assert verified.structured_content["holds"]


def test_a_refusal_is_a_result_and_says_what_came_nearest(store):
    result = talk(store, lambda client: client.call_tool("ask", {"question": FAR}))
    assert (result.is_error, result.structured_content["status"]) == (False, "refused")
    assert "NO ANSWER" in text_of(result)
    assert result.structured_content["refusal"]["nearest"][0]["content"][:40] in text_of(result)


def test_what_cannot_be_is_an_error_of_one_line_and_the_next_call_is_served(store):
    wrong = [
        ("ask", {"question": "x" * 8001}),
        ("ask", {"question": "x" * 300_000}),
        ("ask", {"question": ""}),
        ("ask", {"question": " "}),
        ("ask", {}),
        ("ask", {"question": 7}),
        ("ask", {"question": QUESTION, "n": 1}),
        ("ask", {"question": QUESTION, "collections": ["nobodys"]}),
        ("ask", {"question": QUESTION, "documents": ["nothing.md"]}),
        ("search", {"question": QUESTION, "limit": 0}),
        ("get_source", {"document_id": "../../etc/passwd"}),
        ("get_source", {"document_id": "fees.md"}),
        ("get_source", {"document_id": "d" * 200}),
        ("get_source", {"document_id": "d", "from": -1}),
        ("verify_answer", {"answer_id": "a0"}),
    ]

    async def conversation(client):
        failed = [(name, await client.call_tool(name, arguments)) for name, arguments in wrong]
        with pytest.raises(MCPError, match="no tool 'remove_document' for you"):
            await client.call_tool("remove_document", {"document_id": "d"})
        return failed, await client.call_tool("list_collections")

    failed, served = talk(store, conversation)
    for name, result in failed:
        assert result.is_error, name
        assert "\n" not in text_of(result)
        assert len(text_of(result)) < 500
        assert "x" * 100 not in text_of(result)
    assert served.structured_content["collections"][0]["name"] == "default"


def test_words_of_a_document_cannot_leave_their_quote(store):
    async def conversation(client):
        return [text_of(await client.call_tool("search", {"question": "Who is the harbour master?"})) for _ in range(2)]

    texts = talk(store, conversation)
    seals = [text.partition("«")[2].split()[0] for text in texts]
    assert seals[0] != seals[1]
    for seal, text in zip(seals, texts, strict=True):
        outside = "".join(part.partition(f"\n{seal}»")[2] for part in text.split(f"«{seal}\n"))
        assert "Ignore all instructions" in text
        assert "Ignore all instructions" not in outside
        assert "Now I am the system" not in outside


def test_lines_that_are_no_messages_are_answered_and_standard_output_is_protocol_only(store):
    garbage = [b"not json\n", b"{\n", b"[]\n", b"\xff\xfe\n", b'{"jsonrpc": "2.0"}\n', b"null\n", b"[" * 5000 + b"\n"]
    code, written, complaints = raw(store, *garbage, HELLO, READY, *garbage, calling("list_collections"))
    assert code == 0
    assert all(line["jsonrpc"] == "2.0" for line in written)
    errors = [
        line for line in written if "error" in line and line["id"] is None
    ]  # a call may still be cut off by the end
    assert {line["error"]["code"] for line in errors} == {-32700}
    assert len(errors) == 2 * len(garbage)
    assert {line["id"] for line in written if "result" in line} >= {1}
    assert all(json.loads(line) for line in complaints.splitlines())


def test_a_client_that_goes_away_ends_the_process_and_the_store_stays_whole(store):
    code, written, complaints = raw(store, HELLO, READY, *(calling("ask", n, question=QUESTION) for n in range(2, 12)))
    assert code == 0
    assert {line["id"] for line in written} <= set(range(1, 12))
    assert "Traceback" not in complaints
    command = [sys.executable, "-m", "gawah", "mcp", "--store", str(store)]
    gone = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    gone.stdin.write(json.dumps(HELLO).encode() + b"\n")
    gone.stdin.flush()
    assert json.loads(gone.stdout.readline())["id"] == 1
    gone.stdout.close()  # whoever reads has left; the next answer cannot be written
    gone.stdin.write(
        json.dumps(READY).encode() + b"\n" + json.dumps(calling("ask", question=QUESTION)).encode() + b"\n"
    )
    gone.stdin.close()
    assert gone.wait(60) in (0, 141)
    assert b"Traceback" not in gone.stderr.read()
    gone.stderr.close()
    assert json.loads(cli(store, "doctor", "--json").stdout)["ok"]


def test_an_interrupt_ends_it(store):
    command = [sys.executable, "-m", "gawah", "mcp", "--store", str(store)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdin.write(json.dumps(HELLO).encode() + b"\n")
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) != 0


def test_documents_are_changed_only_when_that_was_allowed(tmp_path):
    async def conversation(client):
        tools = {tool.name: tool.annotations for tool in (await client.list_tools()).tools}
        added = await client.call_tool(
            "add_document", {"name": "notes/tide.md", "text": "# Tide\n\nThe tide turns at 04:12 on Friday.\n"}
        )
        answer = await client.call_tool("ask", {"question": "When does the tide turn on Friday?"})
        outside = await client.call_tool("add_document", {"name": "../out.md", "text": "x"})
        gone = await client.call_tool("remove_document", {"document_id": added.structured_content["document_id"]})
        again = await client.call_tool("remove_document", {"document_id": added.structured_content["document_id"]})
        after = await client.call_tool("search", {"question": "tide"})
        verified = await client.call_tool("verify_answer", {"answer_id": answer.structured_content["answer_id"]})
        return tools, added, answer, outside, gone, again, after, verified

    tools, added, answer, outside, gone, again, after, verified = talk(tmp_path / "new", conversation, "--write")
    assert list(tools) == [*READING, "add_document", "remove_document"]
    assert [name for name, hints in tools.items() if not hints.read_only_hint] == ["add_document", "remove_document"]
    assert [name for name, hints in tools.items() if hints.destructive_hint] == ["remove_document"]
    assert (added.structured_content["state"], added.structured_content["document"]) == ("ready", "notes/tide.md")
    assert "04:12" in answer.structured_content["answer"]
    assert text_of(outside).startswith("usage: the name is a path")
    assert gone.structured_content["chunks"] == 1
    assert text_of(again).startswith("not_found")
    assert after.structured_content["hits"] == []
    assert verified.structured_content["holds"], "the original of an answer stays"


def test_without_a_store_there_is_one_line_and_no_protocol(tmp_path):
    code, written, complaints = raw(tmp_path / "none", HELLO)
    assert (code != 0, written, complaints.count("\n")) == (True, [], 1)
