"""PDFs that take all memory or never end: contained by the sandbox, each with its own reason."""

import pytest

from gawah.errors import ExtractionError
from gawah.extract.sandbox import Limits, Sandbox
from gawah.testing.extractor import source_of
from gawah.testing.pdf import Page, assembled, pdf


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(Limits(memory_bytes=400 << 20, cpu_s=20, wall_s=30)) as opened:
        yield opened


def outcome(sandbox, data, name="a.pdf"):
    try:
        return sandbox.extract(source_of(name, data, "application/pdf"), data).text
    except ExtractionError as error:
        return error.reason_code


def test_a_good_document_comes_through_with_its_places(sandbox):
    data = pdf([Page().text(60, 700, "The fee is 40 euro")])
    document = sandbox.extract(source_of("a.pdf", data, "application/pdf"), data)
    assert document.text == "The fee is 40 euro"
    assert document.places[0].advance is not None
    assert document.quality["pages_read"] == 1


@pytest.mark.parametrize("number", ["18", "19"])
def test_a_hostile_case_fails_with_a_reason_and_the_next_file_is_read(sandbox, shared, number):
    (path,) = (shared / "cases" / "files").glob(f"{number}-*.pdf")
    assert outcome(sandbox, path.read_bytes()) in {
        "extractor_crashed", "memory_limit", "timeout_cpu", "timeout_wall", "damaged", "empty", "no_text",
    }  # fmt: skip
    assert outcome(sandbox, pdf([Page().text(60, 700, "next")])) == "next"


def test_a_page_tree_that_bites_its_tail_ends(sandbox):
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 99999999 >>",
    }
    assert outcome(sandbox, assembled(objects, "/Root 1 0 R")) in {
        "damaged",
        "too_large",
        "timeout_cpu",
        "timeout_wall",
    }
