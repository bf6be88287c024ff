"""A folder of damaged files, ingested: every one ends `ready` or `failed` with a code, and the good ones are still found.

Every example file of every format is damaged in turn, by a seeded draw: bits flipped, cut short, given another ending, or, in a package of XML,
values and elements changed where no checksum tells.
Prints outcomes by format and code; exit code 1 when the extractor of a file failed by a Python exception (a bug of ours),
when a document has another end, or when a good file is not found.   python -m bench.mutations [--files 1000] [--seed 1]
"""

from __future__ import annotations

import argparse
import io
import random
import re
import shutil
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.corpora import ROOT
from gawah.app import Application
from gawah.config import load_settings
from gawah.types import DocumentRecord, DocumentState

EXAMPLES = ROOT / "examples"
FOLDERS = ("formats", "scans", "recordings", "handbook")
WAYS = ("flip", "burst", "cut", "swap", "inside")
MOST_FLIPS = 40
BURST_BYTES = 256
XML = (".xml", ".rels", ".opf", ".xhtml")
# What may be changed with the XML still well-formed: values in quotes, attributes, numbers, empty elements and leaves.
_VALUE = re.compile(rb'(?<==")[^"]*(?=")|(?<=>)-?[\d.]+(?=<)')
_REMOVABLE = re.compile(rb'\s[\w:-]+="[^"]*"(?=[\s/>])|<([\w:]+)(?:\s[^<>]*)?(?:/>|(?<!/)>[^<>]*</\1>)')
ODD = (b"", b"-1", b"0", b"x", b"nan", b"1e400", b"4294967295", b"9" * 20, b"\xc2\xb2", b"A1:XFD1048576", b"../../x")
GOOD = EXAMPLES / "handbook" / "incidents" / "2023-07-devkund.md"
QUESTION, ANSWER = "What happened at Devkund in July 2023?", "part of the ice wall"
OUR_FAULT = "the extractor failed: "  # how the sandbox names a Python exception that is no ExtractionError


@dataclass(frozen=True, slots=True)
class Mutant:
    """A damaged copy: how it was damaged stands in its name."""

    name: str
    data: bytes
    original: str


def originals() -> list[Path]:
    """One file of each ending in each folder: of many Markdown files the first does."""
    chosen: dict[tuple[str, str], Path] = {}
    for folder in FOLDERS:
        for path in sorted((EXAMPLES / folder).rglob("*")):
            if path.is_file():
                chosen.setdefault((folder, path.suffix), path)
    return list(chosen.values())


