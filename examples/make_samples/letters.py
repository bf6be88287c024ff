"""Mail: a message with two attachments (EML), a thread in a mailbox (MBOX), and a ZIP of station notes."""

from email.message import EmailMessage
from pathlib import Path

from steady import packed

OFFER = """item,pieces,rupees_each,delivery
"Battery 24 V 65 Ah, sealed",2,18400,"nine days after the order"
"Terminal clamps, brass",4,310,"at once"
"Crane for the water tower, half a day",1,6500,"any Tuesday"
"""
INSTRUCTIONS = """# Changing the battery on the tower

Two people go up, one stays at the foot with the radio and the key of the ladder.

Disconnect the minus cable first and tie it to the rail with the red ribbon. The old battery is lowered in the net before the
new one is lifted; there is never more than one battery on the platform.
"""


def message(sender: str, to: str, when: str, subject: str, body: str, number: int) -> EmailMessage:
    made = EmailMessage()
    made["From"], made["To"], made["Date"], made["Subject"] = sender, to, when, subject
    made["Message-ID"] = f"<{number}@troc.example>"
    made.set_content(body)
    return made


def repair() -> bytes:
    mail = message(
        "Imran Qureshi <imran@troc.example>", "Harish Tolia <harish@troc.example>", "Tue, 17 Feb 2026 08:05:00 +0530",
        "Repeater battery at Kaithwara",
        "Harish bhai,\n\nin the February test the battery on the water tower gave 58 percent of what is printed on it, so it has to\n"
        "go before the rains. The railway lets us use its crane on a Tuesday only, and wants the name of everybody who\n"
        "climbs two days before.\n\nThe offer of the dealer is attached, and the sheet that we nail to the tower door.\n\nImran\n", 1,
    )  # fmt: skip
    mail.add_attachment(OFFER.encode(), maintype="text", subtype="csv", filename="offer.csv")
    mail.add_attachment(INSTRUCTIONS.encode(), maintype="text", subtype="markdown", filename="tower-battery.md")
    mail.set_boundary("=-=-tower-=-=")
    return mail.as_bytes()


def thread() -> bytes:
    mails = [
        message("Farida Anwar <farida@troc.example>", "Devendra Bisht <devendra@troc.example>", "Mon, 09 Mar 2026 19:10:00 +0530",
                "The lake above Chhamru", "Devendra,\n\nKarma has measured Naya Tal again: it is 212 metres long now and the ice on its eastern shore has let go.\n"
                "I want a second look before I write to the district.\n\nFarida\n", 2),
        message("Devendra Bisht <devendra@troc.example>", "Farida Anwar <farida@troc.example>", "Tue, 10 Mar 2026 07:30:00 +0530",
                "Re: The lake above Chhamru", "Farida,\n\nI can go up on 24 March with the echo sounder, if Karma keeps the small raft dry until then.\n"
                "We should ask for the depth at nine points, not only for the length.\n\nDevendra\n", 3),
    ]  # fmt: skip
    return b"".join(b"From - Mon Mar  9 19:10:00 2026\n" + mail.as_bytes() + b"\n" for mail in mails)


NOTES = {
    "notes/lohari-gad.txt": "Lohari Gad, 11 April 2026. The tea stall has moved; the rain gauge now stands behind the bicycle shop.\n"
    "Whoever comes next brings a hacksaw, because the padlock of the cabinet is rusted shut.\n",
    "notes/doab-tola.md": "# Doab Tola\n\nThe ferryman keeps our spare pressure logger in a clay jar under the third bench of the ferry.\n\n"
    "He wants no money for it, only a calendar with the phases of the moon every January.\n",
}


def write(folder: Path) -> None:
    (folder / "repeater-battery.eml").write_bytes(repair())
    (folder / "lake-thread.mbox").write_bytes(thread())
    (folder / "station-notes.zip").write_bytes(packed({name: text.encode() for name, text in NOTES.items()}))
