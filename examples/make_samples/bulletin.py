"""The PDF: a bulletin in two columns under running heads, words broken at line ends, and a table that goes on overleaf."""

import re
from html import escape
from pathlib import Path

from office import convert, document, heading, paragraph, table, two_columns

# Not every LibreOffice has a dictionary of English word breaks, so long words say themselves where they may break: between
# two consonants that stand between vowels, three letters from either end.
WORD = re.compile(r"[a-z]{7,}")
JOINT = re.compile(r"(?<=[a-z]{2}[bcdfglmnprstv])(?=[bcdfglmnprstv][aeiou][a-z])")

OPENING = [
    (1, "The marks on the walls"),
    (0, "In the dry weeks of February and March 2026 two surveyors of the cooperative, Naveen Semwal and Shabnam Parveen, "
        "walked from Sitalpur to Doab Tola and levelled every flood mark that anybody could show them. A flood mark is a line "
        "on a wall, a nail in a tree or a cut in a door post that says: the water stood here. There are more of them than we "
        "thought. The list of 2012 had nineteen; the new one has forty-four, and it is printed in this bulletin for the first time."),
    (0, "Most marks are honest and some are not. A mark is honest when the person who made it saw the water, made the line on "
        "the same day, and had no reason to wish it higher. Of the forty-four marks we believe thirty-six. The other eight stay "
        "in the list with a question mark, because a doubtful mark that is written down can still be settled by a better one, "
        "and a mark that is left out is lost."),
    (2, "How a mark is levelled"),
    (0, "The level is set up half way between the benchmark and the mark, never further than forty metres from either. Each "
        "mark is read twice, by both surveyors in turn, and the second does not see the notebook of the first. When the two "
        "readings are more than four millimetres apart, both are struck out and the instrument is set up again at another place. "
        "This happened at nine marks, five of them in the lane behind the ice factory at Rehmatganj, where lorries shake the ground."),
    (0, "A painted line has a thickness, and people do not agree which edge the water touched. We level the lower edge of the "
        "paint, because a painter who stands on a ladder draws his brush along the top of a string and lets the colour run "
        "down. For a nail we take the upper side of its head. Where plaster has been renewed we ask for a photograph; in the "
        "settlement below the railway bridge at Kaithwara a wedding picture of 1998 shows the groom beside a mark that is now "
        "under three coats of whitewash, and from the height of his turban we could place the line to within five centimetres."),
    (2, "What the marks say"),
    (0, "The oldest line is on the gate of the granary at Purana Ghat and carries the year 1924 in Urdu numerals. It stands "
        "61 centimetres above the line of 2010. Nobody alive remembers that water, but the grandmother of Abdul Wahid used to "
        "say that in her own mother's time a boat was tied to the granary bell, and the bell rope ends two hand's breadths below "
        "the mark. We had taken the story for a story."),
    (0, "Between Naugaon Bridge and Ambari the marks of 2010 and 2024 lie close together, within a hand of each other, and at "
        "Mirzabagh they cross: there the newer flood stood higher although less water came. The reason is the new embankment "
        "on the left bank, finished in 2017, which keeps the river out of the fields where it used to rest. It protects "
        "the fields and raises the water in the town by about 35 centimetres. We have told the irrigation department so, with "
        "the levels, and we print it here because our members paid for the levels."),
    (0, "Two marks contradict each other at Doab Tola, a nail and a painted line on the same wall, 22 centimetres apart, both "
        "said to be of 2013. The nail was driven by the boatman Ramesh Nishad on the morning itself; the line was painted for "
        "a visitor four years later. We believe the nail."),
    (2, "What it cost"),
    (0, "The whole survey took thirty-one working days and cost ₹1,26,400, of which the largest part was porters. The level was "
        "lent by the railway without charge, on the condition that we also read their eleven bridge marks, which we did. "
        "The next survey of all marks is planned for the spring of 2031, or after the next red siren, whichever comes first."),
]  # fmt: skip
CLOSING = [
    (2, "How to add a mark"),
    (0, "If you know a mark that is not in the list, do not clean it, do not repaint it, and do not let anybody measure it with "
        "a tape from the floor, for floors are raised more often than walls. Tell the volunteer at your gauge, who has a form of "
        "one page. The form asks for your name, the year of the water, who made the mark, and whether you saw it made. Until a "
        "surveyor comes, cover the mark with a sheet of plastic held by four nails that do not touch it."),
    (0, "A mark on your own house stays yours. The cooperative asks only for the right to level it again every five years, and "
        "gives the household a brass disc with the height engraved on it. So far thirty-one discs have been fixed; two were "
        "sent back, because a tall mark lowers the price of a house."),
    (2, "Thanks"),
    (0, "The surveyors thank Bhagirathi Devi for three nights under her roof and for showing them a cut in the post of her old "
        "cattle shed which no list had; the station master of Kaithwara for the level; and the pupils of the girls' school at "
        "Rehmatganj, who counted the steps of the ghat again when our own two counts differed."),
]  # fmt: skip
PLACES = [
    ("Sitalpur", ["post office", "mill of Harish Tolia's uncle", "cattle shed of Bhagirathi Devi", "lower temple, north step"]),
    ("Naugaon Bridge", ["bus shelter", "tea stall, door post", "pier 3, upstream face"]),
    ("Ambari", ["lock keeper's hut", "irrigation bungalow, veranda", "brick kiln", "mango tree, nail", "gate winch house"]),
    ("Kaithwara", ["water tower, ladder foot", "railway yard, signal 14", "wedding house", "goods shed", "ferry ticket window", "well of the dyers"]),
    ("Mirzabagh", ["potters' lane 4", "potters' lane 11", "mosque, ablution wall", "cinema, side exit", "left bank sluice", "school kitchen", "boat yard crane"]),
    ("Purana Ghat", ["granary gate", "granary bell", "ghat, step 23", "laundry stone", "old customs house", "banyan, nail"]),
    ("Rehmatganj", ["girls' school, stairs", "ice factory, loading bay", "ice factory lane 2", "ice factory lane 9", "hospital, laundry door",
                    "railway bridge, abutment", "court, record room", "cloth market, pillar 6"]),
    ("Doab Tola", ["boatmen's wall, nail", "boatmen's wall, paint", "grain bank", "island shrine", "pump house"]),
]  # fmt: skip
BEFORE_TABLE = "Stations and marks are in the order in which the water passes them; a place is named as the people who live there name it."
AFTER_TABLE = "Heights are in metres above the zero of the station's own gauge, and never above the sea. A question mark stands where we doubt."
YEARS = (2010, 2024, 2013, 1998, 2010, 2024, 2021)