def mutants(files: Sequence[Path], n: int, seed: int, ways: Sequence[str] = WAYS) -> Iterator[Mutant]:
    """The n first of an endless sequence that goes round the files and the ways."""
    draw = random.Random(seed)
    endings = sorted({path.suffix for path in files})
    content = {path: path.read_bytes() for path in files}
    for number in range(n):
        path = files[number % len(files)]
        way = ways[number // len(files) % len(ways)]
        data, ending = damaged(content[path], way, draw), path.suffix
        if way == "swap":
            ending = draw.choice([other for other in endings if other != ending])
        yield Mutant(f"{number:04}-{way}-{path.stem}{ending}", data, path.suffix)


def damaged(data: bytes, way: str, draw: random.Random) -> bytes:
    """Bits flipped anywhere, a burst of other bytes at one place, a hole, or the rest cut off; a swap leaves the bytes alone."""
    if way == "inside" and data.startswith(b"PK"):
        return damaged_inside(data, draw)
    made = bytearray(data)
    if way == "flip":
        for _ in range(draw.randint(1, MOST_FLIPS)):
            made[draw.randrange(len(made))] ^= 1 << draw.randrange(8)
    elif way == "burst":
        at = draw.randrange(len(made))
        made[at : at + BURST_BYTES] = draw.randbytes(BURST_BYTES)
    elif way == "cut":
        del made[draw.randrange(1, len(made)) :]
    elif way == "inside":
        at = draw.randrange(len(made))
        del made[at : at + draw.randint(1, BURST_BYTES)]
    return bytes(made)


def damaged_inside(data: bytes, draw: random.Random) -> bytes:
    """A package with whole checksums, of which a few values are odd, elements are missing, or a part is."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for _ in range(draw.randint(1, 3)):
        names = sorted(name for name in parts if name.endswith(XML)) or sorted(parts)
        name = draw.choice(names)
        if len(names) > 1 and draw.random() < 0.1:
            del parts[name]
            continue
        is_value = draw.random() < 0.6
        places = list((_VALUE if is_value else _REMOVABLE).finditer(parts[name]))
        if places:
            place = draw.choice(places)
            new = draw.choice(ODD) if is_value else b""
            parts[name] = parts[name][: place.start()] + new + parts[name][place.end() :]
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return stream.getvalue()


def is_our_fault(record: DocumentRecord) -> bool:
    return record.failure is not None and record.failure.reason.startswith(OUR_FAULT)


def is_of(name: str, known: str) -> bool:
    return known == name or known.startswith(f"{name}/")


def outcome(record: DocumentRecord) -> str:
    """`ready`, or the code of the failure; what neither is, by its state."""
    if record.state is DocumentState.FAILED and record.failure and record.failure.code and record.failure.reason:
        return record.failure.code
    return record.state.value if record.state is DocumentState.READY else f"BAD: {record.state.value}"


def table(ends: Sequence[tuple[str, str]]) -> str:
    """A row for each (original ending, outcome), counted."""
    counted = Counter(ends)
    columns = sorted({end for _, end in ends}, key=lambda end: (end != "ready", end))
    rows = [["file", *columns], ["---"] * (len(columns) + 1)]
    rows += [
        [ending, *(str(counted[ending, end] or "") for end in columns)] for ending in sorted({one for one, _ in ends})
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="Copy the files that our code failed on into this folder.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gawah-mutations-") as scratch:
        return measure(Path(scratch), options)


def measure(scratch: Path, options: argparse.Namespace) -> int:
    folder = scratch / "files"
    folder.mkdir()
    made = {mutant.name: mutant for mutant in mutants(originals(), options.files, options.seed)}
    for mutant in made.values():
        (folder / mutant.name).write_bytes(mutant.data)
    shutil.copy(GOOD, folder / "good.md")
    settings = load_settings(environment={}, options={"store": scratch / "store", "cache": scratch / "cache"}).settings
    with Application(settings, create=True) as app:
        start = time.perf_counter()
        plan = app.plan(folder)
        slowest = (0.0, "")
        before = start
        for record in app.ingest(plan):
            slowest = max(slowest, (time.perf_counter() - before, record.name))
            before = time.perf_counter()
        wall_s = time.perf_counter() - start
        records = {record.name: record for record in app.documents()}
        refused = {one.name: one.code for one in plan.refused}
        found = any(ANSWER in passage.chunk.content for passage in app.search(QUESTION).passages[:4])
        good = records["good.md"].state is DocumentState.READY
    return report(made, records, refused, wall_s, slowest, is_good=good and found, keep=options.keep)


def report(
    made: dict[str, Mutant], records: dict[str, DocumentRecord], refused: dict[str, str], wall_s: float,
    slowest: tuple[float, str], *, is_good: bool, keep: Path | None,
) -> int:  # fmt: skip
    ends, faults, lost = [], [], []
    for name, mutant in made.items():
        # A ZIP is a folder: as many documents as it has members; what of it cannot be one is refused, with a code.
        own = [record for known, record in records.items() if is_of(name, known)]
        codes = [f"refused: {code}" for known, code in refused.items() if is_of(name, known)]
        lost += [] if own or codes else [name]
        ends += [(mutant.original, end) for end in (*map(outcome, own), *codes)]
        faults += [record for record in own if is_our_fault(record)]
        if keep and any(is_our_fault(record) for record in own):
            keep.mkdir(parents=True, exist_ok=True)
            (keep / name).write_bytes(mutant.data)
    print(table(ends))
    print(
        f"\n{len(made)} files, {len(ends)} documents, {wall_s:.0f} s; the longest took {slowest[0]:.1f} s ({slowest[1]})"
    )
    crashes = [record for record in records.values() if record.failure and record.failure.code == "extractor_crashed"]
    for record in crashes:
        print(f"crashed: {record.name}: {record.failure.reason if record.failure else ''}")
    bad = [end for _, end in ends if end.startswith("BAD")]
    print(
        f"python exceptions: {len(faults)}; without a proper end: {len(bad)}; unaccounted: {', '.join(lost) or 0}; good file found: {is_good}"
    )
    return 1 if faults or bad or lost or not is_good else 0


if __name__ == "__main__":
    sys.exit(main())
