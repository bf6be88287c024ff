"""How long hearing and reading take: seconds a second of speech, seconds a page.   python -m bench.recognition

Wall times of whole extractions in this process; processor time beside them, which a busy machine does not lengthen. The
sound is spoken here by espeak-ng and the page drawn, so that everybody measures the same.
"""

from __future__ import annotations

import importlib.util
import io
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from gawah.errors import ExtractionError
from gawah.extract.options import Options
from gawah.extract.registry import extract
from gawah.types import SourceFile

HANDBOOK = Path(__file__).parents[1] / "examples" / "handbook"
FONT = Path("/usr/share/fonts/truetype/dejavu/DejaVuSerif.ttf")
DPI, A4_INCHES = 300, (8.27, 11.69)
ROWS_CHARS = 78
SPOKEN_CHARS = 1500


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """(wall seconds, processor seconds, this process and the programs it starts)."""
    wall, before = time.perf_counter(), _processor_s()
    work()
    return time.perf_counter() - wall, _processor_s() - before


def _processor_s() -> float:
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def prose() -> str:
    """Sentences of the example handbook without its tables and headings."""
    text = (HANDBOOK / "incidents" / "2023-07-devkund.md").read_text("utf-8")
    return " ".join(line for line in text.split("\n") if line[:1].isalpha())


def read(name: str, media_type: str, data: bytes) -> None:
    extract(SourceFile("bench", name, f"file:///{name}", media_type, len(data), "0" * 64), data, options=Options())


def speech_rows() -> list[tuple[str, str, str]]:
    name = "speech, real-time factor"
    if shutil.which("espeak-ng") is None:
        return [(name, "not measured: espeak-ng is not installed here", "")]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "talk.wav")
        subprocess.run(["espeak-ng", "-v", "en-us", "-w", str(file), prose()[:SPOKEN_CHARS]], check=True)
        data = file.read_bytes()
    seconds = (len(data) - 44) / (22_050 * 2)  # espeak-ng speaks 22,050 16-bit samples a second
    try:
        wall, processor = timed(lambda: read("talk.wav", "audio/wav", data))
    except ExtractionError as error:
        return [(name, f"not measured: {error}", "")]
    return [
        (f"{name}, model loaded ({seconds:.0f} s of speech)", f"{wall / seconds:.2f}", "< 1"),
        ("speech, processor seconds a second", f"{processor / seconds:.2f}", ""),
    ]


def page_rows() -> list[tuple[str, str, str]]:
    name = "OCR, s a page"
    if shutil.which("tesseract") is None or not FONT.is_file() or importlib.util.find_spec("PIL") is None:
        return [(name, "not measured: tesseract or the DejaVu fonts are not installed here", "")]
    rows = []
    for title, degrees in (("", 0.0), (", lying upside down and askew", 181.5)):
        data, n_words = drawn_page(degrees)
        wall, processor = timed(lambda data=data: read("page.png", "image/png", data))
        rows.append((f"{name}: A4 at {DPI} dpi, {n_words} words{title}", f"{wall:.1f}", ""))
        rows.append((f"OCR, processor seconds a page{title}", f"{processor:.1f}", ""))
    return rows


def drawn_page(degrees: float) -> tuple[bytes, int]:
    import textwrap

    from PIL import Image, ImageDraw, ImageFont

    page = Image.new("L", tuple(round(DPI * inches) for inches in A4_INCHES), 250)
    draw, font = ImageDraw.Draw(page), ImageFont.truetype(str(FONT), 46)
    lines = textwrap.wrap(prose(), ROWS_CHARS)[:46]
    for number, line in enumerate(lines):
        draw.text((220, 220 + 66 * number), line, font=font, fill=20)
    page = page.rotate(degrees, Image.Resampling.BICUBIC, fillcolor=250)
    buffer = io.BytesIO()
    page.save(buffer, "PNG")
    return buffer.getvalue(), sum(len(line.split()) for line in lines)


def rows() -> list[tuple[str, str, str]]:
    return speech_rows() + page_rows()


if __name__ == "__main__":
    for row in rows():
        print(" | ".join(row), flush=True)
