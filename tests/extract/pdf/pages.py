"""A PDF written by hand, for tests: pages of positioned words in Helvetica, objects and offsets exact."""

from dataclasses import dataclass, field

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


def width(text, size=10):
    """How wide a text is set, in points."""
    return sum(_WIDTHS.get(letter, 556) for letter in text) * size / 1000


@dataclass
class Page:
    """What stands on a page, in the order of its content stream; y counts from the bottom."""

    size: tuple = (612, 792)
    rotate: int = 0
    crop: tuple | None = None
    content: list = field(default_factory=list)
    y: float = 0

    def text(self, x, y, words, size=10, font="F1", angle=(1, 0), mode=0):
        a, b = angle
        escaped = words.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        self.content.append(
            f"BT /{font} {size} Tf {mode} Tr {a} {b} {-b} {a} {x:.2f} {y:.2f} Tm ({escaped}) Tj ET".encode("cp1252")
        )
        return self

    def lines(self, x, y, lines, size=10, leading=12, font="F1"):
        """Lines one below the other; `y` is then where the line after the last would stand."""
        for line in lines:
            self.text(x, y, line, size, font)
            y -= leading
        self.y = y
        return self

    def draw(self, operators):
        self.content.append(operators.encode())
        return self


def pdf(pages, *, title="", outline=(), labels="", lang="", extra=""):
    """The bytes of a document. `outline` holds (title, page index) pairs; `labels` is a /Nums array."""
    objects = {}
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
    objects[1] = (catalog + f"{extra} >>").encode()
    objects[2] = f"<< /Type /Pages /Kids [{kids}] /Count {n_pages} >>".encode()
    objects[3] = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
    objects[4] = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>"
    objects[5] = f"<< /Title ({title}) >>".encode()
    for number, page in enumerate(pages):
        stream = b"\n".join(page.content)
        box = f"/MediaBox [0 0 {page.size[0]} {page.size[1]}]"
        box += f" /CropBox [{' '.join(map(str, page.crop))}]" if page.crop else ""
        objects[10 + 2 * number] = (
            f"<< /Type /Page /Parent 2 0 R {box} /Rotate {page.rotate} /Contents {11 + 2 * number} 0 R "
            "/Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>"
        ).encode()
        objects[11 + 2 * number] = b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream)
    return assembled(objects, "/Root 1 0 R /Info 5 0 R")


def assembled(objects, trailer):
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


def wrapped(text, column_width, size=10):
    """Words broken to lines that fit the width, as an even column has them."""
    lines, line = [], ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if width(longer, size) > column_width and line:
            lines.append(line)
            line = word
        else:
            line = longer
    return [*lines, line] if line else lines
