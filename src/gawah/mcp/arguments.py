"""What each tool takes: strict models, whose JSON Schemas are the tools' own."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

MAX_QUESTION_CHARS = 8000
MAX_WINDOW_CHARS = 20_000
MAX_TEXT_CHARS = 500_000
Name = Annotated[str, Field(min_length=1, max_length=1024)]
Names = Annotated[list[Name], Field(max_length=256)]
Id = Annotated[str, Field(min_length=1, max_length=128)]
Offset = Annotated[int, Field(ge=0, lt=1 << 40)]


class Arguments(BaseModel):
    """What a tool is called with; an unknown argument is an error."""

    model_config = ConfigDict(extra="forbid", strict=True)


class AskArguments(Arguments):
    """A question, and which documents may answer it."""

    question: str = Field(
        min_length=1,
        max_length=MAX_QUESTION_CHARS,
        description="one whole question that stands alone, in the user's own words",
    )
    collections: Names = Field(default_factory=list, description="only these collections; none means all")
    documents: Names = Field(
        default_factory=list, description="only these documents, by name or document_id; none means all"
    )
    media_types: Names = Field(
        default_factory=list, description="only these media types, as application/pdf; none means all"
    )


class SearchArguments(AskArguments):
    """The same, with how many passages."""

    limit: int = Field(5, ge=1, le=20, description="how many passages")


class SourceArguments(Arguments):
    """A range of one document's canonical text."""

    document_id: Id = Field(description="document_id of a citation or a passage")
    start: Offset = Field(0, alias="from", description="first code point: `from` of a citation or a passage")
    end: Offset | None = Field(
        None, alias="to", description=f"code point behind the last; at most {MAX_WINDOW_CHARS:,} are given at once"
    )
    text_sha256: str | None = Field(
        None,
        pattern="^[0-9a-f]{64}$",
        description="text_sha256 of the citation: then `changed` says whether the text still is that one",
    )


class NoArguments(Arguments):
    """Nothing."""


class VerifyArguments(Arguments):
    """A recorded answer."""

    answer_id: Id = Field(description="answer_id of an answer that `ask` gave")


class AddArguments(Arguments):
    """A text to keep as a document."""

    name: Name = Field(
        description="name of the document, like notes/meeting.md; the same name again is a new version of it"
    )
    text: str = Field(min_length=1, max_length=MAX_TEXT_CHARS, description="the whole text: plain text or Markdown")
    collection: Name | None = Field(None, description="collection to put it in; default: the store's own")


class RemoveArguments(Arguments):
    """A document to remove."""

    document_id: Id = Field(description="document_id of the document")
