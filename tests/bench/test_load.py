"""The load benchmark itself: a small run holds every promise that does not depend on the machine."""

import pytest

pytest.importorskip("fastapi")
from bench.load import main


def test_a_small_run_breaks_no_promise_but_those_of_time(capsys):
    main(["--seconds", "3", "--askers", "4", "--upload-mb", "40", "--clients", "4", "--uploads", "3"])
    printed = capsys.readouterr().out
    broken = [line for line in printed.splitlines() if line.startswith("| **broken**")]
    assert [line for line in broken if "too late" not in line] == []
    assert "0 errors" in printed
    assert "0 of 3" in printed
