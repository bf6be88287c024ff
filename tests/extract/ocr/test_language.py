"""What was recognised in the wrong language is said, with the package and the setting; what was not is left in peace."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import ROOT
from tests.extract.ocr.pages import drawn, encoded, needs

from gawah.errors import ExtractionError
from gawah.extract.ocr.language import foreign_language, said_of_language
from gawah.extract.ocr.tesseract import Eyes
from gawah.extract.ocr.words import OcrLine, OcrPage, OcrWord
from gawah.extract.options import Options
from gawah.extract.registry import extract
from gawah.testing.extractor import source_of

ENGLISH = "The ferry leaves at seven and returns before noon, and nobody may cross at night without a lamp while the water is high over the mark that is painted on the wall."
# As an eye for English reads them: without marks, or with wrong letters for them.
FOREIGN = {
    "deu": "Die Fahre verlasst den unteren Anleger jeden Morgen um sieben und kehrt vor Mittag zuruck. Niemand darf nachts ohne Lampe ibersetzen, und die Kinder sollen nicht nahe am Seil mit der Lampe stehen.",
    "fra": "Le bac quitte le quai du bas chaque matin a sept heures et revient avant midi. Personne ne peut traverser la nuit sans lampe, et les enfants ne doivent pas se tenir pres de la corde.",
    "spa": "La barca sale del muelle de abajo cada mafiana a las siete y vuelve antes del mediodia. Nadie puede cruzar de noche sin lampara, y los nifios no deben estar cerca de la cuerda.",
    "pol": "Prom odplywa z dolnej przystani kazdego ranka o siodmej i wraca przed poludniem. Nikt nie moze przeprawiac sie noca bez lampy, a dzieci nie powinny stac na linie do pierwszej w nocy.",
}


@pytest.mark.parametrize(("code", "text"), FOREIGN.items())
def test_a_language_is_known_by_its_small_words(code, text):
    assert foreign_language(text.split(), ("eng",)) == code
    assert foreign_language(text.split(), ("eng", "hin")) == code
    assert foreign_language(text.split(), ("eng", code)) == ""
    assert foreign_language(text.split(), ("hin",)) == code
    assert foreign_language(text.split()[:20], ("eng",)) == "", "of few words nothing is said"


@pytest.mark.parametrize(
    "text",
    [
        ENGLISH,
        "Rope 10 mm 12 340 Lamp oil 5 l 4 120 Hooks brass 30 95 Paint white 2 l 6 410 Sitalpur post 3 88 " * 3,
        "pani ka level jab laal nishaan se upar ho to naav nahi chalegi aur sab log ghat par rukenge " * 2,
        "x = y + x * y - y / x " * 20,
    ],
)
def test_english_lists_romanised_hindi_and_formulas_are_no_other_language(text):
    assert foreign_language(text.split(), ("eng", "hin", "urd")) == ""


def test_nothing_is_said_where_a_language_that_was_asked_for_is_not_known():
    assert foreign_language(FOREIGN["spa"].split(), ("eng", "cat")) == ""


def test_the_project_s_own_pages_are_taken_for_english():
    for path in [*(ROOT / "examples" / "handbook").rglob("*.md"), *(ROOT / "docs").glob("*.md")]:
        words = path.read_text("utf-8").split()
        for at in range(0, len(words), 100):
            assert foreign_language(words[at : at + 100], ("eng", "hin", "urd")) == "", (
                path.name,
                words[at : at + 100],
            )


@given(
    st.lists(st.text(max_size=12), max_size=60),
    st.lists(st.sampled_from(["eng", "hin", "deu", "urd", "fra"]), min_size=1),
)
def test_any_words_give_a_language_that_was_not_asked_for_or_none(words, languages):
    assert foreign_language(words, languages) not in languages


def page(text, confidence, script=""):
    words = tuple(OcrWord(word, 0, 0, 1, 1, confidence) for word in text.split())
    return OcrPage(10, 10, (OcrLine(words, 1, 1),), script=script)


def eyes(*languages):
    return Eyes("tesseract", languages, (), finds_orientation=True)


def test_the_line_names_package_and_setting():
    assert said_of_language(page(FOREIGN["deu"], 92, "Latin"), eyes("eng", "hin")) == (
        "it looks like German, but was read as eng+hin: apt-get install tesseract-ocr-deu, `ocr_languages` eng+hin+deu",
    )
    assert said_of_language(page(ENGLISH, 96, "Latin"), eyes("eng")) == ()


@pytest.mark.parametrize(
    ("script", "confidence", "languages", "is_said"),
    [
        ("Cyrillic", 40, ("eng",), True),
        ("Cyrillic", 40, ("eng", "rus"), False),
        ("Cyrillic", 96, ("eng",), False),  # so well read, it is the finder that is wrong
        ("Devanagari", 40, ("eng", "mar"), False),
        ("Han", 40, ("chi_sim",), False),
        ("Latin", 40, ("hin",), True),
        ("Latin", 40, ("hin", "fra"), False),
        ("Fraktur", 40, ("eng",), False),  # nothing is known of its languages
    ],
)
def test_a_script_that_no_language_is_written_in_is_said_when_it_was_badly_read(script, confidence, languages, is_said):
    said = said_of_language(page("Qy xz", confidence, script), eyes(*languages))
    assert bool(said) == is_said
    assert all(script in line and "+".join(languages) in line for line in said)


@needs()
def test_a_picture_of_german_says_so_and_one_of_english_does_not():
    german = "Die Fähre verlässt den Anleger jeden Morgen um sieben\nund kehrt vor Mittag zurück. Niemand darf nachts ohne\nLampe übersetzen, und die Kinder sollen nicht nahe am\nSeil mit der Lampe stehen, wenn das Wasser hoch ist."
    english = "The ferry leaves at seven and returns before noon, and\nnobody may cross at night without a lamp while the water\nis high over the mark that is painted on the wall."
    options = Options(ocr_languages="eng")
    for text, said in ((german, True), (english, False)):
        data = encoded(drawn((40, 40, text), size=(1100, 320)))
        document = extract(source_of("page.png", data, "image/png"), data, options=options)
        assert ["looks like German" in line for line in document.warnings] == [True] * said


@needs()
def test_a_picture_of_another_script_says_which():
    russian = "Паром отходит от нижней пристани каждое утро\nв семь часов и возвращается до полудня.\nКогда вода выше отметки, паромщик ждёт."
    data = encoded(drawn((40, 40, russian), size=(1100, 260)))
    with pytest.raises(ExtractionError, match="its script looks like Cyrillic") as caught:
        extract(source_of("page.png", data, "image/png"), data, options=Options(ocr_languages="eng"))
    assert caught.value.reason_code == "no_text"


@needs()
def test_case_07_german_that_was_read_without_german_is_said(shared):
    data = (shared / "cases" / "files" / "07-no-tounicode-shifted.pdf").read_bytes()
    document = extract(source_of("a.pdf", data, "application/pdf"), data, options=Options(ocr_languages="eng"))
    assert any(line.startswith("it looks like German, but was read as eng") for line in document.warnings)
