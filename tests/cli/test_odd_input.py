"""Odd input and odd surroundings end in one line and the right exit code, never in a traceback or "report it"."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

FILES = {"fees.md": "# Fees\n\nThe membership fee is 40 EUR a month.\n"}
LONG = "x" * 300


def one_line(done):
    lines = [line for line in done.stderr.decode("utf-8").splitlines() if line]
    assert len(lines) == 1, done.stderr
    assert "Traceback" not in lines[0]
    assert "report it" not in lines[0]
    return lines[0]


@pytest.mark.parametrize("command", ["ask", "search"])
def test_a_question_that_is_no_text_is_wrong_usage(filled, command):
    assert "not UTF-8" in one_line(filled(command, b"what \xe9 fee", code=2))


def test_a_file_whose_name_is_not_utf_8_is_found_by_its_own_bytes(gawah, folder):
    root = folder(FILES)
    Path(os.fsdecode(os.fsencode(root) + b"/caf\xe9.txt")).write_bytes(b"Coffee is two EUR.\n")
    gawah("ingest", root)
    assert gawah("show", b"caf\xe9.txt").stdout == b"Coffee is two EUR.\n"
    hits = json.loads(gawah("search", "coffee", "--document", b"caf\xe9.txt", "--json").stdout)["hits"]
    assert [hit["document"] for hit in hits] == ["caf\\xe9.txt"]
    assert b"1 document removed" in gawah("rm", b"caf\xe9.txt").stdout


def test_a_folder_whose_name_is_not_utf_8_can_be_the_store_and_be_ingested(gawah, folder, tmp_path):
    folder(FILES).rename(os.fsdecode(os.fsencode(tmp_path) + b"/d\xff"))
    store = os.fsencode(tmp_path) + b"/s\xff"
    report = gawah("ingest", b"d\xff", "--store", store, "--json").stdout
    assert json.loads(report)["store"] == os.fsdecode(store)
    assert b"s\\xff" in gawah("status", "--store", store).stdout


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("show", b"\xff"), 1, "no document \\xff"),
        (("ask", "fee", "--document", b"\xff"), 1, "\\xff"),
        (("ls", "--set", b"collection=\xff"), 5, "collection"),
        (("ls", "--set", b"\xff=1"), 5, "no setting \\xff"),
        (("ingest", b"\xff"), 1, "no such file or folder"),
        (("ls", "--store", LONG), 1, "File name too long"),
        (("ingest", LONG), 1, "File name too long"),
        (("ingest", "docs", "--store", LONG), 1, "File name too long"),
        (("ingest", "docs", "--dry-run", "--store", LONG), 1, "File name too long"),
        (("chunk", LONG), 1, "no such file"),
        (("eval", LONG), 1, "File name too long"),
        (("ask", "fee", "--set", f"cache={LONG}"), 5, "File name too long"),
        (("ask", "fee", "--set", f"gate=calibrated:{LONG}"), 5, "File name too long"),
        (("--config", LONG, "ls"), 1, "File name too long"),
        (("ls", "--store", "docs/fees.md"), 1, "is a file"),
        (("ingest", "docs", "--store", "docs/fees.md"), 1, "is a file"),
        (("ls", "--store", "docs/fees.md/below"), 1, "is a file"),
        (("ls", "--set", "store="), 5, "store is empty"),
    ],
)
def test_what_no_one_expects_is_one_line(filled, words, code, says):
    assert says in one_line(filled(*words, code=code))


def test_an_empty_path_is_wrong_usage_and_an_empty_variable_is_not_set(gawah, folder, tmp_path):
    assert b"a path is empty" in gawah("ls", "--store", "", code=2).stderr
    assert b"a path is empty" in gawah("ingest", "", code=2).stderr
    home = {"GAWAH_STORE": "", "XDG_DATA_HOME": str(tmp_path / "data")}
    gawah("ingest", folder(FILES), env=home)
    assert (tmp_path / "data" / "gawah" / "store" / "catalog.sqlite").is_file()
    assert not (tmp_path / "catalog.sqlite").exists()
    origins = json.loads(gawah("config", "show", "--json", env={"GAWAH_THREADS": ""}).stdout)
    assert origins["threads"]["origin"] == "default"


COMMANDS = [
    ("--help",),
    ("ls", "--help"),
    ("--version",),
    ("ls",),
    ("ls", "--json"),
    ("search", "boat"),
    ("config", "show"),
]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_full_device_is_one_line(filled, words):
    with Path("/dev/full").open("wb") as full:
        assert "No space left" in one_line(filled(*words, code=1, stdout=full))


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_reader_that_has_left_ends_every_command_quietly_with_141(filled, words):
    read, write = os.pipe()
    os.close(read)
    try:
        assert filled(*words, code=141, stdout=write).stderr == b""
    finally:
        os.close(write)


def test_a_closed_standard_output_is_said_and_the_store_is_not_written_over(filled):
    command = ["sh", "-c", 'exec "$@" >&- <&-', "sh", sys.executable, "-m", "gawah"]
    done = subprocess.run(
        [*command, "ingest", "docs"], check=False, env=filled.environment, cwd=filled.directory, stderr=subprocess.PIPE
    )
    assert done.returncode == 1
    assert "cannot be written" in one_line(done)
    assert json.loads(filled("doctor", "--json").stdout)["ok"]


def test_a_closed_or_full_standard_error_changes_no_exit_code(filled):
    command = ["sh", "-c", 'exec "$@" 2>&-', "sh", sys.executable, "-m", "gawah", "show", "nobody"]
    assert subprocess.run(command, check=False, env=filled.environment, cwd=filled.directory).returncode == 1
    if Path("/dev/full").exists():
        with Path("/dev/full").open("wb") as full:
            filled("show", "nobody", code=1, stderr=full)


def test_a_terminal_without_unicode_gets_escapes_and_whole_json(filled):
    """ASCII is taken for a wrong setting and gets UTF-8 (click's rule); any other encoding is kept to."""
    latin = {"PYTHONIOENCODING": "latin-1"}
    assert b"\\u2502 The membership fee" in filled("ask", "What is the membership fee?", env=latin).stdout
    printed = filled("search", "naïve boat \u2502", "--json", env=latin).stdout
    assert json.loads(printed.decode("ascii"))["question"] == "naïve boat \u2502"


def test_markup_in_a_name_does_not_reach_the_progress_bar(gawah, folder):
    """The bar is drawn only where a person looks: on a pseudo-terminal."""
    import pty

    folder({"[/]/a\x1b[31m.txt": "The boat leaves.\n", "[red]boat.txt": "The boat stays.\n"})
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "gawah", "ingest", "docs"]
    process = subprocess.Popen(
        command, env=gawah.environment, cwd=gawah.directory, stdout=subprocess.PIPE, stderr=theirs
    )
    os.close(theirs)
    drawn = b""
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:  # EIO: the other side has ended
            break
        if not piece:
            break
        drawn += piece
    os.close(ours)
    with process.stdout as out:
        assert b"2 documents ready" in out.read()
    assert process.wait() == 0, drawn


