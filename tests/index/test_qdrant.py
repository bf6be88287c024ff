"""The Qdrant index keeps the contract over the vendor's engine, and over a server that GAWAH_TEST_QDRANT_URL names."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from gawah.index.qdrant import QdrantIndex
from gawah.index.qdrant_requests import Connection
from gawah.testing.index import analyze_plain
from gawah.testing.index_contract import IndexContract

pytest.importorskip("qdrant_client")
SERVER = "GAWAH_TEST_QDRANT_URL"


@pytest.fixture(scope="module")
def engine_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    pytest.importorskip("qdrant_edge")
    from gawah.testing.qdrant_engine import Server

    with Server(tmp_path_factory.mktemp("engine")) as server:
        yield server.url


@pytest.fixture(scope="module")
def server_url() -> str:
    url = os.environ.get(SERVER, "")
    if not url:
        pytest.skip(f"{SERVER} names no Qdrant server")
    return url


def fresh_index(url: str) -> QdrantIndex:
    return QdrantIndex(
        Connection(url), f"gawah-test-{uuid4().hex[:8]}", analyze_plain, Path(tempfile.gettempdir()) / "none"
    )


class TestOverTheVendorsEngine(IndexContract):
    @pytest.fixture(autouse=True)
    def _server(self, engine_url: str) -> None:
        self.url = engine_url

    def make_index(self) -> QdrantIndex:
        return fresh_index(self.url)


class TestOverAServer(IndexContract):
    @pytest.fixture(autouse=True)
    def _server(self, server_url: str) -> Iterator[None]:
        self.url = server_url
        self.made: list[QdrantIndex] = []
        yield
        for index in self.made:
            index.drop()

    def make_index(self) -> QdrantIndex:
        self.made.append(fresh_index(self.url))
        return self.made[-1]
