"""The folder that the tests of the page upload: real files of the examples, and a few that are made to know their places."""

import shutil

from gawah.testing.pdf import Page, pdf, wrapped

EXAMPLES = (
    "handbook/guides/volunteer-hi.md", "handbook/guides/field-guide-ur.md", "handbook/data/portal.html",
    "handbook/instruments/inventory.csv", "handbook/organisation/roster.md", "formats/bulletin-14.pdf", "formats/boat-log.xlsx",
    "formats/training-day-one.pptx",
)  # fmt: skip
LANTERN = "The copper lantern of the customs house weighs nineteen kilograms."
GOAT = "The grey goat of the lighthouse keeper is called Wilhelmina."
HARMLESS = "<img src=x onerror=\"document.title='owned'\">"
STORES = 'item,shelf,keeper\nbirch skis,4,Torvald\nviolin case,12,Ondrej\n"ink, blue",7,"Marta ""the quill"" Blom"\n'
ODD_NAME = 'odd "quoted" & <b>bold\' name.md'
ODD = f"# Odd\n\n{HARMLESS} The odd lamp of the pantry has three wicks. <script>document.title = 'owned'</script>\n"
EVIL = """<!DOCTYPE html><html><head><title>Evil</title><script>parent.document.title='owned'</script>
<link rel=stylesheet href="http://evil.example/a.css"></head><body onload="alert(1)"><h1>Barometer</h1>
<p>The brass barometer hangs in the <a href="javascript:alert(1)">northern</a> corridor of the school.</p>
<img src="http://evil.example/i.png" onerror="alert(1)"><iframe src="http://evil.example/"></iframe></body></html>"""
_FILLER = (
    "Ledgers of the old harbour list rope, tar and canvas by the day.",
    "Nobody has counted the barrels since the spring.",
    "The clerk writes with a steel pen and sands every page.",
)


def red(page, x, y, words, size=11):
    """Words in pure red: where they are in the picture can be seen without knowing anything of fonts."""
    return page.draw("1 0 0 rg").text(x, y, words, size).draw("0 g")


def two_columns(rotate, sentence):
    """A page with a sentence in red in its right column, over as many lines as it needs."""
    page = Page(rotate=rotate)
    page.text(72, 720, "Register of the harbour", 16, "F2")
    for column in (72, 320):
        y = 690
        for number, filler in enumerate(_FILLER * 2):
            if column == 320 and number == 3:
                for line in wrapped(sentence, 210, 11):
                    red(page, column, y, line)
                    y -= 13
                continue
            page.lines(column, y, wrapped(filler, 210, 11), 11, 13)
            y = page.y
    return page


def folder(root, examples):
    """Writes the folder."""
    root.mkdir(parents=True)
    for name in EXAMPLES:
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(examples / name, target)
    (root / "register.pdf").write_bytes(pdf([two_columns(0, LANTERN)], labels="0 << /S /r /St 4 >>"))
    (root / "turned.pdf").write_bytes(pdf([Page().text(72, 700, "An empty first page."), two_columns(90, GOAT)]))
    (root / "stores.csv").write_text(STORES, encoding="utf-8")
    (root / ODD_NAME).write_text(ODD, encoding="utf-8")
    (root / "evil.html").write_text(EVIL, encoding="utf-8")
    (root / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing of a document")
    return root
