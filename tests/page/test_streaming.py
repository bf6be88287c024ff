"""An answer is read while a language model writes it, judged when it is whole, and is text whatever the model writes."""

import threading

import pytest
from tests.api.serving import Server
from tests.api.test_generator import Model
from tests.page.conftest import Opened

QUESTION = "How much is the membership fee?"
FIRST = "The membership fee is 40 EUR a month. [1] "
TRICK = "<img src=x onerror=\"document.title='owned'\"> The fee is 99 EUR for guests. [1] "


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A model that writes what it is told, and a server that asks it."""
    model = Model()
    words = ("--set", "generator=openai", "--set", f"openai_url={model.url}", "--set", "generator_model=made")
    with Server(tmp_path_factory.mktemp("written") / "store", *words) as running:
        running.put("fees.md", "# Fees\n\nThe membership fee is 40 EUR a month.\n")
        yield model, running
    model.close()


@pytest.fixture
def one(chromium, written):
    opened = Opened(chromium, written[1].url)
    yield opened
    opened.context.close()
    opened.quiet()


def begin(one):
    page = one.go()
    page.fill("#question", QUESTION)
    page.keyboard.press("Enter")
    return page


def begin_and_read(one):
    """Until the first sentence shows; the model must be held up, or it is gone before it is seen."""
    page = begin(one)
    page.wait_for_selector(".answer[aria-busy] .chip")
    return page


def test_sentences_are_shown_before_the_last_is_written_and_every_claim_is_judged(written, one):
    model, _ = written
    go_on = threading.Event()
    model.script = [FIRST, "The", go_on, " fee is 12345 EUR for guests of the chair. [1] ", "It is paid in spring."]
    try:
        page = begin_and_read(one)
        assert page.locator(".answer-text").inner_text().startswith("The membership fee is 40 EUR a month.")
        assert page.locator(".ask-box button").inner_text() == "Stop"
    finally:
        go_on.set()
    card = page.locator(".answer[data-answer]")
    card.wait_for()
    classes = card.locator(".claim").evaluate_all("claims => claims.map((claim) => claim.className.split('claim-')[1])")
    assert classes == ["supported", "unsupported", "uncited"]
    assert card.locator(".support").get_attribute("open") is not None
    assert card.locator(".support .badge").all_inner_texts() == ["Supported", "Not supported", "No source"]
    assert "Not in its quotes" in card.locator(".support li").nth(1).inner_text()
    assert "12345" in card.locator(".support li").nth(1).inner_text()


def test_what_a_model_writes_is_text(written, one):
    model, _ = written
    model.script = [FIRST, TRICK]
    page = begin(one)
    page.wait_for_selector(".answer[data-answer]")
    assert TRICK[:20] in page.locator(".answer-text").inner_text()
    assert page.locator("main img").count() == 0
    assert page.title() == "gawah"


def test_an_answer_can_be_stopped(written, one):
    model, server = written
    n_before = len(server.client.get("/v1/answers").json()["answers"])
    held = threading.Event()
    model.script = [FIRST, "More", held]
    try:
        page = begin_and_read(one)
        page.get_by_role("button", name="Stop").click()
        page.wait_for_selector(".answer-place [role=alert]")
        assert "Stopped" in page.locator(".answer-place").inner_text()
        assert page.locator(".ask-box button").inner_text() == "Ask"
    finally:
        held.set()
    assert len(server.client.get("/v1/answers").json()["answers"]) == n_before


def test_an_answer_that_is_opened_while_another_is_written_stays(written, one):
    model, server = written
    model.script = [FIRST]
    before = server.ask("What is the fee of a member a month?")
    held = threading.Event()
    model.script = [FIRST, "More", held]
    try:
        page = begin_and_read(one)
        page.locator(f".earlier a[href$='{before['answer_id']}']").click()
        page.wait_for_selector(f".answer[data-answer='{before['answer_id']}']")
        assert page.locator(".ask-box button").inner_text() == "Ask"
    finally:
        held.set()
    model.script = [FIRST]
    one.settle()
    assert page.locator(".answer").get_attribute("data-answer") == before["answer_id"]
    assert page.url.endswith(before["answer_id"])


def test_a_model_that_fails_is_said(written, one):
    model, _ = written
    model.script = []
    page = begin(one)
    page.wait_for_selector(".answer-place [role=alert]")
    assert "500" in page.locator(".answer-place").inner_text()
