"""Servers for the tests of the HTTP side; without the extra `server` they skip."""

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
pytest.importorskip("python_multipart")

FILES = {
    "fees.md": "# Fees\n\nThe membership fee is 40 EUR a month, paid on the first Monday.\n\n## Late\n\nWho pays late pays 2 EUR more.\n",
    "guides/boats.txt": "The blue boat leaves the northern pier at seven in the morning.\n\nIt returns at noon.\n",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server of this module's own, with FILES in its store."""
    from tests.api.serving import Server

    with Server(tmp_path_factory.mktemp("served") / "store") as running:
        jobs = [running.upload(name, text) for name, text in FILES.items()]
        for job in jobs:
            assert running.done(job)["state"] == "ready"
        yield running
