"""Settings: defaults, then `gawah.toml`, then `GAWAH_…` in the environment, then the command line; each knows its origin."""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, ValidationError
from pydantic_core import PydanticCustomError

from gawah.errors import ConfigurationError
from gawah.models.shelf.known import DEFAULT_RERANKER, PACKAGED_SPEECH

FILE_NAME = "gawah.toml"
ENV_PREFIX = "GAWAH_"
CONFIG_ENV = "GAWAH_CONFIG"  # the file itself is named by --config or this, so it is no setting
DEBUG_ENV = "GAWAH_DEBUG"  # asks the command line for the whole story of an unforeseen error

_PATHS = ("store", "cache")  # an empty one would silently mean the current folder

Count = Annotated[int, Field(ge=1)]

CROSS_ENCODER = "cross-encoder"
_PIN = "@sha256:"


def _reranker(value: str) -> str:
    kind, separator, model = value.partition(":")
    if value in ("late", "none", CROSS_ENCODER) or (kind == CROSS_ENCODER and separator and model.strip()):
        return value
    raise PydanticCustomError(
        "rerank", "Input should be 'late', 'none', 'cross-encoder' or 'cross-encoder:' and a model's folder or name"
    )


Rerank = Annotated[str, AfterValidator(_reranker)]


def _gate(value: str) -> str:
    kind, separator, file = value.partition(":")
    if value in ("calibrated", "reference") or (kind == "calibrated" and separator and file.strip()):
        return value
    raise PydanticCustomError("gate", "Input should be 'calibrated', 'calibrated:' and a file, or 'reference'")


def _index(value: str) -> str:
    kind, separator, url = value.partition(":")
    if "@" in url:  # settings are shown
        raise PydanticCustomError("index", "An address must not hold a key; set QDRANT_API_KEY instead")
    if value in ("local", "hnsw") or (kind == "qdrant" and separator and url.startswith(("http://", "https://"))):
        return value
    raise PydanticCustomError(
        "index", "Input should be 'local', 'hnsw', or 'qdrant:' and the http(s) address of a server"
    )


def _catalog(value: SecretStr) -> SecretStr:
    if not value.get_secret_value() or value.get_secret_value().startswith(("postgresql://", "postgres://")):
        return value
    raise PydanticCustomError("catalog", "Input should be empty or an address like postgresql://user@host/database")


def default_store() -> Path:
    """The XDG data directory's."""
    base = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(base) / "gawah" / "store"


def default_cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "gawah"


class Settings(BaseModel):
    """Every setting of gawah, with its default; the description is what `gawah config show` and the docs print."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())

    store: Path = Field(default_factory=default_store, description="folder of the store")
    cache: Path = Field(
        default_factory=default_cache, description="folder of built model graphs and fetched models; can be deleted"
    )
    collection: str = Field("default", min_length=1, description="collection that `ingest` writes to")

    catalog: Annotated[SecretStr, AfterValidator(_catalog)] = Field(
        SecretStr(""), description="PostgreSQL database that keeps the catalog; empty: a file in the store's folder"
    )
    index: Annotated[str, AfterValidator(_index)] = Field(
        "local", description="what searches: local, hnsw (approximate above 50,000 chunks), qdrant:URL"
    )

    model: str = Field(
        "all-MiniLM-L6-v2",
        description="encoder: a packaged name, a directory, or a hub id; `@sha256:HEX` behind it refuses other weights",
    )
    threads: int = Field(0, ge=0, description="embedding threads; 0 means every core this process may use")

    target_chars: int = Field(512, ge=64, description="size of a chunk that packing aims at, in characters")
    max_file_mb: Count = Field(100, description="larger files fail with `too_large`")
    extract_memory_mb: Count = Field(1024, description="address space of one extraction")
    extract_wall_s: Count = Field(
        120, description="wall time of one extraction, in seconds; half of it as processor time"
    )

    ocr_languages: str = Field(
        "eng+hin+urd", min_length=2, description="tesseract's languages, the most frequent first"
    )
    speech_model: Path | None = Field(
        None, description="folder of a Whisper model for CTranslate2; default: the package"
    )

    candidates: Count = Field(100, description="hits each retrieval leg hands to fusion")
    rerank: Rerank = Field(
        "late", description="reranker of the fused shortlist: late, none, cross-encoder, cross-encoder:MODEL"
    )
    rerank_depth: Count = Field(50, description="how many fused candidates are reranked")
    gate: Annotated[str, AfterValidator(_gate)] = Field(
        "calibrated", description="who decides whether to answer: calibrated, calibrated:FILE of `calibrate`, reference"
    )
    gate_threshold: float = Field(0.675, ge=0, le=2, description="reference gate: refuse without a passage this near")
    passages: int = Field(4, ge=1, le=20, description="at most so many passages go to the generator")

    generator: Literal["extractive", "openai", "local"] = Field("extractive", description="who writes the answer")
    generator_model: str = Field(
        "", description="model name the endpoint expects; for `local` a GGUF file, its folder, or a fetched model"
    )
    openai_url: str = Field("http://127.0.0.1:11434/v1", description="OpenAI-compatible endpoint")
    openai_key: SecretStr = Field(SecretStr(""), description="API key of the endpoint; never shown or logged")
    generator_timeout_s: float = Field(120.0, gt=0, description="deadline of one generation, in seconds")
    strict: bool = Field(default=False, description="refuse where the answer says what its sources do not")

    host: str = Field(
        "127.0.0.1", min_length=1, description="address `serve` listens at; others than loopback need API keys"
    )
    port: int = Field(8642, ge=0, le=65535, description="port `serve` listens at; 0 takes a free one")
    allowed_hosts: str = Field("", description="further names that a Host header may have, separated by commas")
    require_key: bool = Field(False, description="ask for an API key on loopback too")  # noqa: FBT003
    requests_per_minute: int = Field(600, ge=0, description="limit of one API key; 0 means none")


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings, and where each of them came from: "default", a file's path, an environment variable, "command line"."""

    settings: Settings
    origins: Mapping[str, str]


