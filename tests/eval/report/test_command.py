"""`gawah report` as people and scripts meet it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytest.importorskip("matplotlib", reason="the report needs matplotlib: pip install 'gawah[report]'")

WITHOUT = "import sys; sys.modules['matplotlib'] = None; sys.argv[0] = 'gawah'; from gawah.cli import main; main()"


@pytest.fixture
def gawah(tmp_path):
    def run(*words, code=0, start=("-m", "gawah")):
        done = subprocess.run(
            [sys.executable, *start, *map(str, words)], check=False, capture_output=True, text=True, cwd=tmp_path
        )
        assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
        return done

    return run


def test_a_report_is_written_into_the_run_or_where_it_is_wanted_with_the_same_bytes(gawah, run_folder, tmp_path):
    folder = run_folder()
    assert gawah("report", folder).stdout.strip() == str(folder / "report.html")
    elsewhere = tmp_path / "pages" / "little.html"
    said = json.loads(gawah("report", folder / "metrics.json", "-o", elsewhere, "--baseline", folder, "--json").stdout)
    assert said == {"report": str(elsewhere), "bytes": elsewhere.stat().st_size}
    assert "Against the baseline" in elsewhere.read_text(encoding="utf-8")
    first = (folder / "report.html").read_bytes()
    gawah("report", folder)
    assert (folder / "report.html").read_bytes() == first
    assert b"Against the baseline" not in first


def test_what_is_no_run_is_one_line_and_exit_code_2(gawah, run_folder, tmp_path):
    (tmp_path / "file").write_text("")
    for words, said in (
        ((tmp_path / "none",), "name the folder of a run"),
        ((run_folder(), "-o", tmp_path / "file" / "page.html"), "cannot write the report"),
        ((run_folder(), "--baseline", tmp_path / "none"), "name the folder of a run"),
    ):
        (line,) = gawah("report", *words, code=2).stderr.splitlines()
        assert said in line


def test_without_matplotlib_the_line_names_what_to_install_before_anything_is_done(gawah, run_folder, tmp_path):
    for words in (("report", run_folder()), ("eval", tmp_path / "run-set", "--report", "page.html")):
        (line,) = gawah(*words, code=5, start=("-c", WITHOUT)).stderr.splitlines()
        assert line == "gawah: the report is drawn with matplotlib, which is not installed: pip install 'gawah[report]'"
