"""Servers that a test may kill, and catalogs of an empty schema."""

import pytest


@pytest.fixture
def postgres_of_its_own(start_postgres):
    server = start_postgres()
    yield server
    server.stop()


@pytest.fixture
def address(postgres):
    return postgres.new_address()


@pytest.fixture
def open_catalog(address, tmp_path, clock):
    from gawah.store.postgres.catalog import PostgresCatalog

    opened = []

    def open_one(where=address, *, create=True):
        opened.append(PostgresCatalog(where, tmp_path / "store", create=create, clock=clock))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


@pytest.fixture
def catalog(open_catalog):
    return open_catalog()
