"""From a checkpoint's files to vectors: where weights come from, BERT as an ONNX graph, and the encoder that runs it."""