def pinned_model(setting: str) -> tuple[str, str | None]:
    """A model's name and the hash that its weights must have, of a setting like `NAME@sha256:HEX`."""
    name, separator, sha256 = setting.rpartition(_PIN)
    return (name, sha256) if separator else (setting, None)


def models_in_use(settings: Settings) -> dict[str, str]:
    """The model that each setting asks for, by its name or folder."""
    uses = {"model": pinned_model(settings.model)[0], "speech_model": str(settings.speech_model or PACKAGED_SPEECH)}
    kind, _, named = settings.rerank.partition(":")
    if kind == CROSS_ENCODER:
        uses["rerank"] = named.strip() or DEFAULT_RERANKER
    if settings.generator == "local" and settings.generator_model:
        path = Path(settings.generator_model).expanduser()
        uses["generator_model"] = str(path.resolve()) if path.exists() else settings.generator_model
    return uses


def load_settings(
    *, file: Path | None = None, environment: Mapping[str, str] | None = None, options: Mapping[str, Any] | None = None
) -> Loaded:
    """Merges the four origins; raises ConfigurationError, one line, for an unknown key or a value that does not fit."""
    environment = os.environ if environment is None else environment
    values: dict[str, Any] = {}
    origins = dict.fromkeys(Settings.model_fields, "default")
    for found, origin in (
        (_from_file(file, environment)),
        _from_environment(environment),
        _from_options(options or {}),
    ):
        for key, value in found.items():
            if key not in Settings.model_fields:
                raise ConfigurationError(f"{origin[key]}: there is no setting {key}{_suggestion(key)}")
            if key in _PATHS and isinstance(value, str) and not value.strip():
                raise ConfigurationError(f"{origin[key]}: {key} is empty; name a path, '.' for the current folder")
            values[key] = value
            origins[key] = origin[key]
    try:
        return Loaded(Settings(**values), origins)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        key = str(first["loc"][0])
        raise ConfigurationError(f"{origins.get(key, 'settings')}: {key}: {first['msg']}") from error


def _from_file(file: Path | None, environment: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    named = file or (Path(environment[CONFIG_ENV]) if environment.get(CONFIG_ENV) else None)
    path = named or Path(FILE_NAME)
    if not path.is_file():
        if named:
            raise ConfigurationError(f"{path}: no such settings file")
        return {}, {}
    try:
        with path.open("rb") as stream:
            found = tomllib.load(stream)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: {error}") from error
    return found, dict.fromkeys(found, str(path))


def _from_environment(environment: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    found, origin = {}, {}
    for name, value in sorted(environment.items()):
        if value and name.startswith(ENV_PREFIX) and name not in (CONFIG_ENV, DEBUG_ENV):  # empty: as if not set
            key = name.removeprefix(ENV_PREFIX).lower()
            found[key], origin[key] = value, name
    return found, origin


def _from_options(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    given = {key: value for key, value in options.items() if value is not None}
    return given, dict.fromkeys(given, "command line")


def _suggestion(key: str) -> str:
    near = difflib.get_close_matches(key, Settings.model_fields, n=1)
    return f"; did you mean {near[0]}?" if near else "; `gawah config show` lists them"
