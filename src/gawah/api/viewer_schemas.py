"""The JSON of what a viewer loads, field by field, as OpenAPI shows it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gawah.api.schemas import Given, Taken


class CitedNow(Given):
    answer_id: str
    marker: int
    document_id: str
    changed: bool
    now: list[int] | None


class TicketRequest(Taken):
    path: str = Field(max_length=200, description="/v1/documents/ID/ or /v1/runs/NAME/")


class TicketBody(Given):
    ticket: str | None
    seconds: float


Percents = Annotated[list[float], Field(min_length=4, max_length=4, description="left, top, right, bottom")]


class WordBody(Given):
    from_: int = Field(alias="from")
    to: int
    text: str
    box: Percents


class LayoutBody(Given):
    document_id: str
    file_sha256: str
    text_sha256: str
    number: int
    n_pages: int
    label: str
    width: float = Field(description="points of a page, pixels of an image")
    height: float
    boxes: list[Percents]
    words: list[WordBody]


class CellBody(Given):
    column: int
    n_rows: int
    n_columns: int
    from_: int = Field(alias="from")
    to: int
    text: str


class RowBody(Given):
    number: int
    cells: list[CellBody]


class ColumnBody(Given):
    number: int
    name: str


class CellsBody(Given):
    document_id: str
    text_sha256: str
    sheets: list[str] = Field(description="empty for delimited text")
    sheet: str
    columns: list[ColumnBody]
    n_rows: int
    n_columns: int
    first_row: int
    rows: list[RowBody]


class BlockBody(Given):
    kind: str
    level: int
    from_: int = Field(alias="from")
    to: int


class PartBody(Given):
    from_: int = Field(alias="from")
    to: int
    label: str
    start_s: float | None
    end_s: float | None


class BlocksBody(Given):
    document_id: str
    text_sha256: str
    n_chars: int
    from_: int = Field(alias="from")
    to: int
    text: str
    blocks: list[BlockBody]
    part_kind: Literal["", "time", "slide", "message", "chapter"]
    parts: list[PartBody]
