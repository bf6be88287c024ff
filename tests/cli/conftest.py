"""Stores to run commands on."""

import pytest
from tests.cli.runner import FILES, Runner


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def gawah(tmp_path, cache):
    return Runner(tmp_path, cache)


@pytest.fixture(scope="module")
def filled(tmp_path_factory, cache):
    """A runner whose store holds FILES; for tests that change nothing."""
    runner = Runner(tmp_path_factory.mktemp("filled"), cache)
    (runner.directory / "docs").mkdir()
    for name, text in FILES.items():
        (runner.directory / "docs" / name).write_text(text, encoding="utf-8")
    runner("ingest", "docs")
    return runner
