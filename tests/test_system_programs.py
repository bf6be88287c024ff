"""requirements/system.sh installs what is missing, only where it may, and never fails `make test`."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "requirements" / "system.sh"
PROGRAMS = ("pdftotext", "espeak-ng", "ffmpeg", "chromium", "initdb")
ALL = " tesseract-ocr poppler-utils espeak-ng ffmpeg chromium postgresql tesseract-ocr-hin tesseract-ocr-urd"
TESSERACT = 'echo "List of available languages (3):"; echo eng; echo hin; echo urd'


@pytest.fixture
def run(tmp_path):
    """`run(programs)`: the script's lines and apt-get's calls, on a machine with no other programs than these."""
    folder, log = tmp_path / "bin", tmp_path / "apt.log"
    folder.mkdir()
    for name in ("grep", "env"):
        (folder / name).symlink_to(os.path.realpath(shutil.which(name)))

    def run(programs):
        for name, body in programs.items():
            path = folder / name
            path.write_text(f"#!/bin/sh\n{body}\n")
            path.chmod(path.stat().st_mode | stat.S_IXUSR)
        done = subprocess.run(
            ["/bin/sh", str(SCRIPT)],
            env={"PATH": str(folder), "LOG": str(log), "POSTGRES_FOLDER": str(tmp_path / "postgresql")},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr == ""
        return done.stdout.splitlines(), log.read_text().splitlines() if log.exists() else []

    return run


APT = {"apt-get": 'echo "$*" >> "$LOG"', "id": "echo 0"}


def test_with_everything_there_nothing_is_done_or_said(run):
    assert run({**APT, **dict.fromkeys(PROGRAMS, ":"), "tesseract": TESSERACT}) == ([], [])


def test_a_server_beside_the_path_is_found(run, tmp_path):
    programs = {**APT, **dict.fromkeys(PROGRAMS[:-1], ":"), "tesseract": TESSERACT}
    assert run(programs)[0] == ["installing: postgresql"]
    binary = tmp_path / "postgresql" / "15" / "bin" / "initdb"
    binary.parent.mkdir(parents=True)
    binary.write_text("")
    binary.chmod(0o755)
    (tmp_path / "apt.log").unlink()
    assert run(programs) == ([], [])


def test_only_what_is_missing_is_installed(run):
    tesseract = TESSERACT.replace("echo urd", ":")
    said, calls = run({**APT, **dict.fromkeys(PROGRAMS[1:], ":"), "tesseract": tesseract})
    assert said == ["installing: poppler-utils tesseract-ocr-urd"]
    assert calls == ["-qq -o Dpkg::Use-Pty=0 install -y --no-install-recommends poppler-utils tesseract-ocr-urd"]


def test_stale_lists_are_renewed_once(run):
    once = 'echo "$*" >> "$LOG"; case "$*" in *update*) : > "$LOG.new" ;; *) [ -f "$LOG.new" ] ;; esac'
    said, calls = run({**APT, "apt-get": once})
    assert said == [f"installing:{ALL}"]
    assert ["update" in call for call in calls] == [False, True, False]


def test_without_root_sudo_must_not_ask(run):
    sudo = {"id": "echo 1000", "sudo": '[ "$1" = -n ] && shift && "$@"', "true": ":"}
    said, calls = run({**APT, **sudo})
    assert (said, len(calls)) == ([f"installing:{ALL}"], 1)
    said, calls = run({**APT, **sudo, "sudo": "exit 1"})
    assert said == [
        f"not installed:{ALL} (that needs root or sudo without a password); tests that want them are skipped"
    ]
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("programs", "why", "n_calls"),
    [({}, "there is no apt-get here", 0), ({**APT, "apt-get": 'echo x >> "$LOG"; exit 100'}, "apt-get could not", 2)],
)
def test_what_cannot_be_installed_is_said_in_one_line(run, programs, why, n_calls):
    said, calls = run(programs)
    assert said[-1] == f"not installed:{ALL} ({why}); tests that want them are skipped"
    assert len(calls) == n_calls
