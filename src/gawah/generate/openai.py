"""A prompt to a draft by a language model behind an OpenAI-compatible endpoint: Ollama, vLLM, llama.cpp, a hosted one.

Greedy, streamed, within one deadline.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from gawah.errors import GeneratorError
from gawah.generate.endpoint import DEFAULT_LIMITS, REAL_CLOCK, Clock, Endpoint, Limits
from gawah.generate.sse import read_completion
from gawah.types import DraftPart, Prompt

RESAMPLING_TEMPERATURE = 0.8  # high enough that a guess comes out otherwise, low enough for whole sentences


@dataclass(frozen=True)
class OpenAIGenerator:
    """Implements ports.Generator. Raises ConfigurationError for a URL or a key that cannot be used."""

    base_url: str
    model: str
    api_key: str = field(default="", repr=False)
    deadline_s: float | None = None
    limits: Limits = DEFAULT_LIMITS
    clock: Clock = REAL_CLOCK

    def __post_init__(self) -> None:
        self._endpoint()

    @property
    def quotes_only(self) -> bool:
        return False

    @property
    def name(self) -> str:
        return f"openai/{self.model}"

    def generate(self, prompt: Prompt) -> Iterator[DraftPart]:
        """The answer as it arrives.

        Raises DeadlineError when it takes too long, UnreachableError when the server cannot be reached or is busy to the
        last try, and GeneratorError when it answers with an error, with garbage, with nothing, too long or half an answer.
        """
        return self._drafted(prompt, {"temperature": 0})

    def resample(self, prompt: Prompt, number: int) -> Iterator[DraftPart]:
        """A draft at a temperature above zero, with `number` as its seed where the server knows seeds; raises the same."""
        return self._drafted(prompt, {"temperature": RESAMPLING_TEMPERATURE, "seed": number})

    def _drafted(self, prompt: Prompt, sampling: Mapping[str, object]) -> Iterator[DraftPart]:
        endpoint = self._endpoint()
        request = {
            "model": self.model,
            "messages": [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}],
            **sampling,
            "stream": True,
        }
        deadline_s = self.limits.deadline_s if self.deadline_s is None else self.deadline_s
        n_chars, blank = 0, True
        with contextlib.closing(endpoint.received(request, deadline_s)) as received:
            for text in read_completion(received, endpoint.server):
                n_chars += len(text)
                if n_chars > self.limits.max_answer_chars:
                    raise GeneratorError(
                        f"the answer of {endpoint.server} is longer than {self.limits.max_answer_chars} characters; "
                        "the model does not stop, try another"
                    )
                blank = blank and not text.strip()
                yield DraftPart(text)
        if blank:
            raise GeneratorError(f"{endpoint.server} gave an empty answer; check that {self.model} is a chat model")

    def _endpoint(self) -> Endpoint:
        return Endpoint(self.base_url, self.api_key, self.limits, self.clock)
