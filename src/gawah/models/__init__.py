"""From a checkpoint's files to vectors: where weights come from, BERT as an ONNX graph, and the encoder that runs it."""

import os

# The runtime's wheels report to their maker unless told not to before they are imported. Nothing leaves this machine.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
