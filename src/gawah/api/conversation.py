"""The user's turns of a conversation to one question that stands alone. Rules, no model; never a word of an answer.

A question that leans on the one before it ("and in winter?", "how long is it valid?") is searched with that one's words in
front. Nothing else of the conversation is looked at: what was answered before is no source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gawah.api.problems import ProblemError
from gawah.text import analyze
from gawah.text.queries import STOP_WORDS

FEWEST_CONTENT_WORDS = 2  # "and the fee?" asks for one thing and does not say whose
MOST_TURNS = 3  # back from the last: a subject further away has most likely changed
_LEANING_FIRST = frozenset(
    [
        "and",
        "or",
        "but",
        "also",
        "then",
        "so",
        "it",
        "its",
        "he",
        "him",
        "his",
        "she",
        "her",
        "hers",
        "they",
        "them",
        "their",
        "theirs",
        "this",
        "that",
        "these",
        "those",
        "one",
        "ones",
        "there",
        "here",
        "और",
        "या",
        "लेकिन",
        "तो",
        "यह",
        "ये",
        "वह",
        "वे",
        "इस",
        "इसका",
        "इसकी",
        "इसके",
        "उस",
        "उसका",
        "उसकी",
        "उसके",
        "इन",
        "उन",
        "اور",
        "یا",
        "لیکن",
        "تو",
        "یہ",
        "وہ",
        "اس",
        "ان",
    ]
)
# A pronoun right behind the words that begin a question: "what does it cost", "is that allowed", "how long are they kept".
_LEANING_PRONOUNS = frozenset(
    ["it", "its", "he", "him", "she", "her", "they", "them", "their", "this", "that", "these", "those"]
)
_OPENING_WORDS = 4


def condense(questions: Sequence[str]) -> str:
    """The last of the user's questions, with those it leans on before it, oldest first."""
    kept = [questions[-1].strip()]
    for earlier in reversed(questions[-1 - MOST_TURNS : -1]):
        if not leans(kept[0]):
            break
        kept.insert(0, earlier.strip())
    return "\n".join(kept)


def leans(question: str) -> bool:
    """Whether a question cannot be understood without the one before it."""
    words = analyze(question)
    if not words:
        return True
    if words[0] in _LEANING_FIRST or not _LEANING_PRONOUNS.isdisjoint(words[1:_OPENING_WORDS]):
        return True
    return sum(word not in STOP_WORDS for word in words) < FEWEST_CONTENT_WORDS


def user_questions(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    """The texts of the user's turns that are not empty. ProblemError when the last turn is none, or is no text."""
    found = [_text_of(message) for message in messages if message.get("role") == "user"]
    if not messages or messages[-1].get("role") != "user" or not found[-1].strip():
        raise ProblemError(400, "no_question", "the last message must be the user's, with a text")
    return [text for text in found if text.strip()]


def _text_of(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise ProblemError(400, "malformed", "the content of a message is a text or a list of parts")
    texts = []
    for part in content:
        if not isinstance(part, dict) or part.get("type") != "text" or not isinstance(part.get("text"), str):
            raise ProblemError(400, "no_text", "only text can be asked; images and files are uploaded as documents")
        texts.append(part["text"])
    return "\n".join(texts)
