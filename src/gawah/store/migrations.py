"""Numbered migrations, the same for SQLite and PostgreSQL. Each runs in one transaction with the number that says it ran.

A statement ends with ";" at the end of a line. One that begins with `-- sqlite only` or `-- postgres only` is left out
elsewhere; column types are SQLite's and are translated (postgres/dialect.py). An index entry of PostgreSQL holds 2,700 bytes
at most, and paths may be longer: there the hash of collection and name, the id, is what is unique. PostgreSQL's planner keeps
samples of columns in a table that no purge of ours can rewrite, so it takes none of columns with words (`SET STATISTICS 0`).
"""

from __future__ import annotations

from typing import Literal

APPLICATION_ID = 0x67617768  # "gawh": SQLite keeps it in the file's header, so a foreign database is known by it

_FIRST = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO meta VALUES ('epoch', '0');

CREATE TABLE generations (
  id         INTEGER PRIMARY KEY,
  model      TEXT NOT NULL,
  state      TEXT NOT NULL CHECK (state IN ('building', 'active', 'retired')),
  created_at REAL NOT NULL
);
CREATE UNIQUE INDEX generations_one_active ON generations (state) WHERE state = 'active';

CREATE TABLE documents (
  no             INTEGER PRIMARY KEY AUTOINCREMENT,
  id             TEXT NOT NULL UNIQUE,
  collection     TEXT NOT NULL,
  name           TEXT NOT NULL,
  uri            TEXT NOT NULL,
  media_type     TEXT NOT NULL DEFAULT '',
  size_bytes     INTEGER NOT NULL DEFAULT 0,
  file_sha256    TEXT NOT NULL DEFAULT '',
  state          TEXT NOT NULL CHECK (state IN ('queued', 'extracting', 'chunking', 'embedding', 'ready', 'failed')),
  failure_code   TEXT,
  failure_reason TEXT,
  retryable      INTEGER NOT NULL DEFAULT 0,
  attempts       INTEGER NOT NULL DEFAULT 0,
  next_try_at    REAL,
  title          TEXT NOT NULL DEFAULT '',
  language       TEXT NOT NULL DEFAULT '',
  text_sha256    TEXT NOT NULL DEFAULT '',
  stamp          TEXT,
  n_chars        INTEGER NOT NULL DEFAULT 0,
  n_chunks       INTEGER NOT NULL DEFAULT 0,
  n_tokens       INTEGER NOT NULL DEFAULT 0,
  n_truncated    INTEGER NOT NULL DEFAULT 0,
  indexed_sha256 TEXT NOT NULL DEFAULT '',
  created_at     REAL NOT NULL,
  updated_at     REAL NOT NULL,
  UNIQUE (collection, name)
);
-- postgres only
ALTER TABLE documents DROP CONSTRAINT documents_collection_name_key;
-- sqlite only
CREATE INDEX documents_by_uri ON documents (uri);
-- postgres only
CREATE INDEX documents_by_uri ON documents USING hash (uri);
CREATE INDEX documents_by_state ON documents (state);
-- postgres only
ALTER TABLE documents ALTER name SET STATISTICS 0, ALTER uri SET STATISTICS 0, ALTER failure_reason SET STATISTICS 0,
  ALTER title SET STATISTICS 0;

CREATE TABLE contents (
  document_no INTEGER PRIMARY KEY REFERENCES documents (no) ON DELETE CASCADE,
  text        TEXT NOT NULL,
  extraction  TEXT NOT NULL
);
-- postgres only
ALTER TABLE contents ALTER text SET STATISTICS 0, ALTER extraction SET STATISTICS 0;

CREATE TABLE embeddings (
  id           INTEGER PRIMARY KEY,
  model_sha256 TEXT NOT NULL,
  text_sha256  TEXT NOT NULL,
  vector       BLOB NOT NULL,
  signs        BLOB NOT NULL,
  scales       BLOB NOT NULL,
  UNIQUE (model_sha256, text_sha256)
);
-- postgres only
ALTER TABLE embeddings ALTER vector SET STORAGE EXTERNAL, ALTER signs SET STORAGE EXTERNAL;

CREATE TABLE chunks (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  id           TEXT NOT NULL,
  generation   INTEGER NOT NULL REFERENCES generations (id),
  document_no  INTEGER NOT NULL REFERENCES documents (no),
  ordinal      INTEGER NOT NULL,
  section      TEXT NOT NULL,
  first        INTEGER NOT NULL,
  past         INTEGER NOT NULL,
  n_tokens     INTEGER NOT NULL,
  n_head_chars INTEGER NOT NULL,
  text         TEXT NOT NULL,
  locator      TEXT NOT NULL,
  embedding    INTEGER NOT NULL REFERENCES embeddings (id),
  UNIQUE (generation, id)
);
CREATE INDEX chunks_by_document ON chunks (document_no, generation, ordinal);
CREATE INDEX chunks_by_embedding ON chunks (embedding);
-- postgres only
ALTER TABLE chunks ALTER section SET STATISTICS 0, ALTER text SET STATISTICS 0, ALTER locator SET STATISTICS 0;

CREATE TABLE deletions (
  mark       INTEGER PRIMARY KEY AUTOINCREMENT,
  generation INTEGER NOT NULL,
  seq        INTEGER NOT NULL
);

CREATE TABLE segments (
  name            TEXT PRIMARY KEY,
  generation      INTEGER NOT NULL,
  first_seq       INTEGER NOT NULL,
  last_seq        INTEGER NOT NULL,
  n_chunks        INTEGER NOT NULL,
  manifest_sha256 TEXT NOT NULL
);

