"""The OpenAPI document and the server hold each other: nothing undocumented comes out, whatever goes in."""

import importlib.util
import subprocess
import sys

import pytest
from tests.api.serving import Server

EXAMPLES = 6  # a route: a bounded run
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance"
STREAMS = "/events$"  # they never end


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("openapi") / "store") as running:
        running.put("lamp.txt", "The lamp is lit at dusk.\n")
        running.ask("When is the lamp lit?")
        yield running


def test_every_route_says_what_it_may_answer_and_every_error_is_a_problem(server):
    document = server.client.get("/openapi.json").json()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert operation.get("description"), (method, path)
            if path == "/healthz":
                continue
            for status, response in operation["responses"].items():
                if status >= "400":
                    assert set(response["content"]) == {"application/problem+json"}, (method, path, status)
    assert "HTTPValidationError" not in document["components"]["schemas"]


def test_a_method_that_is_not_there_is_told_which_are(server):
    answer = server.client.put("/v1/documents")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, POST")


def test_generated_requests_meet_no_server_error_and_nothing_undocumented(server):
    if importlib.util.find_spec("schemathesis") is None:
        pytest.skip("schemathesis is not installed")
    command = [
        sys.executable, "-c", "from schemathesis.cli import schemathesis; schemathesis()",
        "run", f"{server.url}/openapi.json", "--checks", CHECKS, "--exclude-path-regex", STREAMS,
        "--max-examples", str(EXAMPLES), "--phases", "fuzzing,stateful", "--workers", "1", "--seed", "1",
        "--request-timeout", "30",
    ]  # fmt: skip
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert not server.events("error")
    statuses = {line["status"] for line in server.events("request")}
    assert {200, 202, 404, 422} <= statuses, "the run did not reach the routes"
    assert max(statuses) < 500
