"""Kept values, tickets and windows of sheets: what they promise, without a server."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.api import grid, layout
from gawah.api.kept import Kept
from gawah.api.tickets import LIFETIME_S, Tickets
from gawah.errors import NotFoundError, UsageError
from gawah.extract.registry import extract
from gawah.testing.extractor import source_of
from gawah.types import Place, SheetRange, Span


def test_what_was_used_last_is_kept_and_never_more_than_may_be():
    made = []
    kept = Kept(10, len)

    def get(key):
        return kept.get(key, lambda: made.append(key) or key * 4)

    assert [get(key) for key in "abab"] == ["aaaa", "bbbb", "aaaa", "bbbb"]
    assert made == ["a", "b"]
    get("c")  # makes room by the one that was used longest ago
    get("b")
    get("a")
    assert made == ["a", "b", "c", "a"]
    assert kept.get("large", lambda: "x" * 99) == "x" * 99
    get("a")
    assert made[-1] == "a"
    kept.clear()
    assert (kept._total, len(kept._values)) == (0, 0)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 6)), max_size=40))
def test_kept_values_never_weigh_more_than_they_may(asked):
    kept = Kept(10, len)
    for key, size in asked:
        kept.get((key, size), lambda size=size: "x" * size)
        assert kept._total == sum(map(len, kept._values.values())) <= 10


def test_nothing_is_kept_of_what_could_not_be_made():
    kept = Kept(10, len)
    with pytest.raises(ValueError, match="once"):
        kept.get("a", lambda: (_ for _ in ()).throw(ValueError("once")))
    assert kept.get("a", lambda: "made") == "made"


def test_what_was_being_made_when_all_was_forgotten_is_not_kept():
    kept = Kept(10, len)

    def purged_meanwhile():
        kept.clear()
        return "old"

    assert kept.get("a", purged_meanwhile) == "old"
    assert kept.get("a", lambda: "new") == "new"


def test_a_ticket_holds_for_its_hour_its_paths_and_for_reading():
    now = [0.0]
    tickets = Tickets(lambda: now[0])
    ticket = tickets.issue("/v1/documents/a1/", "secret")
    assert tickets.token(ticket, "GET", "/v1/documents/a1/original") == "secret"
    assert tickets.token(ticket, "HEAD", "/v1/documents/a1/original") == "secret"
    assert tickets.token(ticket, "POST", "/v1/documents/a1/retry") is None
    assert tickets.token(ticket, "GET", "/v1/documents/a12/original") is None
    assert tickets.token("other", "GET", "/v1/documents/a1/original") is None
    now[0] = LIFETIME_S
    assert tickets.token(ticket, "GET", "/v1/documents/a1/original") is None
    tickets.issue("/v1/runs/r/", "secret")
    assert ticket not in tickets._issued


def csv(text):
    data = text.encode()
    return extract(source_of("a.csv", data, "text/csv"), data)


def test_a_window_begins_a_little_above_the_cited_row():
    document = csv("n,word\n" + "".join(f"{n},word{n}\n" for n in range(2, 400)))
    at = document.text.index("300,word300")
    body = grid.window(document, "", 0, Span(at, at + 11))
    assert (body["first_row"], body["rows"][20]["number"], len(body["rows"])) == (280, 300, grid.ROWS)
    assert [cell["text"] for cell in body["rows"][20]["cells"]] == ["300", "word300"]
    assert (body["n_rows"], body["n_columns"]) == (399, 2)


@given(st.lists(st.lists(st.text('ab ,"\n', max_size=4), min_size=1, max_size=4), min_size=1, max_size=8))
def test_cells_of_a_table_file_are_those_of_the_csv_module(rows):
    import csv as module
    import io

    written = io.StringIO()
    module.writer(written, lineterminator="\n").writerows([["head", "line"], *rows])
    document = csv(written.getvalue())
    body = grid.window(document, "", 1, None)
    read = list(module.reader(io.StringIO(written.getvalue())))
    for row in body["rows"]:
        values = read[row["number"] - 1]
        assert {cell["column"]: cell["text"] for cell in row["cells"]} == {
            at: value for at, value in enumerate(values, 1) if value and row["cells"]
        }


def test_a_cell_that_is_merged_over_the_whole_sheet_is_as_high_as_the_window():
    span, place = Span(0, 4), Place(Span(0, 4), SheetRange("One", "A1:XFD1048576"))
    document = replace(csv("boat\n"), places=(place,))
    for row, height in ((1, grid.ROWS), (1_048_570, 7)):
        body = grid.window(document, "One", row, span)
        (cell,) = body["rows"][0]["cells"]
        assert (body["rows"][0]["number"], cell["n_rows"], cell["n_columns"], cell["text"]) == (
            row,
            height,
            256,
            "boat",
        )


def test_a_window_is_never_longer_than_a_browser_bears():
    long = '"' + "word " * 10_000 + '"'
    body = grid.window(csv("a,b\n" + "".join(f"1,{long}\n" for _ in range(grid.ROWS * 3))), "", 0, None)
    shown = [cell["text"] for row in body["rows"] for cell in row["cells"] if cell["column"] == 2][1:]
    assert {len(text) for text in shown} == {5001}
    assert all(text.endswith("…") for text in shown)
    wide = csv("\n".join(",".join(["x" * 1000] * 200) for _ in range(grid.ROWS)) + "\n")
    assert sum(len(cell["text"]) for row in grid.window(wide, "", 0, None)["rows"] for cell in row["cells"]) < 4_000_000


def test_an_unknown_sheet_and_a_document_without_cells_are_said(tmp_path):
    from openpyxl import Workbook

    book = Workbook()
    book.active.title = "One"
    book.active["B2"], book.active["D4"] = "x", 4
    book.active.merge_cells("B2:C3")
    book.save(tmp_path / "a.xlsx")
    data = (tmp_path / "a.xlsx").read_bytes()
    media_type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    document = extract(source_of("a.xlsx", data, media_type), data)
    body = grid.window(document, "", 0, None)
    assert [column["name"] for column in body["columns"]] == ["A", "B", "C", "D"]
    (cell,) = body["rows"][1]["cells"]
    assert (cell["text"], cell["column"], cell["n_rows"], cell["n_columns"]) == ("x", 2, 2, 2)
    assert body["rows"][0] == {"number": 1, "cells": []}
    with pytest.raises(NotFoundError):
        grid.window(document, "Two", 0, None)
    plain = extract(source_of("a.txt", b"words", "text/plain"), b"words")
    with pytest.raises(UsageError):
        grid.window(plain, "", 0, None)


@given(st.integers(0, 200_000), st.one_of(st.none(), st.integers(0, 200_000)))
def test_a_window_of_text_holds_what_it_was_asked_for(around, first):
    data = "\n\n".join(f"Paragraph {n} of a long text, with some words in it." for n in range(2500)).encode()
    document = _long(data)
    body = layout.blocks_json(document, around, first)
    assert body["text"] == document.text[body["from"] : body["to"]]
    assert len(body["text"]) <= layout.WINDOW_CHARS
    if first is None:
        at = min(around, len(document.text))
        assert body["from"] <= at <= body["to"]
    for block in body["blocks"]:
        assert body["from"] <= block["from"] < block["to"] <= body["to"]


_MADE = {}


def _long(data):
    if data not in _MADE:
        _MADE[data] = extract(source_of("a.txt", data, "text/plain"), data)
    return _MADE[data]


def test_the_rank_of_words_counts_those_before_them():
    data = b"<p>pier one</p><p>the pier</p><p>pier</p>"
    document = extract(source_of("a.html", data, "text/html"), data)
    at = document.text.rindex("pier")
    assert layout.words_and_rank(document, Span(at, at + 4)) == ("pier", 2)
    assert layout.words_and_rank(document, None) == ("", 0)
