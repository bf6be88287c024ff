"""What the builder of a graph and those who run it agree on; apart, because the builder brings in onnx (0.2 s)."""

GRAPH_FORMAT = 1  # raise it with every change of graph.py that changes what it writes: cached graphs are built anew

GRAPH_FILE = "graph.onnx"
WEIGHTS_FILE = "weights.bin"  # beside it: the matrices

INPUT_IDS = "input_ids"  # int64 [batch, sequence], rows of equal length
SENTENCE = "sentence_embedding"  # float32 [batch, dimensions], unit length
TOKENS = "token_embeddings"  # float32 [batch, sequence, dimensions], hidden states of the last layer
