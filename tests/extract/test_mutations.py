"""Damaged copies of the example files, each through the sandbox: read, or refused with a code, never by a crash of ours.

`python -m bench.mutations` does the same to a thousand files, recordings and scans included, with a whole ingest.
"""

import random

import pytest
from bench.mutations import EXAMPLES, OUR_FAULT, damaged, mutants, originals

from gawah.errors import ExtractionError
from gawah.extract.sandbox import Limits, Sandbox
from gawah.media_types import media_type_of
from gawah.testing.extractor import assert_is_sound, source_of
from gawah.types import Document

# ZIP archives are read as folders before any extractor; OCR and speech take seconds a file.
LEFT_OUT = (".zip", ".png", ".ogg", ".mp4")
FILES = [path for path in originals() if path.suffix not in LEFT_OUT]
N = 3 * len(FILES)
PACKAGES = [path for path in FILES if path.read_bytes().startswith(b"PK")]
# Every way in the large run; here those that extractors, not checksums, have to stand.
MUTANTS = [
    *mutants(FILES, N, seed=7),
    *mutants(PACKAGES, 3 * len(PACKAGES), seed=8, ways=("inside",)),
]  # fmt: skip
CODES = {
    "damaged", "doctype", "empty", "encrypted", "extractor_crashed", "garbled", "memory_limit", "no_audio", "no_speech",
    "no_text", "ocr_failed", "ocr_unavailable", "output_limit", "speech_not_english", "speech_unavailable",
    "speech_unclear", "timeout_cpu", "timeout_wall", "too_deep", "too_large", "undecodable", "unsupported_type", "zip_bomb",
}  # fmt: skip


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(Limits(wall_s=30)) as running:
        yield running


def outcome(sandbox, name, data):
    """A sound document, or the error."""
    try:
        document = sandbox.extract(source_of(name, data, media_type_of(name)), data)
    except ExtractionError as error:
        return error
    assert_is_sound(document)
    return document


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_damaged_file_is_read_or_refused_with_a_code(sandbox, mutant):
    end = outcome(sandbox, mutant.name, mutant.data)
    if not isinstance(end, Document):
        assert end.reason_code in CODES
        assert str(end)
        assert not str(end).startswith(OUR_FAULT), str(end)


def test_after_all_of_them_a_good_file_is_read(sandbox):
    data = (EXAMPLES / "formats" / "board-minutes.docx").read_bytes()
    assert "so that nobody walks alone" in outcome(sandbox, "minutes.docx", data).text


@pytest.mark.parametrize("name", ["scans/boat-house-hi.png", "recordings/tower-visit.mp4"])
def test_a_picture_or_film_that_is_cut_short_is_refused(sandbox, name):
    data = (EXAMPLES / name).read_bytes()
    assert outcome(sandbox, name, data[: len(data) // 3]).reason_code in {
        "damaged",
        "ocr_unavailable",
        "speech_unavailable",
    }


def test_the_same_seed_damages_alike():
    first, again = (list(mutants(FILES, 40, seed=3)) for _ in range(2))
    assert first == again
    assert first != list(mutants(FILES, 40, seed=4))


def test_every_way_of_damage_but_the_swap_changes_the_bytes():
    data = bytes(range(256)) * 8
    for way in ("flip", "burst", "cut", "inside"):
        assert all(damaged(data, way, random.Random(seed)) != data for seed in range(20))
    assert damaged(data, "swap", random.Random(1)) == data
