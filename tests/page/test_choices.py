"""Whoever changes their mind gets what they chose last: another answer, another way to show a source, Back, and the focus with it."""

import pytest
from tests.api.serving import Server
from tests.page.conftest import Opened

HTML = "<html><body><h1>Mill</h1><p>The wind mill of the dunes grinds forty sacks a day.</p></body></html>"
MILL = "How many sacks does the wind mill of the dunes grind a day?"
LOOM = "How many threads has the hand loom of the weavers?"


@pytest.fixture(scope="module")
def dunes(served):
    served.put("mill.html", HTML, collection="dunes")
    served.put("loom.md", "# Loom\n\nThe hand loom of the weavers has nine hundred threads.\n", collection="dunes")


def test_back_leads_to_the_answer_before(dunes, opened):
    one = opened()
    page = one.go()
    one.ask(MILL)
    first = page.url
    one.ask(LOOM)
    assert page.url != first
    page.go_back()
    page.wait_for_function("text => document.querySelector('.answer .asked')?.textContent === text", arg=MILL)
    assert page.url == first
    page.go_forward()
    page.wait_for_function("text => document.querySelector('.answer .asked')?.textContent === text", arg=LOOM)


def test_the_view_that_was_chosen_last_is_shown_when_one_chosen_before_comes_late(dunes, opened):
    one = opened()
    page = one.go()
    one.ask(MILL)
    one.open_source()
    held = []

    def hold(route):
        held.append(route)

    page.route("**/framed*", hold)
    with page.expect_request("**/framed*"):
        page.get_by_role("button", name="Page", exact=True).click()
    page.get_by_role("button", name="Text", exact=True).click()
    page.wait_for_selector("#viewer .text-column mark")
    with page.expect_event("requestfinished", lambda request: "/framed" in request.url):
        for route in held:
            route.continue_()
    page.unroute("**/framed*")
    one.settle()
    assert page.locator("#viewer .text-column mark").count() > 0
    assert page.locator("#viewer iframe").count() == 0


def test_the_focus_is_never_lost_with_the_source(dunes, opened):
    one = opened()
    page = one.go()
    one.ask(MILL)
    address = page.url
    one.open_source()
    page.locator("#question").focus()
    page.keyboard.type(LOOM)
    page.keyboard.press("Enter")  # closes the source; whoever asks goes on typing
    page.wait_for_function(
        "text => document.querySelector('.answer[data-answer] .asked')?.textContent === text", arg=LOOM
    )
    assert page.evaluate("document.activeElement.id") == "question"
    other = opened()
    page = other.go("#" + address.partition("#")[2] + "/1")  # opened by its address: nothing opened it
    other.shown()
    page.keyboard.press("Escape")
    page.wait_for_selector("#viewer", state="hidden")
    assert page.evaluate("document.activeElement.id") == "question"


def test_a_key_that_is_not_given_is_not_asked_for_again_and_again(chromium, tmp_path):
    with Server(tmp_path / "store") as server:
        server.put("loom.md", "The hand loom of the weavers has nine hundred threads.\n")
        one = Opened(chromium, server.url)
        n_asked = []

        def refuse(route):
            n_asked.append(route.request.url)
            problem = '{"detail": "an API key is needed", "status": 401, "code": "unauthorised"}'
            route.fulfill(status=401, content_type="application/problem+json", body=problem)

        page = one.page
        page.clock.install()
        page.route("**/v1/events", refuse)
        one.go("#/documents")
        page.wait_for_selector("dialog[open]")
        page.keyboard.press("Escape")
        page.wait_for_selector("dialog", state="detached")
        page.clock.run_for(600_000)  # ms: whatever the page meant to try again, it has
        one.settle()
        assert page.locator("dialog").count() == 0
        assert len(n_asked) == 1
        one.context.close()


def test_a_document_that_is_open_stays_open_when_the_list_is_made_anew(dunes, opened):
    one = opened()
    page = one.go("#/documents")
    page.fill("#words", "loom.")
    page.wait_for_function("() => document.querySelectorAll('.document').length === 1")
    page.locator(".document summary").click()
    page.wait_for_selector(".document details[open] dl")
    with page.expect_response("**/v1/documents?*words=loom.md*"):
        page.fill("#words", "loom.md")
    one.settle()
    assert page.locator(".document details[open] dl").count() == 1
