"""The command line as a process, its output as bytes: whatever comes out is looked at as a terminal would get it."""

import os
import subprocess
import sys

FILES = {
    "fees.md": "# Fees\n\nThe membership fee is 40 EUR a month.\n",
    "boats.txt": "The blue boat leaves at seven.\n",
}


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
