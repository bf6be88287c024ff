"""A conversation to one question: what leans on the turn before gets its words, and nothing else is looked at."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.api.conversation import condense, leans, user_questions
from gawah.api.problems import ProblemError


@pytest.mark.parametrize(
    "question",
    [
        "And in winter?",
        "it?",
        "How long is it valid?",
        "Does it cost more?",
        "What about fees",
        "और सर्दी में?",
        "اور سردی میں؟",
        "Why?",
        "…",
        "that one too",
    ],
)
def test_a_question_that_leans(question):
    assert leans(question)


@pytest.mark.parametrize(
    "question",
    [
        "How much is the membership fee?",
        "When does the ferry to Lohari Gad leave in winter?",
        "GSM-E17 meaning",
        "सदस्यता शुल्क कितना है?",
    ],
)
def test_a_question_that_stands_alone(question):
    assert not leans(question)


def test_the_words_before_come_in_front_as_far_as_they_lean_themselves():
    assert condense(["How much is the ferry ticket?", "And for children?", "and dogs?"]) == (
        "How much is the ferry ticket?\nAnd for children?\nand dogs?"
    )
    assert condense(["How much is the ferry ticket?", "When does the museum open today?", "And on Sunday?"]) == (
        "When does the museum open today?\nAnd on Sunday?"
    )
    assert condense(["and", "and", "and", "and", "and then?"]) == "and\nand\nand\nand then?"


@given(st.lists(st.text(max_size=40), min_size=1, max_size=8))
def test_what_is_asked_is_the_users_own_turns_in_order(questions):
    lines = [question.strip() for question in questions]
    asked = condense(questions)
    assert any(asked == "\n".join(lines[start:]) for start in range(len(lines)))
    if not leans(questions[-1]):
        assert asked == lines[-1]


@given(st.lists(st.tuples(st.sampled_from(["assistant", "system", "tool"]), st.text(min_size=1)), max_size=6))
def test_no_other_role_is_ever_heard(others):
    messages = [{"role": role, "content": text} for role, text in others]
    assert user_questions([*messages, {"role": "user", "content": "Why?"}]) == ["Why?"]


def test_parts_of_text_are_joined_and_others_are_refused():
    parts = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    assert user_questions([{"role": "user", "content": parts}]) == ["one\ntwo"]
    for messages in (
        [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://x"}}]}],
        [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}],
        [{"role": "user", "content": " "}],
        [{"role": "user"}],
        [{}],
    ):
        with pytest.raises(ProblemError):
            user_questions(messages)
