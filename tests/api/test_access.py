"""Who may do what: keys, scopes, foreign collections, other sites, other names for this machine."""

import asyncio
import json
import socket
import threading

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.api.serving import Server, cli, events_of, keyed, problem, until

from gawah.api.access import DoorPolicy, RateLimit, is_loopback
from gawah.api.problems import ProblemError
from gawah.api.served import LOOKING_THREADS, Served
from gawah.api.server import policy_of, require_keys
from gawah.config import Settings
from gawah.errors import ConfigurationError
from gawah.store.catalog import SqliteCatalog
from gawah.store.keyring import KeyRing

OURS = "The red gate opens at dawn.\n"
THEIRS = "The vault code is changed on Fridays.\n"


def make_key(server, name, *scopes, **options):
    """A key made beside the running server, as the command line does."""
    catalog = SqliteCatalog(server.store)
    try:
        return KeyRing(catalog).create(name, scopes=scopes or ("read", "ask"), **options)[1]
    finally:
        catalog.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("access") / "store") as running:
        running.ours = running.put("gate.txt", OURS, collection="ours")
        running.theirs = running.put("vault.txt", THEIRS, collection="theirs")
        yield running


@pytest.fixture(scope="module")
def bound(server):
    """A client whose key knows one collection."""
    with keyed(server, make_key(server, "bound", "read", "ask", "ingest", collections=["ours"])) as client:
        yield client


def test_what_is_of_another_collection_is_not_there(server, bound):
    job, document = server.theirs["id"], server.theirs["document_id"]
    answers = [
        bound.get(f"/v1/documents/{document}"),
        bound.get(f"/v1/documents/{document}/original"),
        bound.get(f"/v1/documents/{document}/original", params={"sha256": server.theirs["sha256"]}),
        bound.get(f"/v1/documents/{document}/text"),
        bound.get(f"/v1/documents/{document}/place", params={"from": 0, "to": 1}),
        bound.post(f"/v1/documents/{document}/retry"),
        bound.delete(f"/v1/documents/{document}"),
        bound.get(f"/v1/jobs/{job}"),
        bound.get(f"/v1/jobs/{job}/events"),
        bound.get("/v1/documents", params={"collection": "theirs"}),
        bound.post("/v1/documents", files={"file": ("a.txt", "x")}, data={"collection": "theirs"}),
        bound.post("/v1/answers", json={"question": "When is the vault code changed?", "collections": ["theirs"]}),
        bound.post("/v1/answers", json={"question": "When is the vault code changed?", "documents": [document]}),
        bound.post("/v1/search", json={"question": "vault code", "collections": ["theirs"]}),
        bound.post(
            "/v1/chat/completions", json={"model": "gawah/theirs", "messages": [{"role": "user", "content": "vault?"}]}
        ),
    ]
    for answer in answers:
        problem(answer, 404, "not_found")
    assert [one["name"] for one in bound.get("/v1/documents").json()["documents"]] == ["gate.txt"]
    assert [one["name"] for one in bound.get("/v1/collections").json()["collections"]] == ["ours"]
    assert [one["document"] for one in bound.get("/v1/jobs").json()["jobs"]] == ["gate.txt"]
    assert [one["id"] for one in bound.get("/v1/models").json()["data"]] == ["gawah", "gawah/ours"]
    assert server.client.get(f"/v1/documents/{document}").status_code == 200


def test_a_search_without_a_filter_stays_within_the_keys_collections(bound):
    hits = bound.post("/v1/search", json={"question": "When is the vault code changed?"}).json()["hits"]
    assert {hit["collection"] for hit in hits} == {"ours"}
    body = bound.post("/v1/answers", json={"question": "When is the vault code changed?"}).json()
    assert (
        "vault"
        not in json.dumps({**body, "question": "", "refusal": {**(body["refusal"] or {}), "message": ""}}).lower()
    )


def test_events_of_another_collection_are_not_told(server):
    with (
        keyed(server, make_key(server, "watcher", "read", collections=["ours"])) as client,
        client.stream("GET", "/v1/events") as stream,
    ):
        events = events_of(stream.iter_lines())
        assert next(events)[0] == "watching"
        for collection in ("theirs", "ours"):
            with httpx.Client(base_url=server.url, trust_env=False, timeout=60) as other:
                sent = {"files": {"file": ("brief.txt", "A brief note.")}, "data": {"collection": collection}}
                job = other.post("/v1/documents", **sent).json()
                server.done(job)
                other.delete(f"/v1/documents/{job['document_id']}")
        for name, body in events:
            assert body["collection"] == "ours"
            if name == "removed":
                break


