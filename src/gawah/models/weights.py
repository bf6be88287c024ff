"""A safetensors file as float32 arrays, one at a time: the whole of a checkpoint is never in memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from gawah.errors import ModelError

_PREFIX = "bert."  # of an encoder that was saved as a part of a larger model


class Weights:
    """The named tensors of a checkpoint; every fault in them is a ModelError."""

    def __init__(self, path: Path, tensors: Any) -> None:
        self._path = path
        self._tensors = tensors
        self._names = frozenset(tensors.keys())
        self._prefix = _PREFIX if any(name.startswith(_PREFIX) for name in self._names) else ""

    def tensor(self, name: str, *shape: int) -> NDArray[np.float32]:
        """One tensor of the encoder as float32; its shape must be the one given, its values finite."""
        return self._read(self._prefix + name, shape)

    def head_tensor(self, name: str, *shape: int) -> NDArray[np.float32]:
        """The same of what stands beside the encoder in a larger model."""
        return self._read(name, shape)

    def _read(self, name: str, shape: tuple[int, ...]) -> NDArray[np.float32]:
        if name not in self._names:
            raise ModelError(
                f"{self._path} has no tensor {name}; it is not the BERT model that its config.json describes"
            )
        try:
            found = np.asarray(self._tensors.get_tensor(name))
        except (SafetensorError, TypeError, ValueError) as error:
            raise ModelError(
                f"{self._path}: cannot read tensor {name} ({error}); save the weights as float32"
            ) from error
        if found.dtype.kind in "iub":  # bfloat16 is of kind V
            raise ModelError(
                f"{self._path}: {name} holds {found.dtype}, perhaps quantised; use the model's floating-point weights"
            )
        if found.shape != shape:
            raise ModelError(
                f"{self._path}: {name} has shape {found.shape}, config.json says {shape}; the two do not belong together"
            )
        values = found.astype(np.float32, copy=False)
        if not np.isfinite(values).all():
            raise ModelError(
                f"{self._path}: {name} holds values that are no numbers; take the weights from their source again"
            )
        return values


@contextmanager
def open_weights(path: Path) -> Iterator[Weights]:
    """The weights of a safetensors file, readable inside the block. ModelError when it is no such file or cut short."""
    try:
        tensors = safe_open(path, framework="numpy")
    except (SafetensorError, OSError) as error:
        raise ModelError(
            f"{path} is not a readable safetensors file ({error}); take it from the model's source again"
        ) from error
    with tensors:
        yield Weights(path, tensors)
