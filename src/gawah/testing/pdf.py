"""A PDF written by hand, for tests and measurements: pages of words in Helvetica at given places, offsets exact."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

# Widths of Helvetica in thousandths, from its published metrics, for the letters the tests set in columns.
_WIDTHS = dict(
    zip(
        " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~",
        [278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278] + [556] * 10
        + [278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
           667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556,
           278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
           260, 334, 584],
        strict=True,
    )
)  # fmt: skip


def width(text: str, size: float = 10) -> float:
    """How wide a text is set, in points."""
    return sum(_WIDTHS.get(letter, 556) for letter in text) * size / 1000


@dataclass
class Page:
    """What stands on a page, in the order of its content stream; y counts from the bottom."""

    size: tuple[float, float] = (612, 792)
    rotate: int = 0
    crop: tuple[float, float, float, float] | None = None
    content: list[bytes] = field(default_factory=list)
    y: float = 0
    pictures: list[tuple[int, int, bytes]] = field(default_factory=list)
    annotations: list[tuple[str, str, str]] = field(default_factory=list)

    def text(
        self, x: float, y: float, words: str, size: float = 10, font: str = "F1",
        angle: tuple[float, float] = (1, 0), mode: int = 0,
    ) -> Self:  # fmt: skip
        """Words at a place; F1 is plain, F2 bold; angle is the cosine and sine; mode 3 is invisible."""
        a, b = angle
        escaped = words.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        self.content.append(
            f"BT /{font} {size} Tf {mode} Tr {a} {b} {-b} {a} {x:.2f} {y:.2f} Tm ({escaped}) Tj ET".encode("cp1252")
        )
        return self

    def lines(
        self, x: float, y: float, lines: Iterable[str], size: float = 10, leading: float = 12, font: str = "F1"
    ) -> Self:
        """Lines one below the other; `y` is then where the line after the last would stand."""
        for line in lines:
            self.text(x, y, line, size, font)
            y -= leading
        self.y = y
        return self

    def picture(self, box: tuple[float, float, float, float], n_columns: int, n_rows: int, levels: bytes) -> Self:
        """A picture in levels of grey, row by row from the top, set into the box x0, y0, x1, y1."""
        self.pictures.append((n_columns, n_rows, levels))
        x0, y0, x1, y1 = box
        return self.draw(f"q {x1 - x0} 0 0 {y1 - y0} {x0} {y0} cm /Im{len(self.pictures)} Do Q")

    def upon(
        self, box: tuple[float, float, float, float], entries: str, appearance: str = "",
        *, state: str = "", hex_contents: str = "",
    ) -> Self:  # fmt: skip
        """An annotation with these entries of its dictionary; its appearance is operators within the box, that of a `state`
        if it has one; an annotation with a field type, `/FT`, is a field of the document's form."""
        place = f"/Type /Annot /Rect [{' '.join(map(str, box))}]"
        words = f" /Contents <{hex_contents}>" if hex_contents else ""
        drawn = f"<< /Type /XObject /Subtype /Form /BBox [0 0 {box[2] - box[0]} {box[3] - box[1]}] /Resources << /Font << /F1 3 0 R >> >>"
        stream = f"{drawn} /Length {len(appearance)} >>\nstream\n{appearance}\nendstream" if appearance else ""
        self.annotations.append((f"{place}{words} {entries}", stream, state))
        return self

    def draw(self, operators: str) -> Self:
        self.content.append(operators.encode())
        return self


