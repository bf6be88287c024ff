"""Servers that a test may kill."""

import pytest


@pytest.fixture
def postgres_of_its_own(start_postgres):
    server = start_postgres()
    yield server
    server.stop()
