"""The catalog in a PostgreSQL database. Segments and originals stay in the store's folder."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from gawah.errors import StoreError
from gawah.store.catalog import SqlCatalog
from gawah.store.postgres.database import PostgresDatabase


class PostgresCatalog(SqlCatalog):
    """Implements ports.Catalog. `address` is a URL or a libpq connection string; nothing shown holds its password.

    Several machines may share the database, each with a folder of its own. Raises NotFoundError when there is no store
    and `create` is not given, ForeignStoreError, ConfigurationError, StoreError.
    """

    def __init__(
        self, address: str, directory: Path, *, create: bool = False, clock: Callable[[], float] = time.time
    ) -> None:
        database = PostgresDatabase(address, create=create)
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            database.close()
            raise StoreError(f"the store {directory} cannot be made: {error.strerror or error}") from error
        super().__init__(database, directory, clock)
