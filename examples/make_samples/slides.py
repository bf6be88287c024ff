"""Slides: the first morning of the training of volunteers, with notes, a table, a group and a hidden slide."""

import io
from datetime import datetime
from pathlib import Path

from pptx import Presentation
from pptx.util import Cm, Pt
from steady import repacked

SLIDES = [
    ("Sanket mitra: the first morning", [
        "You will hear the siren today, so that it does not frighten you later.",
        "You will not sound it: nobody sounds a siren in the first month."],
     "Let everybody put their hands over their ears before the first tone. In 2024 two people fell off the bench."),
    ("Three tones", [], "Play yellow twice, since the most common mistake is to take it for the school bell."),
    ("What you carry", [
        "A whistle on a red cord, a lamp, and the card with the code word.",
        "The card is carried in the left shoe, never in a telephone."],
     "Somebody always asks why the shoe. Answer: because shoes are searched last and are put on first."),
    ("If you are late", ["A volunteer who cannot reach the gauge within twenty minutes hands the watch to the second neighbour."], ""),
    ("Old rule of 2019, no longer taught", ["Until 2019 the whistle was blown three times for yellow, which children imitated."],
     "Hidden. Only for trainers who are asked about it."),
]  # fmt: skip
TONES = [["Mark", "Tone", "How long"], ["yellow", "steady, low", "40 seconds"], ["orange", "rising and falling", "90 seconds"], ["red", "broken, high", "until the power fails"]]


def write(folder: Path) -> None:
    deck = Presentation()
    deck.core_properties.title = "Training of the sanket mitra, day one"
    deck.core_properties.author = "Sunita Kandpal"
    deck.core_properties.created = deck.core_properties.modified = datetime(2026, 4, 2)  # noqa: DTZ001
    for title, lines, notes in SLIDES:
        slide = deck.slides.add_slide(deck.slide_layouts[5])
        slide.shapes.title.text = title
        for number, line in enumerate(lines):
            frame = slide.shapes.add_textbox(Cm(2), Cm(5 + 2.4 * number), Cm(20), Cm(2)).text_frame
            frame.word_wrap = True
            frame.text = line
            frame.paragraphs[0].font.size = Pt(24)
        if notes:
            slide.notes_slide.notes_text_frame.text = notes
        if title == "Three tones":
            grid = slide.shapes.add_table(4, 3, Cm(2), Cm(5), Cm(20), Cm(6)).table
            for y, row in enumerate(TONES):
                for x, cell in enumerate(row):
                    grid.cell(y, x).text = cell
        if title.startswith("Old rule"):
            slide._element.set("show", "0")
    stream = io.BytesIO()
    deck.save(stream)
    (folder / "training-day-one.pptx").write_bytes(repacked(stream.getvalue()))
