"""The store's tables in a schema of a database: whose they are, of which version, and the migrations that are due.

`gawah_store` has one row, the application's number and the version: what the header of an SQLite file says.
"""

from __future__ import annotations

from gawah.errors import ForeignStoreError, NotFoundError, StoreError
from gawah.store.migrations import APPLICATION_ID, MIGRATIONS, statements_of
from gawah.store.postgres.connection import PostgresConnection
from gawah.store.postgres.dialect import translated_definition
from gawah.store.postgres.locks import SCHEMA, key

# In one statement: the tables of a store that is being made beside us are seen by both halves or by neither.
_FOUND = """
SELECT to_regclass(quote_ident(current_schema()) || '.gawah_store'), count(*) FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace
AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
"""


def prepare(opened: PostgresConnection, where: str, *, create: bool) -> None:
    """Brings the store to this version of gawah, once, however many processes begin together.

    Raises NotFoundError (no store there and `create` not given), ForeignStoreError (another program's tables, or a newer
    gawah's), StoreError.
    """
    if opened.execute("SELECT current_schema()").fetchall()[0][0] is None:
        raise StoreError(f"{where}: no schema of its search_path exists; make one with: CREATE SCHEMA")
    version = _version(opened, where)
    if version is None and not create:
        raise NotFoundError(f"no store in {where}; make one with: gawah ingest FOLDER")
    if version == len(MIGRATIONS):
        return
    if is_read_only(opened):
        raise StoreError(
            f"{where} has no store of this version and cannot be written; run `gawah status` on the primary"
        )
    opened.execute("BEGIN")
    try:
        opened.execute(f"SELECT pg_advisory_xact_lock({key(SCHEMA)})")
        _migrate(opened, where)
        opened.execute("COMMIT")
    except BaseException:
        if not opened.is_gone:
            opened.execute("ROLLBACK")
        raise


def is_read_only(opened: PostgresConnection) -> bool:
    """A standby, or a database or user that is set to read only."""
    return str(opened.execute("SELECT current_setting('transaction_read_only')").fetchall()[0][0]) == "on"


def _migrate(opened: PostgresConnection, where: str) -> None:
    version = _version(opened, where)  # another process may have been faster
    if version is None:
        opened.execute("CREATE TABLE gawah_store (application BIGINT NOT NULL, version BIGINT NOT NULL)")
        opened.execute("INSERT INTO gawah_store VALUES (?, 0)", (APPLICATION_ID,))
        version = 0
    for migration in MIGRATIONS[version:]:
        for statement in statements_of(migration, "postgres"):
            opened.execute_as_it_is(translated_definition(statement))
    opened.execute("UPDATE gawah_store SET version = ?", (len(MIGRATIONS),))


def _version(opened: PostgresConnection, where: str) -> int | None:
    """The store's version, None when the schema is empty."""
    ours, n_tables = opened.execute(_FOUND).fetchall()[0]
    if ours is None:
        if n_tables:
            raise ForeignStoreError(f"{where} holds another program's tables; name an empty database or schema")
        return None
    rows = opened.execute("SELECT * FROM gawah_store").fetchall()
    if len(rows) != 1 or rows[0].keys() != ["application", "version"] or rows[0][0] != APPLICATION_ID:
        raise ForeignStoreError(f"{where} holds another program's tables; name an empty database or schema")
    version = int(rows[0]["version"])
    if version > len(MIGRATIONS):
        raise ForeignStoreError(f"{where} was made by a newer gawah (store version {version}); upgrade gawah")
    return version