# --- Ctrl-C

DELAYS_S = [0.0, 0.01, 0.03, 0.06, 0.1, 0.2, 0.4, 0.6, 0.9]
INTERRUPTED_ASK = """
import os, signal, sys, threading, time
from gawah.cli import interrupts, main

def interrupt():
    time.sleep(DELAY_S)
    os.kill(os.getpid(), signal.SIGINT)

interrupts.leave_at_once()
threading.Thread(target=interrupt, daemon=True).start()
sys.argv[1:] = ["ask", "What is the membership fee?"]
main()
"""


@pytest.mark.parametrize("delay_s", DELAYS_S)
def test_an_interrupt_at_any_moment_is_130_and_one_line(filled, delay_s):
    """From the first line of `main`: what Python does before it is not ours."""
    script = INTERRUPTED_ASK.replace("DELAY_S", str(delay_s))
    done = subprocess.run(
        [sys.executable, "-c", script], check=False, env=filled.environment, cwd=filled.directory, capture_output=True
    )
    lines = done.stderr.decode("utf-8").splitlines()
    if done.returncode == 0:  # it was done before
        assert lines[-1].startswith("answer a")
    else:
        assert done.returncode == 130, done.stderr
        assert lines[-1] == "gawah: interrupted; what was acknowledged is kept"
        assert len(lines) == 1 or lines[0].startswith("answer a")


