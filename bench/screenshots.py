"""The page in pictures: a server over examples/, asked in Debian's Chromium; writes docs/screenshots/*.png.

`python -m bench.screenshots` (or `make screenshots`). Each picture is at most 150 kB.
"""

import io
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "docs" / "screenshots"
MOST_BYTES = 150_000
WIDE, NARROW = {"width": 1360, "height": 850}, {"width": 390, "height": 844}
CHROMIUM = "/usr/bin/chromium"
PDF = "Which edge of a painted flood mark is levelled?"
SHEET = "Why did Iqbal turn back on the trip to the island shrine?"
URDU = "گیٹ وے G5 کی سبز بتی کتنے سیکنڈ میں ایک بار جھپکنی چاہیے؟"
FAR = "Which enzyme folds collagen in the deep sea?"
# (name, size, colours, question, what to open)
SHOTS = (
    ("answer", WIDE, "light", PDF, "1"),
    ("sheet-dark", WIDE, "dark", SHEET, "1"),
    ("refusal", WIDE, "light", FAR, ""),
    ("documents", WIDE, "light", "", "#/documents"),
    ("documents-dark", WIDE, "dark", "", "#/documents"),
    ("urdu-narrow", NARROW, "light", URDU, ""),
    ("answer-narrow-dark", NARROW, "dark", PDF, ""),
    ("source-narrow", NARROW, "light", PDF, "1"),
)


def main() -> None:
    TARGET.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "GAWAH_STORE": str(Path(folder, "store"))}
        for collection in ("handbook", "formats"):
            command = [
                sys.executable,
                "-m",
                "gawah",
                "ingest",
                ROOT / "examples" / collection,
                "--collection",
                collection,
            ]
            subprocess.run(list(map(str, command)), env=environment, check=True)
        command = [sys.executable, "-m", "gawah", "serve", "--port", "0", "--workers", "0"]
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as server:
            url, reader = listening(server)
            try:
                shoot(url)
            finally:
                server.terminate()
                reader.join()


def listening(server: "subprocess.Popen[str]") -> tuple[str, threading.Thread]:
    """Where the server listens, and the thread that reads its further lines and leaves them."""
    ready: queue.Queue[str] = queue.Queue()

    def read() -> None:
        assert server.stderr is not None
        for line in server.stderr:
            event = json.loads(line)
            if event["event"] == "ready":
                ready.put(event["url"])

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    return ready.get(timeout=60), reader


def shoot(url: str) -> None:
    with sync_playwright() as playwright:
        root = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=root)
        for name, size, scheme, question, which in SHOTS:
            context = browser.new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce")
            page = context.new_page()
            show(page, url, question, which)
            kept = small(page.screenshot())
            (TARGET / f"{name}.png").write_bytes(kept)
            print(f"{name}.png {len(kept):,} bytes")
            context.close()
        browser.close()


def show(page: Page, url: str, question: str, which: str) -> None:
    page.goto(f"{url}/{which if which.startswith('#') else ''}")
    if question:
        page.fill("#question", question)
        page.keyboard.press("Enter")
        page.wait_for_selector(".answer[data-answer]")
        if which:
            page.locator(f".answer [data-source='{which}']").first.click()
            page.wait_for_selector("#viewer .viewer-body:not([aria-busy])")
        page.evaluate("document.activeElement.blur()")
    else:
        page.wait_for_selector(".document")
    page.wait_for_timeout(400)


def small(png: bytes) -> bytes:
    """The picture with no more colours than keep it under the limit."""
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    for n_colours in (256, 128, 64, 32, 16):
        written = io.BytesIO()
        picture.quantize(n_colours, dither=Image.Dither.NONE).save(written, "PNG", optimize=True)
        if written.tell() <= MOST_BYTES:
            break
    return written.getvalue()


if __name__ == "__main__":
    main()
