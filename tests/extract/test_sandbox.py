"""No file takes the program with it: each runs in its own process, and every way to misbehave has a code."""

import os
import select
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.extract.hostile import EXTRA

from gawah.errors import ConfigurationError, ExtractionError
from gawah.extract.registry import extract
from gawah.extract.sandbox import Limits, Sandbox
from gawah.media_types import media_type_of
from gawah.testing.extractor import source_of

PROC = Path("/proc")
on_linux = pytest.mark.skipif(not PROC.is_dir(), reason="needs /proc")
LIMITS = Limits(memory_bytes=300 << 20, cpu_s=1, wall_s=60.0, output_bytes=10 << 20)
MARKDOWN = b"# Fees\n\nThe fee is 40 EUR.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(LIMITS, extra=EXTRA) as running:
        yield running


def read(sandbox, name, data):
    return sandbox.extract(source_of(name, data, media_type_of(name)), data)


def failure(sandbox, name, data=b"x"):
    with pytest.raises(ExtractionError) as caught:
        read(sandbox, name, data)
    assert "\n" not in str(caught.value)
    return caught.value


def server_pid(sandbox):
    assert isinstance(sandbox.isolated_network, bool)  # starts it
    return sandbox._server._process.pid


def is_alive(pid):
    try:
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def children_of(pid):
    return [int(number) for number in (PROC / str(pid) / "task" / str(pid) / "children").read_text().split()]


