"""A PostgreSQL server of one's own for tests: in a temporary directory, at a Unix socket, of the newest binaries installed."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from urllib.parse import quote

_STARTS = 50  # a server that was killed is not gone at once


def find_binaries() -> Path | None:
    """The folder of initdb, pg_ctl and postgres: Debian's newest, or where PATH leads; None where there is none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parent.parent.name))
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    return Path(on_path).resolve().parent if on_path else None


class PostgresServer:
    """Runs until `stop`. PostgreSQL refuses to run as root: then it runs as `postgres` or `nobody`."""

    def __init__(self, binaries: Path, *, settings: str = "-c fsync=off -c shared_buffers=32MB") -> None:
        self._binaries = binaries
        self._settings = settings
        self._n_schemas = 0
        self.directory = Path(tempfile.mkdtemp(prefix="gawah-pg-", dir="/tmp"))
        self._user: int | None = None
        if os.geteuid() == 0:
            names = {entry.pw_name: entry.pw_uid for entry in pwd.getpwall()}
            self._user = names.get("postgres", names.get("nobody"))
            os.chown(self.directory, self._user or 0, -1)
        self._data = self.directory / "data"
        self._run("initdb", "-D", str(self._data), "-U", "gawah", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
        self.start()

    def _run(self, program: str, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [str(self._binaries / program), *arguments],
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE
            if program != "pg_ctl"
            else subprocess.DEVNULL,  # the server would keep the pipe open
            stderr=subprocess.STDOUT if program != "pg_ctl" else subprocess.DEVNULL,
            text=True,
            cwd=self.directory,
            user=self._user,
            env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"},
        )
        if check and done.returncode:
            raise RuntimeError(f"{program}: {done.stdout or self.log()}")
        return done

    def log(self) -> str:
        path = self.directory / "log"
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def start(self) -> None:
        options = f"-c listen_addresses='' -k {self.directory} {self._settings}"
        arguments = ("-D", str(self._data), "-w", "-t", "30", "-l", str(self.directory / "log"), "-o", options, "start")
        for number in range(_STARTS):
            if not self._run("pg_ctl", *arguments, check=number == _STARTS - 1).returncode:
                return
            time.sleep(0.1)

    def kill(self) -> None:
        """SIGKILL to the server itself; its children see that and leave."""
        pid = int((self._data / "postmaster.pid").read_text(encoding="ascii").splitlines()[0])
        os.kill(pid, signal.SIGKILL)

    def stop(self) -> None:
        self._run("pg_ctl", "-D", str(self._data), "-m", "immediate", "-w", "stop", check=False)
        shutil.rmtree(self.directory, ignore_errors=True)

    def address(self, schema: str = "", database: str = "postgres") -> str:
        options = f"&options={quote(f'-csearch_path={schema}')}" if schema else ""
        return f"postgresql://gawah@/{database}?host={quote(str(self.directory), safe='')}{options}"

    def execute(self, statement: str, schema: str = "") -> None:
        import psycopg

        with contextlib.closing(psycopg.connect(self.address(schema), autocommit=True)) as connection:
            connection.execute(statement)

    def new_address(self) -> str:
        """The address of an empty schema."""
        self._n_schemas += 1
        name = f"store_{self._n_schemas}"
        self.execute(f"CREATE SCHEMA {name}")
        return self.address(name)
