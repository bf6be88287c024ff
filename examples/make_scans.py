"""Draws the example scans anew: `python examples/make_scans.py`. The files in the repository were made by it.

Needs Pillow, numpy and the DejaVu fonts; for the pages in Hindi and Urdu also Chromium and the Noto fonts, since such
scripts want shaping.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

FOLDER = Path(__file__).parent / "scans"
FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSerif.ttf"
NOTICE = """NOTICE TO ALL VOLUNTEERS

From 1 May the boat house is locked at nine in the even-
ing. Whoever needs a boat later asks the keeper of the
ferry, who has the only key.

Life jackets are washed on the last Saturday of each
month. Torn ones go into the red crate, not back on the
hook.

Order no. BH-2207
Valid until 31 October"""
HINDI = """<body style="margin:36px;width:820px;font:27px 'Noto Sans Devanagari'"><p>नाव घर की चाबी केवल घाट के रखवाले के पास रहती है।</p>
<p>फटी हुई जैकेट लाल पेटी में डालें, उसे वापस खूँटी पर न टाँगें। हर महीने के अंतिम शनिवार को जैकेट धोई जाती हैं।</p>"""
URDU = """<body dir=rtl style="margin:36px;width:820px;font:32px 'Noto Naskh Arabic'"><p>کشتی گھر کی چابی صرف گھاٹ کے رکھوالے کے پاس رہتی ہے۔</p>
<p>پھٹی ہوئی جیکٹ لال پیٹی میں ڈالیں، اسے واپس کھونٹی پر نہ ٹانگیں۔ جیکٹیں ہر مہینے کے آخری ہفتے کو دھوئی جاتی ہیں۔</p>"""


def notice() -> Image.Image:
    """A page that lay a little askew on the glass, with grain."""
    page = Image.new("L", (1000, 800), 244)
    draw, font = ImageDraw.Draw(page), ImageFont.truetype(FONT, 28)
    for number, line in enumerate(NOTICE.split("\n")):
        draw.text((70, 60 + 52 * number), line, font=font, fill=30)
    page = page.rotate(-1.4, Image.Resampling.BICUBIC, fillcolor=244)
    levels = np.array(page) // 8 * 8
    dice = np.random.default_rng(11).random(levels.shape)
    levels[dice < 0.004] = 0
    levels[dice > 0.996] = 255
    return Image.fromarray(levels)


def shaped(markup: str) -> Image.Image:
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder, "page.html"), Path(folder, "page.png")
        source.write_text(f"<meta charset=utf-8>{markup}", encoding="utf-8")
        command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        command += ["--window-size=900,360", f"--screenshot={made}", str(source)]
        subprocess.run(command, check=True, capture_output=True)
        return Image.open(made).convert("L").quantize(16)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    notice().save(FOLDER / "boat-house-notice.png", optimize=True)
    for name, markup in (("boat-house-hi.png", HINDI), ("boat-house-ur.png", URDU)):
        shaped(markup).save(FOLDER / name, optimize=True)


if __name__ == "__main__":
    sys.exit(main())
