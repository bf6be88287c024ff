"""What an answer took, in tokens, as OpenAI's clients expect it.

Counted by the generator where it can count, else by the encoder's tokenizer: such counts are of the right size, not what a
hosted model bills. The prompt is composed again as `ask` composed it; a refusal had none, and counts the question alone.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from gawah.ask import Assistant
from gawah.compose import compose, number_sources
from gawah.errors import GeneratorError
from gawah.ports import CountsTokens
from gawah.types import Answer, Outcome, Refusal

Usage = dict[str, int]
NO_GENERATOR = "none"  # what the provenance of a refusal names


def usage_of(assistant: Assistant, outcome: Outcome) -> Usage:
    """`prompt_tokens`, `completion_tokens` and their sum. An answer is never lost for want of a count."""
    generator, texts = assistant.generator, [_prompt(outcome), _completion(outcome)]
    if outcome.provenance.generator != NO_GENERATOR and isinstance(generator, CountsTokens):
        with contextlib.suppress(GeneratorError):
            return _usage(generator.count_tokens(texts))
    return _usage(assistant.retriever.embedder.count_tokens(texts))


def _usage(counts: Sequence[int]) -> Usage:
    prompt, completion = counts
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _prompt(outcome: Outcome) -> str:
    if isinstance(outcome, Refusal) and not outcome.unsupported:
        return outcome.question
    prompt = compose(outcome.question, number_sources(outcome.decision.admitted))
    return f"{prompt.system}\n{prompt.user}"


def _completion(outcome: Outcome) -> str:
    return outcome.text if isinstance(outcome, Answer) else outcome.message