WORKING_ON = """
import os, signal, sys, threading
from gawah.cli import interrupts, main

def work():
    threading.Event().wait(1.5)
    os.kill(os.getpid(), signal.SIGINT)
    threading.Event().wait()

interrupts.leave_at_once()
threading.Thread(target=work).start()
sys.argv[1:] = ["ask", "What is the membership fee?", *sys.argv[1:]]
main()
"""


@pytest.mark.parametrize("words", [(), ("--set", "generator=openai", "--set", "generator_model=x", "--set")])
def test_an_interrupt_waits_for_no_thread_that_is_at_work(filled, words):
    """A local model ends its step in such a thread; here is one that never ends. The server says nothing for ever."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = (f"openai_url=http://127.0.0.1:{silent.getsockname()[1]}/v1",) if words else ()
        done = subprocess.run(
            [sys.executable, "-c", WORKING_ON, *words, *url],
            check=False, env=filled.environment, cwd=filled.directory, capture_output=True, timeout=60,
        )  # fmt: skip
    assert done.returncode == 130, done.stderr
    assert done.stderr.endswith(b"gawah: interrupted; what was acknowledged is kept\n")
    if done.stdout:  # asked and answered before the interrupt: nothing of it is lost
        assert b"40 EUR a month" in done.stdout


def test_an_ingest_that_is_interrupted_gives_back_what_it_held(gawah, folder, tmp_path):
    texts = (f"# Note {n}\n\n" + f"The value of item {n} is {n * 7} units today. " * 40 for n in range(60))
    root = folder({f"{n:03}.md": text for n, text in enumerate(texts)})
    process = subprocess.Popen(
        [sys.executable, "-m", "gawah", "ingest", root],
        env=gawah.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    catalog = tmp_path / "store" / "catalog.sqlite"
    while process.poll() is None and not _n_ready(catalog):
        pass
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130, said
    assert said == b"gawah: interrupted; what was acknowledged is kept\n"
    states = json.loads(gawah("status", "--json").stdout)["documents"]
    assert set(states) == {"ready", "queued"}
    assert sum(states.values()) == 60
    gawah("doctor")


INTERRUPTED_WRITES = """
import os, random, signal, sys, threading
from pathlib import Path
from gawah.cli import interrupts
from gawah.store.catalog import SqliteCatalog

catalog = SqliteCatalog(Path(sys.argv[1]), create=True)
n_interrupted, chance = 0, random.Random(0)
for _ in range(200):
    interrupts.raise_once()
    sender = threading.Timer(chance.random() / 500, os.kill, (os.getpid(), signal.SIGINT))
    try:
        sender.start()
        while True:
            catalog.release("nobody")
            with catalog.snapshot():
                pass
            sum(n for n in range(10_000))  # what is not the store's
    except KeyboardInterrupt:
        n_interrupted += 1
        catalog.release("nobody")
    sender.join()
print(n_interrupted)
"""


def test_no_interrupt_leaves_a_transaction_open_behind_it(tmp_path):
    """What tidies up after an interrupt writes to the store itself."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_WRITES, tmp_path / "store"], check=False, capture_output=True, timeout=120
    )
    assert (done.returncode, done.stdout) == (0, b"200\n"), done.stderr[-2000:]


def _n_ready(catalog):
    import sqlite3

    if not catalog.exists():
        return 0
    connection = sqlite3.connect(f"file:{catalog}?mode=ro", uri=True)
    try:
        return connection.execute("SELECT count(*) FROM documents WHERE state = 'ready'").fetchone()[0]
    except sqlite3.Error:
        return 0
    finally:
        connection.close()
