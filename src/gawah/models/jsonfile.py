"""The JSON files of a checkpoint, read with one clear line for each way they can be wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gawah.errors import ModelError

_MEND = "take the file from the model's source again"


def read_json(path: Path) -> Any:
    """The value in a JSON file; ModelError when the file cannot be read or is no JSON."""
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise ModelError(
            f"cannot read {path}: {error.strerror or error}; check the file and its permissions"
        ) from error
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path} is not JSON ({error}); {_MEND}") from error


def read_object(path: Path) -> dict[str, Any]:
    """The object in a JSON file; ModelError when it is anything else."""
    value = read_json(path)
    if not isinstance(value, dict):
        raise ModelError(f"{path} is not a JSON object; {_MEND}")
    return value


def positive_number(config: dict[str, Any], key: str, path: Path) -> int:
    """A count from a configuration; ModelError when it is missing or no positive integer."""
    value = config.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ModelError(f"{path}: {key} is {value!r}, not a positive number; {_MEND}")
    return value
