"""Pictures of text for the tests, drawn with a font of this machine; the tests skip where there is none."""

import io
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

_FONTS = (
    "/usr/share/fonts/truetype/dejavu/DejaVuSerif.ttf",
    "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
    "/usr/share/fonts/truetype/noto/NotoSans-Regular.ttf",
)


@cache
def installed_languages():
    try:
        done = subprocess.run(["tesseract", "--list-langs"], check=False, capture_output=True, text=True, timeout=30)
    except OSError:
        return frozenset()
    return frozenset(done.stdout.split())


def needs(*languages):
    missing = {"eng", *languages} - installed_languages()
    return pytest.mark.skipif(
        bool(missing), reason=f"tesseract with {', '.join(sorted({'eng', *languages}))} is not there"
    )


def drawn(*texts, size=(1000, 500), points=28, paper=255, ink=0):
    """A picture with texts at places: (left, top, lines)."""
    font = next((path for path in _FONTS if Path(path).is_file()), None)
    if font is None:
        pytest.skip("no DejaVu or Noto font is there")
    page = Image.new("L", size, paper)
    draw, face = ImageDraw.Draw(page), ImageFont.truetype(font, points)
    for left, top, lines in texts:
        for number, line in enumerate(lines.split("\n")):
            draw.text((left, top + round(1.7 * points * number)), line, font=face, fill=ink)
    return page


LINES = (
    "The keeper writes every reading down.\nNobody may cross the lower bridge\nwhile the amber lamp is lit at night."
)
WORDS = LINES.replace("\n", " ")


def plain():
    return drawn((60, 60, LINES), size=(760, 320))


def grainy(page, share=0.06, seed=1):
    levels = np.array(page)
    dice = np.random.default_rng(seed).random(levels.shape)
    levels[dice < share / 2] = 0
    levels[dice > 1 - share / 2] = 255
    return Image.fromarray(levels)


def encoded(page, kind="PNG", **options):
    buffer = io.BytesIO()
    page.save(buffer, kind, **options)
    return buffer.getvalue()
