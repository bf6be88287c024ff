"""The command line as a process, its output as bytes: whatever comes out is looked at as a terminal would get it."""

import os
import subprocess
import sys

import pytest

FILES = {"fees.md": "# Fees\n\nThe membership fee is 40 EUR a month.\n", "boats.txt": "The blue boat leaves at seven.\n"}


class Runner:
    """`gawah("ls", "--json")`: the finished process; words may be bytes. Its store is `directory/store` unless named."""

    def __init__(self, directory, cache):
        self.directory = directory
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "GAWAH_STORE": str(directory / "store")}

    def __call__(self, *words, code=0, env=None, **options):
        command = [sys.executable, "-m", "gawah", *(word if isinstance(word, bytes) else str(word) for word in words)]
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": self.directory, **options}
        done = subprocess.run(command, check=False, env={**self.environment, **(env or {})}, **options)
        assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
        return done


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def gawah(tmp_path, cache):
    return Runner(tmp_path, cache)


@pytest.fixture(scope="module")
def filled(tmp_path_factory, cache):
    """A runner whose store holds FILES; for tests that change nothing."""
    runner = Runner(tmp_path_factory.mktemp("filled"), cache)
    (runner.directory / "docs").mkdir()
    for name, text in FILES.items():
        (runner.directory / "docs" / name).write_text(text, encoding="utf-8")
    runner("ingest", "docs")
    return runner
