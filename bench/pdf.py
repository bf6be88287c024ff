"""PDF extraction: pages per CPU second with boxes and layout, peak memory, and what a small document costs.

The pages are made here: two columns of prose under a running head, a table on every fifth page.
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import tempfile
import time

from bench.corpora import ROOT
from gawah.extract.pdf import PdfExtractor
from gawah.extract.pdf.page import library
from gawah.extract.sandbox import Sandbox
from gawah.media_types import media_type_of
from gawah.testing.extractor import source_of
from gawah.testing.pdf import Page, pdf, wrapped

N_PAGES = 100
N_SMALL = 20
FORMATS = ROOT / "examples" / "formats"
_CODE = (
    "import resource, sys; from pathlib import Path\nfrom gawah.extract.pdf import PdfExtractor\n"
    "from gawah.testing.extractor import source_of\ndata = Path(sys.argv[1]).read_bytes()\n"
    "PdfExtractor().extract(source_of('a.pdf', data, 'application/pdf'), data)\n"
    "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
)


def made(n_pages: int, seed: int = 1) -> bytes:
    """A document of about 3,300 characters a page."""
    draw = random.Random(seed)
    words = [
        "harbour",
        "lantern",
        "officer",
        "coffee",
        "river",
        "journal",
        "quartz",
        "pilgrim",
        "infrastructure",
        "administration",
        "keeper",
        "survey",
        "in",
        "of",
        "the",
    ]
    pages = []
    for number in range(n_pages):
        page = Page().text(60, 765, "Annals of the Harbour Board", 8).text(300, 40, str(number + 1), 8)
        for column in range(2):
            prose = " ".join(draw.choice(words) for _ in range(420))
            page.lines(55 + 262 * column, 730, wrapped(prose, 235)[: 35 if number % 5 == 0 else 52], leading=12)
        for row in range(14 if number % 5 == 0 else 0):
            for x, cell in zip(
                (60, 180, 330, 460), (f"Berth {row}", draw.choice(words), f"{row}.5 m", "7"), strict=True
            ):
                page.text(x, 290 - 15 * row, cell)
        pages.append(page)
    return pdf(pages)


def pages_per_cpu_second(data: bytes, rounds: int = 3) -> float:
    extractor, rates = PdfExtractor(), []
    for _ in range(rounds):
        start = time.process_time()
        document = extractor.extract(source_of("a.pdf", data, "application/pdf"), data)
        rates.append(document.quality["pages_read"] / (time.process_time() - start))
    return statistics.median(rates)


def peak_mib(data: bytes) -> float:
    with tempfile.NamedTemporaryFile(suffix=".pdf") as file:
        file.write(data)
        file.flush()
        done = subprocess.run([sys.executable, "-c", _CODE, file.name], check=True, capture_output=True, text=True)
    return float(done.stdout)


def small_document_ms(sandbox: Sandbox, name: str, data: bytes, rounds: int = N_SMALL) -> float:
    """A document through the sandbox, whose server runs already."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        sandbox.extract(source_of(name, data, media_type_of(name)), data)
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


def small_document_rows() -> list[tuple[str, str, str]]:
    """What a process of its own costs: a line of text, ten lines of PDF, and the example file of each format."""
    lines = pdf([Page().lines(60, 700, ["The keeper of the lantern wrote it all down."] * 10)])
    with Sandbox() as sandbox:
        small_document_ms(sandbox, "a.txt", b"A line.", 1)
        rows = [
            (f"{what} in the sandbox, ms", f"{small_document_ms(sandbox, name, data):.0f}", "<= 80")
            for what, name, data in (("one line of text", "a.txt", b"A line."), ("PDF of ten lines", "a.pdf", lines))
        ]
        rows += [
            (f"{path.name} in the sandbox, ms", f"{small_document_ms(sandbox, path.name, path.read_bytes(), 7):.0f}", "")
            for path in sorted(FORMATS.iterdir()) if path.suffix != ".zip"
        ]  # fmt: skip
    return rows


def pdf_rows() -> list[tuple[str, str, str]]:
    library()
    data = made(N_PAGES)
    return [
        ("PDF, pages per CPU second, two columns", f"{pages_per_cpu_second(data):.1f}", ">= 15"),
        (f"PDF of {N_PAGES} pages, peak memory, MiB", f"{peak_mib(data):.0f}", "<= 300"),
        *small_document_rows(),
    ]


if __name__ == "__main__":
    for row in pdf_rows():
        print("| " + " | ".join(row) + " |")
