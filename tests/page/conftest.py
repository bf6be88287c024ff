"""One server for all tests of the page, and a browser; without Debian's Chromium, or the packages, they skip."""

import os
import shutil
from pathlib import Path

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
sync_api = pytest.importorskip("playwright.sync_api", reason="the page is tested with the package playwright")

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
WAIT_MS = 30_000


@pytest.fixture(scope="module")
def chromium():
    """A browser of this module's own: while one is open its event loop is that of the thread, and other tests have theirs."""
    if not Path(CHROMIUM).exists():
        pytest.skip("no /usr/bin/chromium: requirements/system.sh installs Debian's")
    with sync_api.sync_playwright() as playwright:
        root = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*root, "--disable-dev-shm-usage"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def served(tmp_path_factory):
    """A server with nothing in its store."""
    from tests.api.serving import Server

    with Server(tmp_path_factory.mktemp("page") / "store", "--workers", "1") as running:
        yield running


class Opened:
    """A page of a browser, and whatever it complained about: every test ends with `quiet()`.

    What a test provokes it names in `expected`, by a part of the complaint: a console speaks when it likes, after the test as well.
    """

    def __init__(self, browser, url, **options):
        self.url = url
        self.context = browser.new_context(**{"viewport": {"width": 1360, "height": 860}, **options})
        self.context.set_default_timeout(WAIT_MS)
        self.page = self.context.new_page()
        self.complaints = []
        self.expected = ()
        self.page.on(
            "console", lambda message: message.type in ("error", "warning") and self.complaints.append(message.text)
        )
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", self._heard)

    def _heard(self, request):
        if not request.url.startswith((self.url, "blob:", "about:")):
            self.complaints.append(f"a request to {request.url}")

    def go(self, hash_=""):
        self.page.goto(f"{self.url}/{hash_}")
        return self.page

    def ask(self, question):
        """Asks in the box; the answer's card when it has come."""
        self.page.fill("#question", question)
        self.page.keyboard.press("Enter")
        self.page.wait_for_function(
            "text => document.querySelector('.answer[data-answer] .asked')?.textContent === text", arg=question
        )
        return self.page.locator(".answer")

    def open_source(self, which="1"):
        self.page.locator(f".answer [data-source='{which}']").first.click()
        return self.shown()

    def shown(self):
        """The viewer, when what it opens has come."""
        self.page.wait_for_selector("#viewer .viewer-body:not([aria-busy])")
        return self.page.locator("#viewer")

    def settle(self):
        """Lets the page draw what has come: two frames, and whatever was waiting behind them."""
        self.page.evaluate(
            "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"
        )

    def quiet(self):
        """No error in the console, nothing against the policy, no word to another host, save what was provoked."""
        assert [one for one in self.complaints if not any(part in one for part in self.expected)] == []


@pytest.fixture
def opened(chromium, served):
    """Opens the page of the server: `opened()`; options are those of a browser context."""
    made = []

    def open_(**options):
        made.append(Opened(chromium, served.url, **options))
        return made[-1]

    yield open_
    for one in made:
        one.context.close()
        one.quiet()
