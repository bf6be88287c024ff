"""Extractors that misbehave, for the sandbox's tests: the fork server loads them by name, nothing else does."""

import ctypes
import os
import signal
import socket
import tempfile
import time
from pathlib import Path

from gawah.extract.plain import PlainExtractor


class Misbehaving:
    version = 1

    def __init__(self, behave):
        self.behave = behave
        self.name = behave.__name__

    def extract(self, source, data):
        self.behave(data)
        return PlainExtractor().extract(source, data)


def sleep(data):
    time.sleep(3600)


def spin(data):
    while True:
        pass


def allocate(data):
    kept = []
    while True:
        kept.append(bytearray(50_000_000))


def crash(data):
    ctypes.string_at(0)


def abort(data):
    os.abort()


def fail(data):
    raise KeyError("no such\nkey")


def leave(data):
    raise SystemExit(3)


def exit_early(data):
    os._exit(0)


def kill_server(data):
    """Takes its server with it, the first time it is asked (`data` names the file that remembers)."""
    remembered = Path(data.decode().strip())
    if not remembered.exists():
        remembered.write_text("x")
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(3600)


def kill_server_always(data):
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(3600)


def write_much(data):
    with tempfile.TemporaryFile(dir="/dev/shm") as stream:
        while True:
            stream.write(bytes(1 << 20))
            stream.flush()


def breed(data):
    """Writes its own and its child's process number to the file that `data` names, and hangs with it."""
    child = os.fork()
    if child == 0:
        time.sleep(3600)
    Path(data.decode().strip()).write_text(f"{os.getpid()} {child}")
    time.sleep(3600)


def call_home(data):
    socket.create_connection(("127.0.0.1", int(data)), timeout=5)


def tell_environment(data):
    raise ValueError(" ".join(sorted(os.environ)))


def tell_limits(data):
    n_threads, n_descriptors = (len(list(Path("/proc/self", name).iterdir())) for name in ("task", "fd"))
    raise ValueError(f"threads {n_threads}, descriptors {n_descriptors}, group {os.getpgid(0) == os.getpid()}")


def escape(data):
    """Leaves behind a process in a session of its own, which holds every descriptor, and goes on."""
    child = os.fork()
    if child == 0:
        os.setsid()
        time.sleep(3600)
    while os.getpgid(child) != child:
        pass
    Path(data.decode().strip()).write_text(str(child))


BEHAVIOURS = (
    sleep, spin, allocate, crash, abort, fail, leave, exit_early, kill_server, kill_server_always, write_much, breed,
    call_home, tell_environment, tell_limits,
    escape,
)  # fmt: skip
for _behave in BEHAVIOURS:
    globals()[f"{_behave.__name__}_extractor"] = Misbehaving(_behave)
EXTRA = [f".{behave.__name__}=tests.extract.hostile:{behave.__name__}_extractor" for behave in BEHAVIOURS]
