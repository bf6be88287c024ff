"""An EPUB of three chapters: what old people along the river say, with the spine in another order than the names of the files."""

from pathlib import Path

from steady import packed

TITLE = "What the river says"
CHAPTERS = [
    ("c-sounds.xhtml", "The sounds", [
        "The old ones hear a flood before they see it. When the stones begin to walk on the bed, they say that the river is grinding her own flour.",
        "A frog that calls at noon is paid no attention. Frogs that fall silent all at once, at night, empty a house faster than any siren."]),
    ("a-debts.xhtml", "Debts to the water", [
        "Whoever takes sand from the river leaves a handful of rice on the bank, and whoever takes a stone for a threshold leaves a song.",
        "In Mirzabagh a debt between neighbours was wiped out when the water had entered both their kitchens in the same night."]),
    ("b-names.xhtml", "Names that are not spoken", [
        "A ferryman never says the name of the other bank while he is rowing. He says: over there, where my aunt lives.",
        "The seventh wave has a name in the language of the boatmen, and they would not tell it to the person who wrote this book."]),
]  # fmt: skip


def page(title: str, paragraphs: list[str]) -> str:
    body = "".join(f"<p>{text}</p>" for text in paragraphs)
    return (
        '<?xml version="1.0" encoding="UTF-8"?><html xmlns="http://www.w3.org/1999/xhtml" xml:lang="en"><head>'
        f"<title>{title}</title></head><body><h1>{title}</h1>{body}</body></html>"
    )


def write(folder: Path) -> None:
    items = "".join(f'<item id="{name[0]}" href="{name}" media-type="application/xhtml+xml"/>' for name, _, _ in sorted(CHAPTERS))
    spine = "".join(f'<itemref idref="{name[0]}"/>' for name, _, _ in CHAPTERS)
    links = "".join(f'<li><a href="{name}">{title}</a></li>' for name, title, _ in CHAPTERS)
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
        '<rootfiles><rootfile full-path="OPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
        "OPS/book.opf": '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="id">urn:troc:river-says</dc:identifier>'
        f'<dc:title>{TITLE}</dc:title><dc:language>en</dc:language><meta property="dcterms:modified">2026-05-01T00:00:00Z</meta></metadata>'
        f'<manifest>{items}<item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/></manifest><spine>{spine}</spine></package>',
        "OPS/nav.xhtml": '<?xml version="1.0" encoding="UTF-8"?><html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops">'
        f'<head><title>Contents</title></head><body><nav epub:type="toc"><ol>{links}</ol></nav></body></html>',
        **{f"OPS/{name}": page(title, paragraphs) for name, title, paragraphs in CHAPTERS},
    }  # fmt: skip
    data = packed({name: text.encode() for name, text in parts.items()}, stored=("mimetype",))
    (folder / "what-the-river-says.epub").write_bytes(data)
