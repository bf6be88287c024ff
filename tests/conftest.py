"""Fixtures that several test modules share: stores in temporary folders, the example handbook, the shared sets."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# No test asserts a time, and a machine that does other things as well is slow at any moment.
settings.register_profile("gawah", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("gawah")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def handbook():
    return ROOT / "examples" / "handbook"


@pytest.fixture(scope="session")
def shared():
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("../shared is not there")
    return folder


@pytest.fixture(scope="session")
def start_postgres():
    """Starts PostgreSQL servers, or skips where it is not installed."""
    pytest.importorskip("psycopg")
    from gawah.testing.postgres import PostgresServer, find_binaries

    binaries = find_binaries()
    if binaries is None:
        pytest.skip("PostgreSQL is not installed (requirements/system.sh)")
    return lambda: PostgresServer(binaries)


@pytest.fixture(scope="session")
def postgres(start_postgres):
    """A PostgreSQL server of these tests; `postgres.new_address()` is that of an empty schema."""
    server = start_postgres()
    yield server
    server.stop()


@pytest.fixture
def make_app(tmp_path):
    """Applications over a store of this test, with the fake embedder unless another is given."""
    from gawah.app import Application
    from gawah.config import load_settings
    from gawah.testing.embedder import FakeEmbedder

    opened = []

    def make(store="store", *, embedder=None, generator=None, chunking=None, load_model=None, create=True, **options):
        options = {
            "store": tmp_path / store,
            "cache": tmp_path / "cache",
            "gate": "calibrated",
            "gate_threshold": 2.0,
            **options,
        }
        settings = load_settings(environment={}, options=options).settings
        app = Application(
            settings,
            create=create,
            embedder=None if load_model else embedder or FakeEmbedder(),
            generator=generator,
            chunking=chunking,
            load_model=load_model,
        )
        opened.append(app)
        return app

    yield make
    for app in opened:
        app.close()


@pytest.fixture
def folder(tmp_path):
    """Writes files into a folder: `folder({"a.md": "text"})`."""

    def write(files, name="docs"):
        root = tmp_path / name
        for path, content in files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return root

    return write
