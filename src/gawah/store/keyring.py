"""API keys: made, listed, revoked, recognised. What is kept of a secret is its hash, so a stolen store opens no door.

A secret has 256 random bits, so one SHA-256 is enough; salts and slow hashes are for passwords that people choose.
"""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Sequence

from gawah.errors import NotFoundError, UsageError
from gawah.fingerprint import sha256_text
from gawah.store.catalog import SqlCatalog
from gawah.store.sql import Row
from gawah.types import ApiKey

SCOPES = ("read", "ask", "ingest", "admin")
PREFIX = "gawah"
_ID_BYTES = 6
_SECRET_BYTES = 32
_COLUMNS = "id, name, scopes, collections, created_at, expires_at, revoked_at"


class KeyRing:
    """The keys of a store. Threads may share it."""

    def __init__(self, catalog: SqlCatalog) -> None:
        self._catalog = catalog

    def create(
        self, name: str, *, scopes: Sequence[str], collections: Sequence[str] = (), lifetime_s: float | None = None
    ) -> tuple[ApiKey, str]:
        """A key and the token that proves it, `gawah_ID_SECRET`: it is shown here and never again. Raises UsageError."""
        if unknown := [scope for scope in scopes if scope not in SCOPES]:
            raise UsageError(f"there is no scope {unknown[0]}; choose from {', '.join(SCOPES)}")
        if not scopes:
            raise UsageError(f"a key without a scope may do nothing; choose from {', '.join(SCOPES)}")
        now = self._catalog.clock()
        expires_at = None if lifetime_s is None else now + lifetime_s
        ordered = tuple(scope for scope in SCOPES if scope in scopes)
        key = ApiKey(
            secrets.token_hex(_ID_BYTES), name, ordered, tuple(dict.fromkeys(collections)), now, expires_at, None
        )
        token = f"{PREFIX}_{key.id}_{secrets.token_urlsafe(_SECRET_BYTES)}"
        with self._catalog.writing() as opened:
            opened.execute(
                "INSERT INTO api_keys (id, name, secret_sha256, scopes, collections, created_at, expires_at) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    key.id,
                    name,
                    sha256_text(token),
                    json.dumps(key.scopes),
                    json.dumps(key.collections),
                    now,
                    expires_at,
                ),
            )
        return key, token

    def all(self) -> list[ApiKey]:
        """Every key there ever was, oldest first."""
        with self._catalog.reading() as opened:
            rows = opened.execute(f"SELECT {_COLUMNS} FROM api_keys ORDER BY created_at, id").fetchall()  # noqa: S608
        return [_key(row) for row in rows]

    def revoke(self, id_or_name: str) -> ApiKey:
        """Raises NotFoundError when no key that still works is meant, or more than one."""
        now = self._catalog.clock()
        meant = [key for key in self.all() if id_or_name in (key.id, key.name) and key.revoked_at is None]
        if len(meant) != 1:
            how_many = f"{len(meant)} keys are" if meant else "no working key is"
            raise NotFoundError(f"{how_many} named {id_or_name}; `gawah keys ls` lists them with their ids")
        with self._catalog.writing() as opened:
            opened.execute("UPDATE api_keys SET revoked_at = ? WHERE id = ?", (now, meant[0].id))
        return meant[0]

    def works(self, key: ApiKey) -> bool:
        """Whether it opens anything now: neither revoked nor expired."""
        return key.revoked_at is None and (key.expires_at is None or key.expires_at > self._catalog.clock())

    def recognise(self, token: str) -> ApiKey | None:
        """The working key that a token proves; None for every other, without saying why."""
        prefix, _, rest = token.partition("_")
        key_id = rest.partition("_")[0]
        with self._catalog.reading() as opened:
            row = opened.execute(f"SELECT {_COLUMNS}, secret_sha256 FROM api_keys WHERE id = ?", (key_id,)).fetchone()  # noqa: S608
        if row is None or prefix != PREFIX or not hmac.compare_digest(row["secret_sha256"], sha256_text(token)):
            return None
        key = _key(row)
        return key if self.works(key) else None


def _key(row: Row) -> ApiKey:
    return ApiKey(
        row["id"],
        row["name"],
        tuple(json.loads(row["scopes"])),
        tuple(json.loads(row["collections"])),
        row["created_at"],
        row["expires_at"],
        row["revoked_at"],
    )
