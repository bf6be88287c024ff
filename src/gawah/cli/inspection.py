"""Commands that look: inspect, chunk, doctor, config."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gawah.cli.common import (
    NAME,
    PATH,
    common_options,
    counted,
    indented,
    load,
    open_application,
    pages_line,
    print_columns,
)
from gawah.cli.terminal import print_json, say, say_text

if TYPE_CHECKING:
    from gawah.types import Chunk, Conservation, Document


@click.command(short_help="Show what is read of a file, with its places.")
@click.argument("file", type=PATH)
@click.option("--removed", "shows_removed", is_flag=True, help="What was taken out of the text, and why.")
@click.option("--page", type=click.IntRange(min=1), help="Draw this page of a PDF or an image; needs --png.")
@click.option(
    "--png", type=PATH, help="Where to write the drawing: what was read in blue frames, what was taken out in red."
)
@common_options
@click.pass_context
def inspect(
    context: click.Context,
    file: Path,
    shows_removed: bool,
    page: int | None,
    png: Path | None,
    store: Path | None,
    assignments: tuple[str, ...],
    as_json: bool,
) -> None:
    """Print the canonical text of a file with its places in the original, as ingest reads it; no store is needed."""
    from gawah.app import draw_page, extract_file

    settings = load(context, store, assignments).settings
    if (page is None) != (png is None):
        raise click.UsageError("--page and --png go together: which page, and where to draw it")
    if page is not None and png is not None:
        n_places, n_removed = draw_page(settings, file, page, png)
        if as_json:
            print_json({"png": str(png), "page": page, "read": n_places, "removed": n_removed})
        else:
            say(f"{png}: page {page}, {counted(n_places, 'frame')} of what was read, {n_removed} of what was taken out")
        return
    document = extract_file(settings, file)
    if as_json:
        print_json(_document_json(document))
        return
    print_columns(_report(document))
    if shows_removed:
        for item in document.removed:
            say()
            say(item.reason)
            say_text(indented(item.text))
        return
    for kind, where, fragment, text in _placed_blocks(document):
        say()
        say(f"{where}  {fragment}  {kind}")
        say_text(indented(text))


def _report(document: Document) -> list[tuple[str, str]]:
    books = document.conservation
    rows = [
        ("title", document.title),
        ("type", f"{document.source.media_type}, read by {document.extractor}, language {document.language}"),
        ("characters", f"{books.read:,} read, {books.kept:,} in the text; {_entries(books)}"),
        ("blocks", f"{len(document.blocks):,}, places: {len(document.places):,}, removals: {len(document.removed):,}"),
    ]
    if pages := pages_line(document.quality):
        rows.append(("pages", pages))
    if "tables" in document.quality:
        columns = document.quality.get("columns", 1)
        rows.append(("layout", f"{counted(columns, 'column')} at most, {counted(document.quality['tables'], 'table')}"))
    return rows + [("warning", line) for line in document.warnings]


def _entries(books: Conservation) -> str:
    dropped = ", ".join(f"{reason} {n:,}" for reason, n in sorted(books.dropped.items())) or "nothing"
    added = ", ".join(f"{reason} {n:,}" for reason, n in sorted(books.added.items())) or "nothing"
    return f"dropped: {dropped}; added: {added}" + ("" if books.holds else "; THE BOOKS DO NOT BALANCE")


def _placed_blocks(document: Document) -> list[tuple[str, str, str, str]]:
    """(kind, label, fragment, text) of each block; a heading that is only a name has no place and no text of its own."""
    from gawah.fragment import build, label, locate_each

    locators = locate_each(document.places, document.text, [block.span for block in document.blocks])
    rows = []
    for block, locator in zip(document.blocks, locators, strict=True):
        kind = f"{block.kind.value} {block.level}" if block.level else block.kind.value
        if len(block.span):
            rows.append((kind, label(locator), build(locator), block.span.slice(document.text)))
        else:
            rows.append((kind, "(name)", "", block.title))
    return rows


def _document_json(document: Document) -> dict[str, object]:
    from gawah.fragment import build, label
    from gawah.wire import to_json

    return {
        "title": document.title,
        "media_type": document.source.media_type,
        "extractor": document.extractor,
        "language": document.language,
        "sha256": document.source.sha256,
        "text": document.text,
        "blocks": [
            {"kind": b.kind.value, "level": b.level, "title": b.title, "from": b.span.start, "to": b.span.end}
            for b in document.blocks
        ],
        "places": [
            {"from": p.span.start, "to": p.span.end, "label": label(p.locator), "fragment": build(p.locator)}
            for p in document.places
        ],
        "warnings": list(document.warnings),
        "quality": dict(document.quality),
        "removed": to_json(document.removed),
        "conservation": to_json(document.conservation),
    }


@click.command(short_help="Show how a file is cut.")
@click.argument("file", type=PATH)
@click.option("--strategy", type=click.Choice(list("ABCDEF")), default="E", show_default=True)
@click.option("--reference", is_flag=True, help="The reference algorithm instead of the block-aware one.")
@click.option("--title", type=NAME, help="Title for the contextual header; default: the document's own.")
@click.option("--audit", "with_audit", is_flag=True, help="Sentence survival, header share, window: figures only.")
@common_options
@click.pass_context
def chunk(
    context: click.Context,
    file: Path,
    strategy: str,
    reference: bool,
    title: str | None,
    with_audit: bool,
    store: Path | None,
    assignments: tuple[str, ...],
    as_json: bool,
) -> None:
    """Print the chunks of a file, as they would be embedded and quoted; no store is needed."""
    from gawah.app import chunk_file

    loaded = load(context, store, assignments)
    chunks, audit = chunk_file(loaded.settings, file, strategy=strategy, reference=reference, title=title)
    if with_audit:
        from gawah.wire import to_json

        print_json(to_json(audit))
    elif as_json:
        print_json([_chunk_json(piece) for piece in chunks])
    else:
        for piece in chunks:
            say(f"#char={piece.span.start},{piece.span.end}  {piece.n_tokens} tokens  {piece.section}")
            say_text(indented(piece.text))


def _chunk_json(piece: Chunk) -> dict[str, object]:
    return {
        "section": piece.section,
        "from": piece.span.start,
        "to": piece.span.end,
        "text": piece.text,
        "content": piece.content,
        "n_tokens": piece.n_tokens,
    }


@click.command(short_help="Check the store: model, norms, counters, index, log.")
@click.option("--repair", "with_repair", is_flag=True, help="First build damaged segments again from the catalog.")
@common_options
@click.pass_context
def doctor(
    context: click.Context, with_repair: bool, store: Path | None, assignments: tuple[str, ...], as_json: bool
) -> int:
    """Check the store: model and hash, unit norms, d²/2 = 1 - cos, counters, slices, segments, failed documents."""
    with open_application(context, store, assignments) as app:
        repaired = app.repair() if with_repair else []
        checks = list(app.examine())
    if as_json:
        from gawah.wire import to_json

        ok = all(check.holds for check in checks)
        print_json({"checks": [to_json(check) for check in checks], "ok": ok, "repaired": repaired})
    else:
        for name in repaired:
            say(f"repaired  segment {name}, from the catalog")
        print_columns([("ok" if check.holds else "FAULT", check.name, check.detail) for check in checks])
    return 0 if all(check.holds for check in checks) else 1


@click.group()
def config() -> None:
    """Settings."""


@config.command("show")
@click.option("--origin", is_flag=True, help="Say where each value comes from.")
@common_options
@click.pass_context
def config_show(
    context: click.Context, origin: bool, store: Path | None, assignments: tuple[str, ...], as_json: bool
) -> None:
    """Print every setting with its value."""
    loaded = load(context, store, assignments)
    values = loaded.settings.model_dump(mode="json")
    if as_json:
        print_json({key: {"value": value, "origin": loaded.origins[key]} for key, value in values.items()})
        return
    rows = []
    for key, value in values.items():
        description = type(loaded.settings).model_fields[key].description or ""
        rows.append((key, "" if value is None else str(value), loaded.origins[key] if origin else f"# {description}"))
    print_columns(rows)