def await_end(pid):
    """Waits for a process that is not our child, without sleeping; fails after ten seconds."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    assert poll.poll(10_000), f"process {pid} is still there"
    os.close(descriptor)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.md", MARKDOWN),
        ("a.html", "<title>T</title><p>Größe <img alt=x></p><nav>n</nav>".encode()),
        ("a.csv", b"a,b\n1,2\n"),
        ("a.txt", "नमस्ते\r\n\r\nx".encode("utf-16")),
        ("a.py", b"def f():\n    pass\n"),
    ],
)
def test_the_document_is_the_one_that_this_process_would_make(sandbox, name, data):
    assert read(sandbox, name, data) == extract(source_of(name, data, media_type_of(name)), data)


def test_the_extractors_own_error_comes_through(sandbox):
    error = failure(sandbox, "a.md", b"  ")
    assert (error.reason_code, str(error)) == ("empty", "there is no text in it")
    assert failure(sandbox, "a.db", b"SQLite format 3\x00").reason_code == "unsupported_type"


@pytest.mark.parametrize(
    ("behaviour", "code", "words"),
    [
        ("spin", "timeout_cpu", "1 s of processor time"),
        ("allocate", "memory_limit", "extract_memory_mb"),
        ("crash", "extractor_crashed", "SIGSEGV"),
        ("abort", "extractor_crashed", "SIGABRT"),
        ("fail", "extractor_crashed", "KeyError: 'no such\\nkey'"),
        ("leave", "extractor_crashed", "SystemExit"),
        ("exit_early", "extractor_crashed", "it is empty"),
    ],
)
def test_misbehaviour_has_a_code_and_the_next_file_is_read(sandbox, behaviour, code, words):
    error = failure(sandbox, f"x.{behaviour}")
    assert (error.reason_code, error.retryable) == (code, False)
    assert words in str(error)
    assert read(sandbox, "a.md", MARKDOWN).title == "Fees"


def test_a_file_that_hangs_is_stopped_by_the_wall_limit():
    with Sandbox(Limits(wall_s=0.3), extra=EXTRA) as sandbox:
        assert sandbox.isolated_network in (True, False)
        error = failure(sandbox, "x.sleep")
        assert (error.reason_code, "0.3 s" in str(error)) == ("timeout_wall", True)


def test_more_output_than_allowed_is_refused(sandbox):
    error = failure(sandbox, "big.txt", b"word " * 2_200_000)
    assert (error.reason_code, "10 MB" in str(error)) == ("output_limit", True)


@on_linux
def test_a_file_written_by_an_extractor_has_a_limit_too(sandbox):
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("/dev/shm cannot be written")
    assert failure(sandbox, "x.write_much").reason_code == "extractor_crashed"


def test_a_folder_with_a_file_that_hangs_is_read_to_the_end():
    with Sandbox(Limits(wall_s=0.5), extra=EXTRA) as sandbox:
        assert read(sandbox, "good.md", MARKDOWN).title == "Fees"
        assert failure(sandbox, "bad.sleep").reason_code == "timeout_wall"
        assert read(sandbox, "good2.md", MARKDOWN).title == "Fees"


@on_linux
def test_what_a_stopped_process_had_started_is_gone_too(tmp_path):
    note = tmp_path / "pids"
    with Sandbox(Limits(wall_s=1.0), extra=EXTRA) as sandbox:
        assert failure(sandbox, "x.breed", str(note).encode()).reason_code == "timeout_wall"
        for pid in map(int, note.read_text().split()):
            await_end(pid)
        assert children_of(server_pid(sandbox)) == []


@on_linux
def test_a_process_has_one_thread_few_descriptors_and_a_group_of_its_own(sandbox):
    reason = str(failure(sandbox, "x.tell_limits"))
    assert "threads 1," in reason
    assert "group True" in reason
    assert int(reason.rpartition("descriptors ")[2].split(",")[0]) <= 6


def test_keys_in_the_environment_do_not_reach_hostile_files(monkeypatch):
    monkeypatch.setenv("GAWAH_OPENAI_KEY", "secret")
    with Sandbox(LIMITS, extra=EXTRA) as sandbox:
        reason = str(failure(sandbox, "x.tell_environment"))
    assert "PYTHONPATH" in reason
    assert "GAWAH" not in reason


def test_hostile_files_have_no_network_where_the_kernel_permits_it(sandbox):
    if not sandbox.isolated_network:
        pytest.skip("this kernel or container permits no network namespaces")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        error = failure(sandbox, "x.call_home", str(listener.getsockname()[1]).encode())
        listener.settimeout(0)
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert "OSError" in str(error)


@on_linux
def test_nothing_that_threads_is_loaded_in_the_server(sandbox):
    status = (PROC / str(server_pid(sandbox)) / "status").read_text()
    assert "Threads:\t1\n" in status
    assert "numpy" not in (PROC / str(server_pid(sandbox)) / "maps").read_text()


def test_many_threads_may_ask_at_once(sandbox):
    texts = [f"# Title {number}\n\ntext\n".encode() for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        titles = list(pool.map(lambda data: read(sandbox, "a.md", data).title, texts))
    assert titles == [f"Title {number}" for number in range(40)]


def test_a_server_that_dies_in_the_middle_is_started_again(sandbox, tmp_path):
    first = server_pid(sandbox)
    note = tmp_path / "asked"
    assert read(sandbox, "x.kill_server", str(note).encode()).text == str(note)
    assert server_pid(sandbox) != first
    assert not is_alive(first)


def test_a_file_that_kills_every_server_fails_and_the_next_is_read(sandbox):
    error = failure(sandbox, "x.kill_server_always")
    assert (error.reason_code, error.retryable) == ("extractor_crashed", True)
    assert read(sandbox, "a.md", MARKDOWN).title == "Fees"


@on_linux
def test_kill_9_of_the_server_leaves_no_process_and_harms_no_other_caller():
    with Sandbox(Limits(wall_s=2.0), extra=EXTRA) as sandbox:
        server = server_pid(sandbox)
        with ThreadPoolExecutor(4) as pool:
            hanging = pool.submit(failure, sandbox, "x.sleep")
            reading = [pool.submit(read, sandbox, "a.md", MARKDOWN) for _ in range(20)]
            assert all(future.result().title == "Fees" for future in reading)
            orphans = children_of(server)
            os.kill(server, signal.SIGKILL)
            again = [pool.submit(read, sandbox, "a.md", MARKDOWN) for _ in range(20)]
            assert all(future.result().title == "Fees" for future in again)
            assert hanging.result().reason_code == "timeout_wall"
        assert len(orphans) == 1
        for pid in (server, *orphans):
            await_end(pid)


@on_linux
def test_a_process_that_escaped_from_its_group_holds_nothing_up(sandbox, tmp_path):
    note = tmp_path / "pid"
    assert read(sandbox, "x.escape", str(note).encode()).text == str(note)
    os.kill(int(note.read_text()), signal.SIGKILL)


@on_linux
def test_closing_ends_the_server_and_what_it_runs(tmp_path):
    note = tmp_path / "pids"
    sandbox = Sandbox(Limits(wall_s=60.0), extra=EXTRA)
    server = server_pid(sandbox)
    errors = []

    def hang():
        try:
            read(sandbox, "x.breed", str(note).encode())
        except ConfigurationError as error:
            errors.append(str(error))

    thread = threading.Thread(target=hang)
    thread.start()
    while not children_of(server):
        pass
    (child,) = children_of(server)
    sandbox.close()
    thread.join(20)
    assert errors == ["the sandbox is closed"]
    assert not is_alive(server)
    await_end(child)
    sandbox.close()


@on_linux
def test_the_server_ends_with_the_program_that_started_it(tmp_path):
    program = (
        "import os, sys; from gawah.extract.sandbox import Sandbox; s = Sandbox(); s.isolated_network\n"
        "print(s._server._process.pid, flush=True); os.kill(os.getpid(), 9)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, env=environment, cwd=tmp_path
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    await_end(int(done.stdout))


def test_the_current_folder_is_not_imported_from(tmp_path, monkeypatch):
    for name in ("gawah", "json", "selectors"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported from the current folder')")
    monkeypatch.chdir(tmp_path)
    with Sandbox(LIMITS) as sandbox:
        assert read(sandbox, "a.md", MARKDOWN).title == "Fees"


def test_a_server_that_cannot_start_is_a_configuration_error_with_its_last_words():
    with Sandbox(LIMITS, extra=["x=no.such.module:thing"]) as sandbox:
        with pytest.raises(ConfigurationError, match="No module named 'no'"):
            read(sandbox, "a.md", MARKDOWN)
        with pytest.raises(ConfigurationError):
            assert sandbox.isolated_network


def test_ten_megabytes_come_back_whole():
    data = (b"The fee is 40 EUR. " * 10 + b"\n\n") * 52_000
    with Sandbox() as sandbox:
        document = read(sandbox, "a.txt", data)
    assert document.text == data.decode()
    assert len(document.blocks) == 52_000
