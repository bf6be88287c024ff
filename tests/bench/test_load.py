"""The load benchmark itself: a small run holds every promise that does not depend on the machine."""

import pytest

pytest.importorskip("fastapi")
from bench.load import main


def test_a_small_run_breaks_no_promise_but_those_of_time(capsys, folder):
    corpus = str(folder({"gate.md": "# Gates\n\nThe irrigation department looks after the gates of the barrage.\n"}))
    main(["--stages", "ask,abuse", "--seconds", "2", "--askers", "4", "--clients", "3", "--corpus", corpus])
    printed = capsys.readouterr().out
    broken = [line for line in printed.splitlines() if line.startswith("| **broken**")]
    assert [line for line in broken if "nothing was ingested" not in line] == []
    assert "0 errors" in printed
