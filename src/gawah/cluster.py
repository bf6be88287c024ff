"""Extraction and embedding as tasks of a Ray cluster; the job table stays the truth.

One process (`gawah worker --ray`) claims jobs, renews them and commits, as any worker does. What costs time goes out as tasks whose
result depends on their arguments alone: a file's bytes to its document, texts to their embeddings. A task that is lost with its
node is done again elsewhere; when its driver is lost, the job is. Nothing is kept on the cluster.
"""

from __future__ import annotations

import atexit
import functools
import importlib
import logging
import os
import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from gawah import __version__
from gawah.app import build_embedder, limits_of, options_of
from gawah.config import Settings, pinned_model
from gawah.errors import ConfigurationError, ExtractionError, GawahError, ModelError, StoreError
from gawah.extract.sandbox import Limits, Options, Sandbox
from gawah.extract.senses import Senses
from gawah.models.encoder import load_encoder
from gawah.ports import Embedder, Embedding, QueryEmbedding
from gawah.types import Document, ModelStamp, SourceFile

TEXTS_A_TASK = (
    16  # one to two seconds of a core: the most that the loss of a node costs, and far more than sending them does
)
_RETRIES = 8  # of one task, when its node or its process dies
# Ray reports its usage unless told not to, and prints pages on standard output when a node dies; its own logs have them too.
SILENT = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS_SKIP_REGEX": "."}
_CONNECT_S = 5.0
_LOOK_S = 0.5  # how often a driver that waits looks whether it shall stop

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a node needs to make of a text, or of a file, what the driver would make of it."""

    version: str
    model: str
    cache: str
    stamp: ModelStamp | None
    limits: Limits
    options: Options
    senses: tuple[str | None, ...] = ()


# --- on a node: a process of Ray's does one task at a time, and keeps what it has loaded for the next


def embed_texts(recipe: Recipe, texts: Sequence[str]) -> list[Embedding] | GawahError:
    """Embeddings of texts; a failure is a value, for Ray would wrap what is raised in pages of its own."""
    return _told(recipe, lambda: _encoder(recipe).embed(texts))


def extract_file(recipe: Recipe, source: SourceFile, data: bytes) -> Document | GawahError:
    """The document of a file, read in a sandbox of the node; a failure is a value."""
    if (here := senses(recipe.options)) != recipe.senses:
        return ConfigurationError(
            f"a node of the cluster reads pictures and speech with {here}, the driver with {recipe.senses}; "
            "install the same programs on every node"
        )
    return _told(recipe, lambda: _sandbox(recipe.limits, recipe.options).extract(source, data))


@functools.lru_cache(maxsize=1)
def senses(options: Options) -> tuple[str | None, ...]:
    """What pictures and speech are read with on this machine."""
    return tuple(Senses(options)(media_type, {}) for media_type in ("image/png", "audio/wav"))


def _told(recipe: Recipe, work: Callable[[], _T]) -> _T | GawahError:
    if recipe.version != __version__:
        return ConfigurationError(f"a node of the cluster has gawah {__version__}, the driver {recipe.version}")
    try:
        return work()
    except GawahError as error:
        return error


@functools.lru_cache(maxsize=2)
def _encoder(recipe: Recipe) -> Embedder:
    name, sha256 = pinned_model(recipe.model)
    encoder = load_encoder(name, expected_sha256=sha256, cache_directory=Path(recipe.cache), n_threads=1)
    if encoder.stamp != recipe.stamp:
        raise ModelError(
            f"a node of the cluster has another {recipe.model} than the driver ({encoder.stamp.sha256[:12]}); "
            "put the same files at the same place on every node"
        )
    return encoder


@functools.lru_cache(maxsize=1)
def _sandbox(limits: Limits, options: Options) -> Sandbox:
    sandbox = Sandbox(limits, options)
    atexit.register(sandbox.close)
    return sandbox


# --- at the driver


class RayEmbedder:
    """An Embedder whose texts are embedded on the cluster; questions and tokens are this process's own matter."""

    def __init__(self, cluster: Cluster, local: Embedder, recipe: Recipe) -> None:
        self._cluster = cluster
        self._local = local
        self.recipe = recipe

    @property
    def stamp(self) -> ModelStamp:
        return self._local.stamp

    def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """One embedding a text, in order, to the bit what this process would make on a processor of the same kind."""
        pieces = [texts[start : start + TEXTS_A_TASK] for start in range(0, len(texts), TEXTS_A_TASK)]
        found = self._cluster.run(embed_texts, [(self.recipe, piece) for piece in pieces])
        return [embedding for piece in found for embedding in piece]

    def embed_query(self, question: str) -> QueryEmbedding:
        return self._local.embed_query(question)

    def coverage(self, text: str) -> float:
        return self._local.coverage(text)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._local.count_tokens(texts)


