"""Texts that offices write: minutes (DOCX, with tracked changes and a note), a field sheet (ODT) and a letter (RTF)."""

from html import escape
from pathlib import Path

from office import bullets, convert, document, heading, note, paragraph, table, tracked


def minutes() -> str:
    changes = tracked({"c1": ("insertion", ""), "c2": ("deletion", "twenty-five"), "c3": ("insertion", "")})
    lane = (
        "The watchmen of the lanes are paid for each night of orange or red, and each lane has "
        '<text:change-start text:change-id="c1"/>two, so that nobody walks alone<text:change-end text:change-id="c1"/>. '
        'A night is paid with ₹<text:change text:change-id="c2"/><text:change-start text:change-id="c3"/>350<text:change-end text:change-id="c3"/>'
        ", from the flood reserve and not from the budget of the year."
    )
    pen = (
        "Yusuf Ansari reported that the pen on the embankment at Rehmatganj was full on the second evening"
        + note(1, "The pen was built for 120 animals; on 9 September 2025 it held 171, of which 40 were not goats.")
        + ". The board decided that a second pen is built beside the first before 10 June, by the same carpenter."
    )
    votes = table("Votes", ["Motion", "For", "Against", "Abstained"], [
        ["Watchmen for the lanes below the railway", "7", "1", "1"],
        ["Second pen on the embankment", "9", "0", "0"],
        ["Sale of the old archive computer", "4", "5", "0"],
    ])  # fmt: skip
    return document("Minutes of the board, 16 February 2026", (
        changes + heading("Minutes of the board, 16 February 2026")
        + paragraph("Present: nine members of the board, with Meenakshi Rawat as secretary and Harish Tolia as treasurer. The "
                    "meeting began at 10:15 in the control room, because the hall had no electricity.")
        + heading("Watchmen for the lanes", 2) + paragraph(lane)
        + paragraph("An armband is handed out with the whistle and is given back with it. Who loses the whistle pays nothing; who lends it is struck off the list.")
        + heading("Animals", 2) + paragraph(pen)
        + heading("The archive computer", 2)
        + paragraph("The computer that stood in the water in 2024 starts again, to everybody's surprise. The motion to sell it was lost. It "
                    "stays as it is, with the tide line on its case, in the entrance of the head office.")
        + heading("Votes", 2) + votes
        + paragraph("The next meeting of the board is on Monday, 20 April 2026, in the hall, if there is electricity.")
    ), head="TROC · Minutes of the board", foot="Page {page}")  # fmt: skip


def field_sheet() -> str:
    rows = [["Lohari Gad", "1.2 kg", "180 m", "20 minutes"], ["Phalenda", "2.0 kg", "240 m", "25 minutes"], ["Gauri Kharak", "0.8 kg", "120 m", "15 minutes"]]
    return document("Field sheet 6: discharge by salt", (
        heading("Field sheet 6: discharge by salt")
        + paragraph("In a torrent no boat and no current meter can work. There we throw a weighed amount of kitchen salt into the water and "
                    "watch, further down, how the conductivity rises and falls. The smaller the hump, the more water came.")
        + heading("Before you throw", 2)
        + bullets(["Dissolve the salt in a bucket of river water; grains on the bed spoil the measurement.",
                   "Write down the conductivity of the river for three minutes without touching the probe.",
                   "Ask in the village whether anybody is about to water animals below you."])
        + heading("The throw", 2)
        + paragraph("Empty the bucket in one movement into the middle of the current, call out the second, and step back from the bank. The one at the "
                    "probe writes a value every five seconds until the river is back within two microsiemens of where it began.")
        + paragraph("A second throw with half the salt must give the same discharge within eight percent. If it does not, the probe stood in a "
                    "dead corner: move it three paces and begin again.")
        + heading("Amounts", 2) + table("Amounts", ["Place", "Salt at low water", "Distance", "Duration"], rows)
        + paragraph(escape("Trout do not mind two kilograms in a torrent. Do not use the method below Ambari: the river is too wide to mix."))
    ))  # fmt: skip


def letter() -> str:
    return document("Letter to the irrigation department", (
        paragraph("Sitalpur, 4 May 2026") + paragraph("To the Executive Engineer, Irrigation Department, Ambari Division")
        + heading("The gate signal at Ambari")
        + paragraph("Sir, on the night of 3 September 2025 two gates of the barrage were opened at 01:30. Our gauge below the barrage rose by 74 "
                    "centimetres in eleven minutes, and we learned the reason from a fisherman, at 02:05.")
        + heading("What we ask for", 2)
        + paragraph("We ask that the control room be told by telephone at least forty minutes before any gate is moved by more than half a metre. A "
                    "message on paper the next morning, as the agreement of 2014 has it, explains a flood but warns nobody.")
        + paragraph("We would give in return the stage at Naugaon Bridge every five minutes, day and night, on a line of your own.")
        + heading("Persons", 2)
        + table("Persons", ["For", "Person", "Hours"], [["gates by day", "Devendra Bisht", "06:00 to 18:00"], ["gates by night", "the observer on watch", "18:00 to 06:00"]])
        + paragraph("Yours faithfully, Meenakshi Rawat, general secretary")
    ))  # fmt: skip


def write(folder: Path) -> None:
    convert(minutes().encode(), ".fodt", folder / "board-minutes.docx")
    convert(field_sheet().encode(), ".fodt", folder / "salt-discharge.odt")
    convert(letter().encode(), ".fodt", folder / "gate-signal-letter.rtf")
