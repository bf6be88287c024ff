"""Calibrations to JSON and back: the numbers of a calibrated gate, what they hold for and what they were made from."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from gawah.errors import ConfigurationError
from gawah.gate.model import MonotoneModel
from gawah.wire import from_json, to_json

SCHEMA = "gawah.calibration/1"
_PACKAGED = "all-MiniLM-L6-v2.json"


@dataclass(frozen=True, slots=True)
class CalibrationStamp:
    """What scores are comparable under: another of any of these gives other numbers to the same question."""

    model_sha256: str
    token_format: str
    pipeline: str
    chunker: str
    reranker: str
    recipe_sha256: str = ""  # of the model's tokenizer, pooling, shape; empty in calibrations of the first release


@dataclass(frozen=True, slots=True)
class Fitted:
    """A model, the threshold that a score must be over, and what both come from.

    `max_bluff` is the target, None where give-ups and bluffs were weighed alike; `bluff_bound` the one-sided 95 % upper bound of the bluff rate where `n_bluffs` of
    `n_unanswerable` were seen, on the same questions that the threshold was chosen on. `bound_holds`: whether that bound,
    and not only the rate itself, is within the target.
    """

    model: MonotoneModel
    threshold: float
    fitted_on: tuple[str, ...]
    n_answerable: int
    n_unanswerable: int
    n_give_ups: int
    n_bluffs: int
    max_bluff: float | None
    bluff_bound: float
    bound_holds: bool

    def __post_init__(self) -> None:
        if not math.isfinite(self.threshold):
            raise ValueError("the threshold must be finite")


@dataclass(frozen=True, slots=True)
class Calibration:
    """Under one stamp, the model for questions whose words the encoder knows (`vectors`) and, of lexical signals alone, the
    one for all others (`words`). `stamp_name` is for people: the encoder's name.
    """

    stamp_name: str
    stamp: CalibrationStamp
    vectors: Fitted
    words: Fitted


def calibration_json(calibration: Calibration) -> dict[str, Any]:
    return {"schema": SCHEMA, **to_json(calibration)}


def calibration_of(body: object, origin: str) -> Calibration:
    """The calibration in a JSON value; raises ConfigurationError, naming the origin, when it holds none."""
    if not isinstance(body, Mapping) or body.get("schema") != SCHEMA:
        raise ConfigurationError(f"{origin} is no calibration ({SCHEMA}); make one with `gawah calibrate`")
    try:
        return from_json(Calibration, {key: value for key, value in body.items() if key != "schema"})
    except (ValueError, TypeError, KeyError) as error:
        raise ConfigurationError(f"{origin} is a damaged calibration ({error}); make it anew") from error


def load_calibration(path: Path, stamp: CalibrationStamp) -> Calibration:
    """The calibration in a file; raises ConfigurationError when it cannot be read or was made under another stamp."""
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or "it is no JSON"
        raise ConfigurationError(
            f"cannot read the calibration {path}: {said}; `gawah calibrate SET --out FILE` writes one"
        ) from error
    calibration = calibration_of(body, str(path))
    if differing := differences(calibration.stamp, stamp):
        raise ConfigurationError(
            f"the calibration {path} holds for another {differing}; make one for this with `gawah calibrate`, "
            "or set gate to reference"
        )
    return calibration


def packaged_calibration() -> Calibration:
    """The one that ships, for the packaged model and the default settings; fitted on the development sets."""
    text = resources.files("gawah").joinpath("calibrations", _PACKAGED).read_text(encoding="utf-8")
    return calibration_of(json.loads(text), _PACKAGED)


def differences(one: CalibrationStamp, other: CalibrationStamp) -> str:
    """The parts in which two stamps differ, named in a row; empty when they are equal."""
    parts = {
        "model_sha256": "model",
        "recipe_sha256": "recipe of the model",
        "token_format": "token format",
        "pipeline": "pipeline",
        "chunker": "chunker",
        "reranker": "reranker",
    }
    return ", ".join(said for name, said in parts.items() if getattr(one, name) != getattr(other, name))
