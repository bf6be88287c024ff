"""Two servers on one PostgreSQL catalog, each with a folder of its own, as on two machines."""

import concurrent.futures

import pytest

pytest.importorskip("psycopg")


@pytest.fixture
def servers(postgres, tmp_path):
    from tests.api.serving import Server

    environment = {"GAWAH_CATALOG": postgres.new_address(), "GAWAH_CACHE": str(tmp_path / "cache")}
    with (
        Server(tmp_path / "one", environment=environment) as one,
        Server(tmp_path / "two", environment=environment) as two,
    ):
        yield one, two


def test_what_one_server_takes_the_other_serves(servers):
    one, two = servers
    texts = {f"boat{n}.txt": f"Boat number {n} leaves pier {n} at {n + 5} in the morning.\n" for n in range(6)}
    sides = {name: servers[n % 2] for n, name in enumerate(texts)}
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        jobs = list(pool.map(lambda name: sides[name].upload(name, texts[name]), texts))
        ended = list(pool.map(lambda job: servers[job["id"] % 2].done(job), jobs))
    assert [job["state"] for job in ended] == ["ready"] * 6
    assert len({job["id"] for job in ended}) == 6

    def listed(server):
        return [
            (each["name"], each["state"], each["counters"])
            for each in server.client.get("/v1/documents").json()["documents"]
        ]

    assert listed(one) == listed(two)
    assert [name for name, *_ in listed(one)] == sorted(texts)

    key = {"Idempotency-Key": "once-only"}
    first = one.upload("again.txt", "Sent twice, kept once.\n", headers=key)
    assert two.upload("again.txt", "Sent twice, kept once.\n", headers=key)["id"] == first["id"]
    assert two.done(first)["state"] == "ready"

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda n: servers[n % 2].ask("When does boat number 3 leave?"), range(8)))
    quotes = {
        tuple((c["quote"], c["document_id"], c["cosine_distance"]) for c in answer["citations"]) for answer in answers
    }
    assert len(quotes) == 1
    assert answers[0]["citations"], answers[0]
    for server in servers:
        assert server.client.get(f"/v1/answers/{answers[0]['answer_id']}").status_code == 200
    from gawah.app import Application
    from gawah.config import load_settings

    settings = load_settings(environment=one.environment).settings
    with Application(settings) as app:
        assert len(app.catalog.load_answers()) == 8
        assert app.broken_links() == []
        assert app.log_fault() == ""
        _, token = app.keys.create("page", scopes=["read"])
    for server in servers:
        found = server.client.get("/v1/documents", headers={"Authorization": f"Bearer {token}"})
        assert found.status_code == 200
        assert server.client.get("/v1/documents", headers={"Authorization": "Bearer gawah_x_y"}).status_code == 401
