"""The PostgreSQL catalog: the contract, and what is PostgreSQL's own."""

from dataclasses import dataclass

import pytest

from gawah.testing.catalog import CatalogContract

pytest.importorskip("psycopg")


@dataclass
class Clock:
    now: float = 1_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def catalog(postgres, tmp_path, clock):
    from gawah.store.postgres.catalog import PostgresCatalog

    opened = PostgresCatalog(postgres.new_address(), tmp_path / "store", create=True, clock=clock)
    yield opened
    opened.close()


class TestPostgresCatalog(CatalogContract):
    pass