def test_answers_belong_to_who_asked(server, bound):
    ours = bound.post("/v1/answers", json={"question": "When does the red gate open?"}).json()["answer_id"]
    theirs = server.ask("When is the vault code changed?")["answer_id"]
    problem(bound.get(f"/v1/answers/{theirs}"), 404, "not_found")
    problem(bound.get(f"/v1/answers/{theirs}/verification"), 404, "not_found")
    assert theirs not in {one["answer_id"] for one in bound.get("/v1/answers").json()["answers"]}
    assert bound.get(f"/v1/answers/{ours}/verification").json()["holds"]
    assert server.client.get(f"/v1/answers/{ours}").status_code == 200  # an administrator sees all


def test_an_administrator_of_one_collection_does_not_read_answers_from_another(server):
    theirs = server.ask("When is the vault code changed?")["answer_id"]
    with keyed(server, make_key(server, "half", "admin", collections=["ours"])) as half:
        problem(half.get(f"/v1/answers/{theirs}"), 404, "not_found")
        problem(half.get(f"/v1/answers/{theirs}/verification"), 404, "not_found")
        problem(half.get(f"/v1/answers/{theirs}/citations/1/now"), 404, "not_found")
        assert half.get("/v1/answers").json()["answers"] == []


def test_a_key_does_what_its_scopes_say(server):
    with keyed(server, make_key(server, "reader", "read")) as reader:
        assert reader.get("/v1/documents").status_code == 200
        problem(reader.post("/v1/answers", json={"question": "a"}), 403, "forbidden")
        problem(reader.post("/v1/documents", files={"file": ("a.txt", "x")}), 403, "forbidden")
        problem(reader.get("/metrics"), 403, "forbidden")
        assert reader.get("/v1/me").json()["scopes"] == ["read"]
    with keyed(server, make_key(server, "ingester", "ingest")) as ingester:
        problem(ingester.get("/v1/documents"), 403, "forbidden")
        url = f"/v1/documents/{server.ours['document_id']}"
        problem(ingester.delete(url, params={"purge": "true"}), 403, "forbidden")
    with keyed(server, make_key(server, "admin", "admin")) as admin:
        assert admin.get("/metrics").status_code == 200


def test_a_revoked_an_expired_and_a_wrong_key_open_nothing(server):
    token = make_key(server, "gone")
    with keyed(server, token) as client:
        assert client.get("/v1/me").status_code == 200
        cli(server.store, "keys", "revoke", "gone")
        assert problem(client.get("/v1/me"), 401, "unauthorised")
    with keyed(server, make_key(server, "brief", "read", lifetime_s=1e-9)) as client:
        problem(client.get("/v1/me"), 401, "unauthorised")
    for wrong in (token[:-1], f"{token}x", "gawah__", "x", f"other_{token.partition('_')[2]}"):
        with keyed(server, wrong) as client:
            answer = client.get("/v1/me")
            problem(answer, 401, "unauthorised")
            assert answer.headers["www-authenticate"].startswith("Bearer")
    problem(server.client.get("/v1/me", headers={"Authorization": "Basic eDp5"}), 401, "unauthorised")


def test_the_store_keeps_no_secret(server):
    token = make_key(server, "hidden")
    secret = token.split("_", 2)[2].encode()
    assert not any(secret in path.read_bytes() for path in server.store.rglob("*") if path.is_file())
    assert token not in cli(server.store, "keys", "ls", "--json").stdout


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", "", "[::1].evil"]
)
def test_a_name_that_is_not_this_machines_is_not_served(server, host):
    problem(server.client.get("/v1/documents", headers={"Host": host}), 421, "host")


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://localhost:1", "http://127.0.0.1", "file://"]
)
def test_other_sites_are_not_heard(server, origin):
    for request in (
        server.client.build_request("POST", "/v1/answers", json={"question": "a"}, headers={"Origin": origin}),
        server.client.build_request("DELETE", "/v1/documents/d0", headers={"Origin": origin}),
        server.client.build_request("GET", "/v1/documents", headers={"Origin": origin}),
    ):
        problem(server.client.send(request), 403, "origin")
    problem(
        server.client.get("/v1/documents", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}),
        403,
        "origin",
    )


def test_this_servers_own_page_is_heard(server):
    assert (
        server.client.get("/v1/documents", headers={"Origin": server.url, "Sec-Fetch-Site": "same-origin"}).status_code
        == 200
    )


def test_who_comes_through_a_proxy_needs_a_key(server):
    problem(server.client.get("/v1/documents", headers={"X-Forwarded-For": "203.0.113.9"}), 401, "unauthorised")


def test_an_id_of_a_request_is_taken_over_only_when_it_is_harmless(server):
    assert server.client.get("/healthz", headers={"X-Request-Id": "abc-1"}).headers["x-request-id"] == "abc-1"
    for odd in ("a b", "x" * 65, 'a"b'):
        assert server.client.get("/healthz", headers={"X-Request-Id": odd}).headers["x-request-id"] != odd


