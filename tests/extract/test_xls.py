"""XLS: damaged compound files end with a code, soon; the whole ones are read as tests/eval/test_examples_formats.py says."""

import struct
from pathlib import Path

import pytest
from tests.extract.made import code_of, read

DATA = (Path(__file__).resolve().parents[2] / "examples" / "formats" / "spare-parts.xls").read_bytes()
SECTOR = 512
MINI_TABLE_AT = 60  # in the header: the sector in which the table of small sectors begins


def test_a_workbook_is_read():
    assert "RB-7 | repeater battery 24 V | 1 | 3" in read("parts.xls", DATA).text


def test_a_ring_of_sectors_is_not_followed():
    """xlrd would gather the ring until memory ends."""
    import olefile

    with olefile.OleFileIO(DATA) as ole:
        start = ole.direntries[ole._find("Workbook")].isectStart
    table = (struct.unpack_from("<I", DATA, MINI_TABLE_AT)[0] + 1) * SECTOR
    ringed = bytearray(DATA)
    struct.pack_into("<I", ringed, table + 4 * start, start)
    assert code_of("parts.xls", bytes(ringed)) == "damaged"


@pytest.mark.parametrize("n_bytes", [9, 512, 700, 1600, 3000, 5000])
def test_one_cut_short_is_damaged_and_not_of_an_unknown_type(n_bytes):
    assert code_of("parts.xls", DATA[:n_bytes]) == "damaged"
