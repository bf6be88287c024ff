"""The epoch as rows: a number that grows with every commit that changes what is searchable, and a random token for each.

The number alone does not name a state: a catalog that was restored from a backup counts on from there and comes by the same
numbers with other contents. The pair does; the newest pairs are kept, so that whoever knows a state can ask whether the
catalog came by it.
"""

from __future__ import annotations

import secrets

from gawah.store.sql import Connection

_KEPT = 16_384  # rows of some forty bytes; who has not looked for longer reads everything anew, a second at worst
_TOKEN_BYTES = 8


def bump(connection: Connection) -> None:
    """Begins the next epoch. Call it inside a write transaction."""
    epoch = current(connection)[0] + 1
    connection.execute("UPDATE meta SET value = ? WHERE key = 'epoch'", (str(epoch),))
    connection.execute("INSERT INTO epochs (epoch, token) VALUES (?, ?)", (epoch, secrets.token_hex(_TOKEN_BYTES)))
    connection.execute("DELETE FROM epochs WHERE epoch <= ?", (epoch - _KEPT,))


def current(connection: Connection) -> tuple[int, str]:
    row = connection.execute(
        "SELECT m.value, e.token FROM meta m LEFT JOIN epochs e ON e.epoch = CAST(m.value AS BIGINT) WHERE m.key = 'epoch'"
    ).fetchone()
    return int(row[0]), row[1] or ""


def knows(connection: Connection, epoch: int, token: str) -> bool:
    """Whether the catalog was at that epoch, among the newest."""
    row = connection.execute("SELECT 1 FROM epochs WHERE epoch = ? AND token = ?", (epoch, token)).fetchone()
    return row is not None