def test_the_audit_log_has_who_did_what(server, bound):
    me = bound.get("/v1/me").json()["id"]
    job = bound.post("/v1/documents", files={"file": ("audited.txt", "Audited words.")}).json()
    bound.delete(f"/v1/documents/{job['document_id']}")

    def told():
        lines = [line for line in server.events("audit") if line.get("document_id") == job["document_id"]]
        return lines if len(lines) > 1 else []

    lines = until(told, "the audit log lacks what was done")
    assert [(line["key"], line["action"]) for line in lines] == [(me, "upload"), (me, "remove")]


def test_nobody_can_reach_a_server_without_keys(tmp_path):
    done = cli(tmp_path / "store", "serve", "--port", "0", "--host", "0.0.0.0", code=5)
    assert done.stderr.count("\n") == 1
    assert "gawah keys create" in done.stderr


@pytest.mark.parametrize(
    "options", [{"host": "::"}, {"host": "192.0.2.1"}, {"require_key": True}, {"host": "gawah.example"}]
)
def test_a_key_that_works_is_needed_and_enough(make_app, options):
    app = make_app(**options)
    with pytest.raises(ConfigurationError):
        require_keys(app)
    key, _ = app.keys.create("one", scopes=["read"])
    require_keys(app)
    app.keys.revoke(key.id)
    with pytest.raises(ConfigurationError):
        require_keys(app)


def test_an_address_that_is_taken_is_one_line(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = cli(tmp_path / "store", "serve", "--port", taken.getsockname()[1], code=5)
    assert done.stderr.count("\n") == 1


def test_a_server_that_asks_for_keys_limits_each(tmp_path):
    store = tmp_path / "store"
    token = json.loads(cli(store, "keys", "create", "k", "--json").stdout)["key"]
    words = (
        "--set",
        "require_key=true",
        "--set",
        "requests_per_minute=5",
        "--host",
        "0.0.0.0",
        "--set",
        "allowed_hosts=gawah.example",
    )
    with (
        Server(store, *words) as server,
        httpx.Client(base_url=server.url.replace("0.0.0.0", "127.0.0.1"), trust_env=False) as client,
    ):
        assert client.get("/healthz").status_code == 200
        problem(client.get("/v1/me"), 401, "unauthorised")
        problem(client.get("/v1/me", headers={"Host": "other.example"}), 421, "host")
        key = {"Authorization": f"Bearer {token}", "Host": "gawah.example"}
        found = [client.get("/v1/me", headers=key) for _ in range(7)]
        assert [answer.status_code for answer in found][:5] == [200] * 5
        problem(found[-1], 429, "rate_limited")
        assert int(found[-1].headers["retry-after"]) >= 1


def taken(limit):
    try:
        limit.take("one")
    except ProblemError:
        return False
    return True


@given(st.lists(st.floats(0, 30), max_size=60))
def test_no_more_is_let_through_than_the_bucket_holds_and_the_time_fills(gaps):
    now = [0.0]
    limit = RateLimit(6, clock=lambda: now[0])
    n_taken = 0
    for gap in gaps:
        now[0] += gap
        n_taken += taken(limit)
    assert n_taken <= 6 + sum(gaps) * 6 / 60 + 1e-6
    RateLimit(0).take("nobody is limited by nothing")


@given(host=st.text(max_size=30), port=st.integers(0, 65535))
def test_only_names_of_this_machine_need_no_key(host, port):
    policy = DoorPolicy(loopback=True)
    if policy.needs_no_key({"host": f"{host}:{port}"}):
        assert host.lower() in {"localhost", "127.0.0.1", "[::1]"}
    assert not DoorPolicy(loopback=False).needs_no_key({"host": "localhost"})


def test_loopback_is_known():
    assert all(is_loopback(host) for host in ("127.0.0.1", "localhost", "::1", "127.9.9.9"))
    assert not any(is_loopback(host) for host in ("0.0.0.0", "::", "10.0.0.1", "example.org", ""))


def test_pages_that_take_for_ever_to_draw_hold_up_nothing_but_pages(make_app):
    served, held = Served(make_app(), policy_of(Settings())), threading.Event()

    async def listed_meanwhile():
        drawing = [asyncio.ensure_future(served.look(held.wait)) for _ in range(LOOKING_THREADS * 4)]
        found = await served.read(lambda: "the list")
        assert not any(one.done() for one in drawing)
        held.set()
        assert all(await asyncio.gather(*drawing))
        return found

    try:
        assert asyncio.run(listed_meanwhile()) == "the list"
    finally:
        held.set()
        served.close()
