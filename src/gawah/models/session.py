"""A graph's file to a session of onnxruntime, float32 on one thread: who has several texts runs several sessions' calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnxruntime.capi import onnxruntime_pybind11_state

from gawah.errors import ModelError

# The runtime's error classes share no ancestor but Exception.
_RUNTIME_ERRORS = tuple(
    kind for kind in vars(onnxruntime_pybind11_state).values() if isinstance(kind, type) and issubclass(kind, Exception)
)


def run_graph(
    session: onnxruntime.InferenceSession, outputs: Sequence[str], feed: Mapping[str, NDArray[np.int64]]
) -> list[NDArray[np.float32]]:
    """The outputs in order; ModelError when the runtime refuses the input, or has no memory for it."""
    try:
        return list(session.run(outputs, feed))
    except _RUNTIME_ERRORS as error:
        reason = str(error).strip().splitlines()[0]
        raise ModelError(
            f"the model cannot be run ({reason}); check its source, and the memory of the machine"
        ) from error


def load_graph(graph: Path) -> onnxruntime.InferenceSession:
    """The session; it may be run from several threads at once. ModelError when the runtime refuses the file."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    # The graph is written fused: there is nothing left to optimise.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    # Lengths vary from text to text: a pattern per shape would be kept for each of them. The arena stays, it needs
    # 20 MB less than the C library's allocator with two threads.
    options.enable_mem_pattern = False
    try:
        return onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
    except _RUNTIME_ERRORS as error:
        reason = str(error).strip().splitlines()[0]
        raise ModelError(f"onnxruntime cannot load {graph} ({reason}); remove {graph.parent} and try again") from error