class Cluster:
    """A connection to a Ray cluster, as a context manager. `address`: that of its head, or `local` for one on this machine.

    Raises ConfigurationError when Ray is not installed or no cluster answers.
    """

    def __init__(self, settings: Settings, address: str) -> None:
        self._settings = settings
        self._closed = threading.Event()
        self._ray = _connected(address, settings.threads)
        self._remote = {
            task: self._ray.remote(num_cpus=1, max_retries=_RETRIES)(task) for task in (embed_texts, extract_file)
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        self._ray.shutdown()

    def close(self) -> None:
        """Lets whoever waits for the cluster stop waiting."""
        self._closed.set()

    def load_model(self, source: str) -> Embedder:
        """The encoder that a setting `model` names, at work on the cluster; raises ModelError."""
        local = build_embedder(self._settings.model_copy(update={"model": source}))
        return RayEmbedder(self, local, self._recipe(source, local.stamp))

    def extract(self, source: SourceFile, data: bytes) -> Document:
        """As Sandbox.extract, on some node; ExtractionError, worth another try, when nodes die again and again under it."""
        try:
            document: Document = self.run(extract_file, [(self._recipe("", None), source, data)])[0]
        except StoreError as error:
            raise ExtractionError("extractor_crashed", str(error), retryable=True) from error
        return document

    def run(self, task: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """The results of a task over several arguments, in order.

        Raises what a task told, and StoreError when the cluster cannot do one: then the job is given back.
        """
        waiting = [self._remote[task].remote(*each) for each in arguments]
        left = list(waiting)
        try:
            while left:
                if self._closed.is_set():
                    raise ConfigurationError("the connection to the cluster is closed")
                _, left = self._ray.wait(left, num_returns=len(left), timeout=_LOOK_S, fetch_local=False)
            results: list[Any] = self._ray.get(waiting)
        except self._ray.exceptions.RayError as error:
            said = " ".join(str(error).split())[:200] or type(error).__name__
            raise StoreError(f"the Ray cluster could not finish a task: {said}") from error
        finally:
            for reference in left:
                self._ray.cancel(reference)
        for result in results:
            if isinstance(result, GawahError):
                raise result
        return results

    def _recipe(self, model: str, stamp: ModelStamp | None) -> Recipe:
        settings = self._settings
        cache = str(settings.cache.absolute())
        options = options_of(settings)
        return Recipe(__version__, model, cache, stamp, limits_of(settings), options, senses(options))


def _connected(address: str, n_cpus: int) -> Any:
    """The module `ray`, connected. Nothing is told to its makers, no dashboard is started, and nothing is printed."""
    os.environ |= SILENT
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError as error:
        raise ConfigurationError("a Ray cluster needs an extra; run: pip install 'gawah[ray]'") from error
    here: dict[str, Any] = {}
    if address == "local":
        here = {"num_cpus": n_cpus or None, "include_dashboard": False}
    else:
        _require_listener(address)
    try:
        ray.init(address, log_to_driver=False, logging_level=logging.ERROR, **here)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        said = " ".join(str(error).split())[:200]
        raise ConfigurationError(f"no Ray cluster answers at {address}: {said}") from error
    return ray


def _require_listener(address: str) -> None:
    """Raises ConfigurationError where nobody listens: Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or "/" in host:
        raise ConfigurationError(f"{address!r} is no address of a Ray cluster; write it as HOST:6379, or local")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_S).close()
    except (OSError, OverflowError) as error:
        raise ConfigurationError(
            f"no Ray cluster answers at {address}: {error}; start one with: ray start --head"
        ) from error
