"""What an answer took, in tokens, as OpenAI's clients expect it.

Counted by the generator where it can count, else by the encoder's tokenizer: such counts are of the right size, not what a
hosted model bills. The prompt is composed again as `ask` composed it; a refusal had none, and counts the question alone.
"""

from __future__ import annotations

from gawah.ask import Assistant
from gawah.compose import compose, number_sources
from gawah.ports import CountsTokens
from gawah.types import Answer, Outcome, Refusal

Usage = dict[str, int]


def usage_of(assistant: Assistant, outcome: Outcome) -> Usage:
    """`prompt_tokens`, `completion_tokens` and their sum."""
    counter = assistant.generator if isinstance(assistant.generator, CountsTokens) else assistant.retriever.embedder
    prompt, completion = counter.count_tokens([_prompt(outcome), _completion(outcome)])
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _prompt(outcome: Outcome) -> str:
    if isinstance(outcome, Refusal) and not outcome.unsupported:
        return outcome.question
    prompt = compose(outcome.question, number_sources(outcome.decision.admitted))
    return f"{prompt.system}\n{prompt.user}"


def _completion(outcome: Outcome) -> str:
    return outcome.text if isinstance(outcome, Answer) else outcome.message
