"""Catalogs of both kinds: a test that takes `any_catalog` runs over a file and over a database."""

import pytest


class Clock:
    def __init__(self):
        self.now = 1_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(params=["sqlite", "postgres"])
def any_catalog(request, tmp_path, clock):
    if request.param == "sqlite":
        from gawah.store.catalog import SqliteCatalog

        catalog = SqliteCatalog(tmp_path / "store", create=True, clock=clock)
    else:
        address = request.getfixturevalue("postgres").new_address()
        from gawah.store.postgres.catalog import PostgresCatalog

        catalog = PostgresCatalog(address, tmp_path / "store", create=True, clock=clock)
    yield catalog
    catalog.close()