def broken(text: str) -> str:
    return WORD.sub(lambda word: JOINT.sub("\u00ad", word[0]), escape(text, quote=False))


def flow(parts: list[tuple[int, str]]) -> str:
    return "".join(heading(text, level) if level else paragraph(broken(text)) for level, text in parts)


def marks() -> list[list[str]]:
    """Forty-four rows: number, station, place, year, metres above the gauge zero, believed or not."""
    rows, number = [], 0
    for station, places in PLACES:
        for place in places:
            year = 1924 if place == "granary gate" else YEARS[number % len(YEARS)]
            height = 3.05 + (number * 37 % 211) / 50 + (0.61 if year == 1924 else 0)
            number += 1
            rows.append([f"FM-{number:02}", station, place, str(year), f"{height:.2f}", "?" if number % 6 == 5 else "yes"])
    return rows


def write(folder: Path) -> None:
    body = two_columns("Opening", flow(OPENING)) + heading("All flood marks, down the river", 2)
    body += paragraph(BEFORE_TABLE)
    body += table("Marks", ["Mark", "Station", "Place", "Year", "Height (m)", "Believed"], marks())
    body += paragraph(AFTER_TABLE)
    body += two_columns("Closing", flow(CLOSING))
    flat = document(
        "Bulletin 14: the flood marks of the Tamsil", body,
        head="Tamsil River Observatory Cooperative · Bulletin 14 · April 2026", foot="Page {page}",
    )  # fmt: skip
    convert(flat.encode(), ".fodt", folder / "bulletin-14.pdf")
