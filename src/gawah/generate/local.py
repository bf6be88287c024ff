"""A prompt to a draft by a GGUF model inside this process: llama.cpp through xllamacpp, behind a port of the loopback.

The port asks for a key that is drawn anew each time, so that nobody else on the machine uses the model. Behind it the same
client works as for any other endpoint: streaming, deadline, limits and leaving half-way are one thing.
"""

from __future__ import annotations

import contextlib
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import httpx

from gawah.errors import ConfigurationError, GeneratorError, UnreachableError
from gawah.generate.endpoint import DEFAULT_LIMITS
from gawah.generate.openai import OpenAIGenerator
from gawah.generate.sse import CutShortError
from gawah.types import DraftPart, Prompt

CONTEXT_TOKENS = 8192  # a model's own context when that is smaller; twenty passages of the usual size need some 4,000
ANSWER_TOKENS = 512  # kept free behind the prompt, and the most that is written: a small model that loops is stopped
PROMPT_BATCH_TOKENS = 256  # read at once; only between them can a reading be broken off, and larger ones read no faster
_SUFFIX = ".gguf"
_COUNT_TIMEOUT_S = 30.0
_CLOSE_S = 0.1  # a model at rest is gone by then


class LocalGenerator:
    """Implements ports.Generator over one model file. Threads may share it; they are answered one after the other.

    `model` is a GGUF file or a folder that holds one. The model is loaded with the first prompt and let go by `close`.
    Raises ConfigurationError where there is no such file, or xllamacpp is not installed.
    """

    quotes_only = False

    def __init__(
        self,
        model: Path,
        *,
        threads: int = 0,
        deadline_s: float | None = None,
        answer_tokens: int = ANSWER_TOKENS,
    ) -> None:
        self._file = _model_file(model)
        self._threads = threads
        self._deadline_s = DEFAULT_LIMITS.deadline_s if deadline_s is None else deadline_s
        self._answer_tokens = answer_tokens
        self._loading = threading.Lock()
        self._running: _Running | None = None

    @property
    def name(self) -> str:
        return f"local/{self._file.stem}"

    def close(self) -> None:
        """Lets the model go; the next prompt would load it again. A model that is at work still ends its step by itself."""
        with self._loading:
            running, self._running = self._running, None
        if running is not None:
            leaving = threading.Thread(target=running.stop, name="gawah-local-model")
            leaving.start()
            leaving.join(_CLOSE_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def generate(self, prompt: Prompt) -> Iterator[DraftPart]:
        """The answer as it is written, greedily.

        Raises GeneratorError for a prompt that does not fit the model's context and what an endpoint raises (openai.py).
        """
        running = self._fitting(prompt)
        with self._own_words(running):
            yield from running.client.generate(prompt)

    def resample(self, prompt: Prompt, number: int) -> Iterator[DraftPart]:
        """A draft at a temperature above zero, `number` its seed; raises the same."""
        running = self._fitting(prompt)
        with self._own_words(running):
            yield from running.client.resample(prompt, number)

    def count_prompt_tokens(self, prompt: Prompt) -> int:
        """The prompt's size in the model's own tokens, with its chat template."""
        return self._start().count(prompt)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """How many of the model's own tokens each text is; raises GeneratorError."""
        running = self._start()
        return [running.count_text(text) for text in texts]

    def _fitting(self, prompt: Prompt) -> _Running:
        running = self._start()
        n_tokens = running.count(prompt)
        room = running.context_tokens - min(self._answer_tokens, running.context_tokens // 4)
        if n_tokens > room:
            raise GeneratorError(
                f"the prompt has {n_tokens} tokens and {self.name} takes {room}; set passages lower, or take another model"
            )
        return running

    @contextlib.contextmanager
    def _own_words(self, running: _Running) -> Iterator[None]:
        """Errors of the client with the model's name for its address: nobody set that, nobody can reach it."""
        try:
            yield
        except CutShortError as error:
            raise CutShortError(
                f"the answer of {self.name} did not end within {self._answer_tokens} tokens, the most that the local generator "
                "lets a model write; ask for less, or take another model (generator_model)"
            ) from error
        except (GeneratorError, UnreachableError) as error:
            address = running.address.removeprefix("http://")
            said = str(error).replace(f"{running.address}/v1", self.name)
            said = said.replace(running.address, self.name).replace(address, self.name)
            raise type(error)(said) from error

    def _start(self) -> _Running:
        with self._loading:
            if self._running is None:
                self._running = _Running(self._file, self._threads, self._deadline_s, self._answer_tokens)
            return self._running


class _Running:
    """A model that is loaded, and a client of it."""

    def __init__(self, file: Path, threads: int, deadline_s: float, answer_tokens: int) -> None:
        xllamacpp = _library()
        self._key = secrets.token_urlsafe(24)
        settings = xllamacpp.CommonParams()
        settings.model.path = str(file)
        settings.n_ctx = CONTEXT_TOKENS
        settings.n_predict = answer_tokens
        settings.n_batch = settings.n_ubatch = PROMPT_BATCH_TOKENS
        settings.n_parallel = 1
        settings.api_keys = [self._key]
        settings.port = 0
        settings.ui = False
        settings.endpoint_slots = False
        settings.endpoint_metrics = False
        settings.offline = True
        settings.warmup = False
        settings.verbosity = -1
        if threads:
            settings.cpuparams.n_threads = threads
        try:
            self._server: Any = _started(lambda: xllamacpp.Server(settings))
        except RuntimeError as error:
            raise ConfigurationError(f"{file} is no model that llama.cpp can load; name another GGUF file") from error
        # A long prompt is read in silence; the deadline alone says when that is too long.
        limits = replace(DEFAULT_LIMITS, tries=1, read_s=max(DEFAULT_LIMITS.read_s, deadline_s))
        self.address: str = self._server.listening_address
        self.client = OpenAIGenerator(f"{self.address}/v1", file.stem, self._key, deadline_s=deadline_s, limits=limits)
        meta = self._asked("GET", "/v1/models")["data"][0].get("meta") or {}
        self.context_tokens = min(CONTEXT_TOKENS, int(meta.get("n_ctx_train") or CONTEXT_TOKENS))

    def stop(self) -> None:
        """Waits for the step that the model is at, a token or a batch of the prompt, and for what it is asked besides.

        Letting a busy server go would hold up all of Python until then; so it is asked for a token first, which it writes
        when it is at rest.
        """
        with contextlib.suppress(GeneratorError):
            self._asked("POST", "/completion", {"prompt": ".", "n_predict": 1})
        self._server = None

    def count(self, prompt: Prompt) -> int:
        messages = [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}]
        return self.count_text(self._asked("POST", "/apply-template", {"messages": messages})["prompt"])

    def count_text(self, text: str) -> int:
        asked = {"content": text, "add_special": True, "parse_special": True}
        return len(self._asked("POST", "/tokenize", asked)["tokens"])

    def _asked(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        try:
            answered = httpx.request(
                method, self.address + path, json=body, headers={"Authorization": f"Bearer {self._key}"},
                timeout=_COUNT_TIMEOUT_S, trust_env=False,
            )  # fmt: skip
            answered.raise_for_status()
            return answered.json()
        except (httpx.HTTPError, ValueError) as error:
            raise GeneratorError(f"the local model does not answer ({type(error).__name__}); ask again") from error


def _started(make: Callable[[], Any]) -> Any:
    """A server that answers. One that is let go before it answers waits for itself for ever; so it is made in a thread
    of its own, where no interrupt can come between. Who is interrupted goes on at once; the thread ends when it is there.
    """

    def made() -> Any:
        server = make()
        with contextlib.suppress(httpx.HTTPError):  # whether it answers as it should is asked later
            httpx.get(f"{server.listening_address}/health", timeout=_COUNT_TIMEOUT_S, trust_env=False)
        return server

    thread = ThreadPoolExecutor(1)
    try:
        return thread.submit(made).result()
    finally:
        thread.shutdown(wait=False)


def _model_file(model: Path) -> Path:
    if model.is_dir():
        found = sorted(model.glob(f"*{_SUFFIX}"))
        if len(found) != 1:
            raise ConfigurationError(
                f"{model} holds {len(found) or 'no'} GGUF files; name one of them: generator_model"
            )
        return found[0]
    if not model.is_file():
        raise ConfigurationError(
            f"there is no model {model}; set generator_model to a GGUF file (GAWAH_GENERATOR_MODEL)"
        )
    with model.open("rb") as opened:
        magic = opened.read(4)
    if magic != b"GGUF":
        raise ConfigurationError(f"{model} is no GGUF file; the local generator reads no other format")
    return model


def _library() -> Any:
    try:
        import xllamacpp
    except ImportError as error:
        raise ConfigurationError("the local generator needs xllamacpp: pip install 'gawah[local]'") from error
    return xllamacpp
