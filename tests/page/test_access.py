"""The page can be used by keyboard alone, passes axe in light and dark, fits a narrow screen, and works with a key."""

import pytest
from tests.api.serving import Server, cli
from tests.page.conftest import Opened

WORDS = "# Ferry\n\nThe ferry of the upper landing carries eleven mules at a time.\n\nIt rests on Fridays.\n"
QUESTION = "How many mules does the ferry of the upper landing carry?"


@pytest.fixture(scope="module")
def ferry(served):
    served.put("ferry.md", WORDS, collection="landing")


def focused(page):
    return page.evaluate(
        "(document.activeElement.getAttribute('aria-label') || document.activeElement.textContent || document.activeElement.id).trim()"
    )


def tab_to(page, words, key="Tab"):
    for _ in range(60):
        page.keyboard.press(key)
        if words in focused(page):
            return
    raise AssertionError(f"{words} cannot be reached with {key}; the focus is on {focused(page)!r}")


def test_everything_can_be_done_by_keyboard_alone(ferry, opened):
    one = opened()
    page = one.go()
    page.wait_for_function("() => document.activeElement.id === 'question'")
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    page.wait_for_selector(".answer[data-answer]")
    tab_to(page, "Source 1")
    page.keyboard.press("Enter")
    one.shown()
    assert page.evaluate("document.activeElement.className") == "viewer-title"
    tab_to(page, "Text of the source")
    page.keyboard.press("Escape")
    page.wait_for_selector("#viewer", state="hidden")
    assert focused(page).startswith("Source 1")
    page.keyboard.press("Alt+/")
    assert page.evaluate("document.activeElement.id") == "question"
    tab_to(page, "Documents", "Shift+Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector(".document")
    page.wait_for_function("() => document.activeElement.tagName === 'H1'")
    tab_to(page, "Choose a folder")
    tab_to(page, "landing")
    page.keyboard.press("Enter")
    page.wait_for_selector(".document details[open] dl")


def violations(one):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = axe.run(
        one.page,
        options={
            "resultTypes": ["violations"],
            "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
        },
    )
    assert len(found.response["passes"]) > 10
    return [(one["id"], [node["html"][:120] for node in one["nodes"]][:3]) for one in found.response["violations"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(ferry, opened, scheme):
    one = opened(color_scheme=scheme, reduced_motion="reduce")
    page = one.go()
    page.wait_for_selector(".welcome")
    assert violations(one) == []
    card = one.ask(QUESTION)
    card.locator(".support summary").click()
    card.locator(".facts summary").click()
    one.open_source()
    assert violations(one) == []
    one.ask("Which enzyme folds collagen in the deep sea?")
    assert violations(one) == []
    page.goto(f"{one.url}/#/documents")
    page.wait_for_selector(".document")
    page.locator(".document summary").first.click()
    page.wait_for_selector(".document-body dl")
    assert violations(one) == []
    page.goto(f"{one.url}/#/evaluation")
    page.wait_for_selector(".view-evaluation h1")
    assert violations(one) == []


def test_on_a_narrow_screen_nothing_is_cut_off_and_the_source_covers_the_page(ferry, opened):
    one = opened(viewport={"width": 360, "height": 740})
    page = one.go()
    one.ask(QUESTION)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    viewer = one.open_source()
    box = viewer.bounding_box()
    assert (box["x"], box["y"], box["width"], box["height"]) == (0, 0, 360, 740)
    assert page.evaluate("document.getElementById('main').inert")
    viewer.get_by_role("button", name="Close the source").click()
    page.wait_for_selector("#viewer", state="hidden")
    assert not page.evaluate("document.getElementById('main').inert")
    page.goto(f"{one.url}/#/documents")
    page.wait_for_selector(".document")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_nothing_can_be_made_of_markup_even_by_a_mistake_of_ours(opened):
    """The policy of the page: a browser refuses every sink, inline styles, foreign pictures and scripts."""
    one = opened()
    page = one.go()
    refused = page.evaluate("""() => {
      try { document.body.innerHTML = '<b>x</b>'; return false; } catch (error) { return error.name === 'TypeError'; }
    }""")
    assert refused
    policy = page.request.get(one.url).headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    one.complaints = [line for line in one.complaints if "TrustedHTML" not in line]


@pytest.fixture(scope="module")
def keyed(tmp_path_factory):
    """A server that wants a key, with two collections; the keys of a reader of one of them, and of an operator."""
    store = tmp_path_factory.mktemp("keyed") / "store"
    operator = cli(store, "keys", "create", "operator", "--scope", "admin").stdout.strip()
    reader = cli(
        store, "keys", "create", "reader", "--scope", "read", "--scope", "ask", "--collection", "open"
    ).stdout.strip()
    with Server(store, "--set", "require_key=true") as running:
        running.client.headers["Authorization"] = f"Bearer {operator}"
        from gawah.testing.pdf import Page, pdf

        running.put(
            "plan.pdf",
            pdf([Page().text(72, 700, "The slate roof of the mill was laid by four brothers.")]),
            collection="open",
        )
        running.put("page.html", "<p>The walnut door of the mill opens to the north.</p>", collection="open")
        running.put("secret.md", "# Secret\n\nThe secret stair of the mill has thirty steps.\n", collection="closed")
        yield running, reader


def test_a_key_is_asked_for_kept_for_the_tab_and_goes_with_pictures_and_frames(chromium, keyed):
    server, reader = keyed
    one = Opened(chromium, server.url)
    page = one.go()
    page.fill("#key-field", "gawah_wrong_key")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('dialog')?.textContent.includes('opens nothing')")
    page.fill("#key-field", reader)
    page.keyboard.press("Enter")
    page.wait_for_selector("#question")
    card = one.ask("Who laid the slate roof of the mill?")
    viewer = one.open_source()
    assert viewer.locator(".page img").evaluate("image => image.naturalWidth") > 500
    assert viewer.locator(".boxes rect").count() >= 1
    card = one.ask("Where does the walnut door of the mill open to?")
    viewer = one.open_source()
    assert "walnut door" in viewer.frame_locator("iframe").locator("mark").first.inner_text()
    card = one.ask("How many steps does the secret stair of the mill have?")
    assert "secret" not in card.inner_text().replace("secret stair of the mill have?", "")
    page.goto(f"{one.url}/#/documents")
    page.wait_for_selector(".document")
    assert page.locator(".document").count() == 2
    assert page.locator(".drop").count() == 0  # this key may not ingest
    assert page.evaluate("[sessionStorage.length, localStorage.length, document.cookie]") == [1, 0, ""]
    one.context.close()
    assert [line for line in one.complaints if "401" not in line] == []