def pdf(
    pages: Sequence[Page], *, title: str = "", outline: Sequence[tuple[str, int]] = (), labels: str = "", lang: str = ""
) -> bytes:
    """The bytes of a document. `outline` holds (title, page index) pairs; `labels` is a /Nums array."""
    objects: dict[int, bytes] = {}
    n_pages = len(pages)
    kids = " ".join(f"{10 + 2 * number} 0 R" for number in range(n_pages))
    base = 10 + 2 * n_pages
    catalog = "<< /Type /Catalog /Pages 2 0 R"
    if outline:
        catalog += f" /Outlines {base} 0 R"
        for number, (name, index) in enumerate(outline):
            near = f" /Next {base + 2 + number} 0 R" if number + 1 < len(outline) else ""
            near += f" /Prev {base + number} 0 R" if number else ""
            objects[base + 1 + number] = (
                f"<< /Title ({name}) /Parent {base} 0 R{near} /Dest [{10 + 2 * index} 0 R /Fit] >>".encode()
            )
        last = base + len(outline)
        objects[base] = f"<< /Type /Outlines /First {base + 1} 0 R /Last {last} 0 R /Count {len(outline)} >>".encode()
    if labels:
        catalog += f" /PageLabels << /Nums [{labels}] >>"
    if lang:
        catalog += f" /Lang ({lang})"
    objects[1] = (catalog + " >>").encode()
    objects[2] = f"<< /Type /Pages /Kids [{kids}] /Count {n_pages} >>".encode()
    objects[3] = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
    objects[4] = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>"
    objects[5] = f"<< /Title ({title}) >>".encode()
    free = max(objects) + 2 * n_pages + 10
    fields = ""
    for number, page in enumerate(pages):
        upon = ""
        for entries, appearance, state in page.annotations:
            free += 2
            upon += f"{free} 0 R "
            fields += f"{free} 0 R " if "/FT " in entries else ""
            shown = f"<< /{state} {free + 1} 0 R >>" if state else f"{free + 1} 0 R"
            objects[free] = f"<< {entries}{f' /AP << /N {shown} >>' if appearance else ''} >>".encode("cp1252")
            if appearance:
                objects[free + 1] = appearance.encode("cp1252")
        free += 2
        named = ""
        for position, (n_columns, n_rows, levels) in enumerate(page.pictures, start=1):
            packed, free = zlib.compress(levels), free + 1
            named += f"/Im{position} {free} 0 R "
            objects[free] = (
                f"<< /Type /XObject /Subtype /Image /Width {n_columns} /Height {n_rows} /ColorSpace /DeviceGray "
                f"/BitsPerComponent 8 /Filter /FlateDecode /Length {len(packed)} >>\nstream\n"
            ).encode() + packed + b"\nendstream"  # fmt: skip
        stream = b"\n".join(page.content)
        box = f"/MediaBox [0 0 {page.size[0]} {page.size[1]}]"
        box += f" /CropBox [{' '.join(map(str, page.crop))}]" if page.crop else ""
        objects[10 + 2 * number] = (
            f"<< /Type /Page /Parent 2 0 R {box} {f'/Annots [{upon}]' if upon else ''} /Rotate {page.rotate} /Contents {11 + 2 * number} 0 R "
            f"/Resources << {named and f'/XObject << {named}>> '}/Font << /F1 3 0 R /F2 4 0 R >> >> >>"
        ).encode()
        objects[11 + 2 * number] = b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream)
    if fields:
        objects[1] = f"{catalog} /AcroForm << /Fields [{fields}] /DR << /Font << /F1 3 0 R >> >> >> >>".encode()
    return assembled(objects, "/Root 1 0 R /Info 5 0 R")


def assembled(objects: Mapping[int, bytes], trailer: str) -> bytes:
    """Numbered objects as a file with its table of offsets."""
    out = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"
    offsets = {}
    for number in sorted(objects):
        offsets[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, objects[number])
    start, size = len(out), max(objects) + 1
    out += b"xref\n0 1\n0000000000 65535 f \n"
    for number in sorted(objects):
        out += b"%d 1\n%010d 00000 n \n" % (number, offsets[number])
    return out + f"trailer\n<< /Size {size} {trailer} >>\nstartxref\n{start}\n%%EOF\n".encode()


def wrapped(text: str, column_width: float, size: float = 10) -> list[str]:
    """Words broken to lines that fit the width, as an even column has them."""
    lines: list[str] = []
    line = ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if width(longer, size) > column_width and line:
            lines.append(line)
            line = word
        else:
            line = longer
    return [*lines, line] if line else lines