CREATE TABLE jobs (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  document_no INTEGER NOT NULL UNIQUE REFERENCES documents (no) ON DELETE CASCADE,
  owner       TEXT,
  lease_until REAL,
  fence       INTEGER NOT NULL DEFAULT 0,
  created_at  REAL NOT NULL
);

CREATE TABLE answers (
  seq             INTEGER PRIMARY KEY AUTOINCREMENT,
  id              TEXT NOT NULL UNIQUE,
  created_at      REAL NOT NULL,
  status          TEXT NOT NULL,
  body            TEXT,
  body_sha256     TEXT NOT NULL,
  previous_sha256 TEXT NOT NULL,
  chain_sha256    TEXT NOT NULL
);
-- postgres only
ALTER TABLE answers ALTER body SET STATISTICS 0;
CREATE TABLE answer_documents (
  answer_seq  INTEGER NOT NULL REFERENCES answers (seq),
  document_id TEXT NOT NULL,
  PRIMARY KEY (answer_seq, document_id)
) WITHOUT ROWID;
CREATE INDEX answer_documents_by_document ON answer_documents (document_id);
"""

_SERVING = """
CREATE TABLE uploads (
  no          INTEGER PRIMARY KEY AUTOINCREMENT,
  document_id TEXT NOT NULL,
  collection  TEXT NOT NULL,
  name        TEXT NOT NULL,
  sha256      TEXT NOT NULL,
  size_bytes  INTEGER NOT NULL,
  path        TEXT NOT NULL,
  created_at  REAL NOT NULL
);
CREATE INDEX uploads_by_document ON uploads (document_id);
-- postgres only
ALTER TABLE uploads ALTER name SET STATISTICS 0, ALTER path SET STATISTICS 0;

CREATE TABLE api_keys (
  id            TEXT PRIMARY KEY,
  name          TEXT NOT NULL,
  secret_sha256 TEXT NOT NULL,
  scopes        TEXT NOT NULL,
  collections   TEXT NOT NULL,
  created_at    REAL NOT NULL,
  expires_at    REAL,
  revoked_at    REAL
) WITHOUT ROWID;

CREATE TABLE askers (
  answer_id TEXT PRIMARY KEY,
  key_id    TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE requests_done (
  key_id         TEXT NOT NULL,
  route          TEXT NOT NULL,
  idempotency    TEXT NOT NULL,
  request_sha256 TEXT NOT NULL,
  made           TEXT NOT NULL,
  created_at     REAL NOT NULL,
  PRIMARY KEY (key_id, route, idempotency)
) WITHOUT ROWID;
CREATE INDEX requests_done_by_age ON requests_done (created_at);
"""

_QUALITY = """
ALTER TABLE documents ADD COLUMN quality TEXT NOT NULL DEFAULT '{}';
-- postgres only
ALTER TABLE documents ALTER quality SET STATISTICS 0;
-- sqlite only
UPDATE documents SET quality = coalesce(
  (SELECT json_extract(extraction, '$.quality') FROM contents WHERE document_no = documents.no), '{}');
"""

_WARNINGS = """
ALTER TABLE documents ADD COLUMN warnings TEXT NOT NULL DEFAULT '[]';
-- postgres only
ALTER TABLE documents ALTER warnings SET STATISTICS 0;
-- sqlite only
UPDATE documents SET warnings = coalesce(
  (SELECT json_extract(extraction, '$.warnings') FROM contents WHERE document_no = documents.no), '[]');
"""

# A generation that is not active notes in `generation_documents` what it holds; of the active one `documents` says it.
_GENERATIONS = """
ALTER TABLE generations ADD COLUMN source TEXT NOT NULL DEFAULT '';
ALTER TABLE generations ADD COLUMN switched_at REAL;
ALTER TABLE generations ADD COLUMN dropped_at REAL;
CREATE UNIQUE INDEX generations_one_building ON generations (state) WHERE state = 'building';

ALTER TABLE documents ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
CREATE INDEX segments_by_generation ON segments (generation, first_seq);
CREATE INDEX deletions_by_generation ON deletions (generation, mark);

CREATE TABLE generation_documents (
  generation  INTEGER NOT NULL REFERENCES generations (id),
  document_no INTEGER NOT NULL REFERENCES documents (no) ON DELETE CASCADE,
  stamp       TEXT NOT NULL,
  n_chunks    INTEGER NOT NULL,
  n_tokens    INTEGER NOT NULL,
  n_truncated INTEGER NOT NULL,
  PRIMARY KEY (generation, document_no)
) WITHOUT ROWID;
CREATE INDEX generation_documents_by_document ON generation_documents (document_no);

CREATE TABLE epochs (epoch INTEGER PRIMARY KEY, token TEXT NOT NULL);
-- sqlite only
INSERT INTO epochs SELECT CAST(value AS INTEGER), lower(hex(randomblob(8))) FROM meta WHERE key = 'epoch';
-- postgres only
INSERT INTO epochs SELECT CAST(value AS BIGINT), substr(md5(random()::text), 1, 16) FROM meta WHERE key = 'epoch';
"""

MIGRATIONS: tuple[str, ...] = (_FIRST, _SERVING, _QUALITY, _WARNINGS, _GENERATIONS)


def statements_of(migration: str, dialect: Literal["sqlite", "postgres"]) -> list[str]:
    """The statements of a migration that are meant for one kind of database, as written."""
    other = {"sqlite": "-- postgres only", "postgres": "-- sqlite only"}[dialect]
    stripped = (statement.strip() for statement in migration.split(";\n"))
    return [statement for statement in stripped if statement and not statement.startswith(other)]
