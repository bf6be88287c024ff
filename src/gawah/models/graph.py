"""From a BERT checkpoint to an ONNX graph: a text's vector and its tokens' vectors in one pass, or the score of a pair.

The graph is written with onnxruntime's fused operators (Attention, Gelu), so that nothing is left to optimise when it
is loaded, and goes to two files: the nodes, and the matrices as raw float32 in a file that the runtime maps into
memory (loaded in 50 ms; 165 ms and 90 MB more with the matrices inside). Matrices are transposed once, here, to
[inputs, outputs]. The graph takes rows of equal length: there is no padding, hence no mask. Texts
are all of token type 0, which is folded into the position table; pairs come with their types.

BERT: Devlin et al. 2019. Mean pooling and normalising: Reimers and Gurevych 2019. Operators: onnxruntime's
`ContribOperators.md`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from gawah.models.graph_names import (
    GRAPH_FILE,
    INPUT_IDS,
    LOGIT,
    PIECE_TYPES,
    SENTENCE,
    TOKENS,
    WEIGHTS_FILE,
    GraphSource,
    Head,
)
from gawah.models.shape import BertShape
from gawah.models.weights import Weights, open_weights

if TYPE_CHECKING:
    from onnx import NodeProto

_OPSET = 17
_IR_VERSION = 8
_CONTRIB = "com.microsoft"
_FLAT, _CUBE = "flat", "cube"  # constants: shapes [batch * sequence, dimensions] and [batch, sequence, dimensions]
_ALIGNMENT_BYTES = 4096  # a matrix begins on a page: it can be mapped where it lies
_TINY_NORM = 1e-12  # keeps a zero vector from becoming NaN; its norm is then found not to be 1


def write_graph(checkpoint: GraphSource, directory: Path) -> None:
    """Writes GRAPH_FILE and WEIGHTS_FILE into a folder. ModelError for weights that are not what config.json says."""
    with (directory / WEIGHTS_FILE).open("xb") as stream, open_weights(checkpoint.weights_path) as weights:
        graph = _Graph(stream)
        inputs, outputs = _model(graph, weights, checkpoint.shape, checkpoint.head)
    model = helper.make_model(
        helper.make_graph(graph.nodes, "bert", inputs, outputs, graph.initializers),
        opset_imports=[helper.make_opsetid("", _OPSET), helper.make_opsetid(_CONTRIB, 1)],
        producer_name="gawah",
        ir_version=_IR_VERSION,
    )
    (directory / GRAPH_FILE).write_bytes(model.SerializeToString(deterministic=True))


@dataclass(slots=True)
class _Graph:
    """Nodes and initializers as they are added; matrices go straight to the stream."""

    stream: IO[bytes]
    nodes: list[NodeProto] = field(default_factory=list)
    initializers: list[TensorProto] = field(default_factory=list)

    def node(self, operator: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        """Adds an operator with one output and returns the output's name."""
        output = name or f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [output], name=f"node_{output}", **attributes))
        return output

    def constant(self, name: str, value: NDArray[Any]) -> str:
        self.initializers.append(numpy_helper.from_array(value, name))
        return name

    def matrix(self, name: str, value: NDArray[np.float32]) -> str:
        """Adds a matrix that lies in the weights file."""
        self.stream.write(bytes(-self.stream.tell() % _ALIGNMENT_BYTES))
        place = {"location": WEIGHTS_FILE, "offset": str(self.stream.tell()), "length": str(value.nbytes)}
        self.stream.write(np.ascontiguousarray(value).astype("<f4", copy=False).data)
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=value.shape)
        tensor.data_location = TensorProto.EXTERNAL
        for key, entry in place.items():
            tensor.external_data.append(onnx.StringStringEntryProto(key=key, value=entry))
        self.initializers.append(tensor)
        return name


def _model(graph: _Graph, weights: Weights, shape: BertShape, head: Head) -> tuple[list[Any], list[Any]]:
    """Embeddings, layers and head; returns the graph's inputs and outputs."""
    if head == "score":
        outputs = _score_head(
            graph, weights, shape, _layers(graph, weights, shape, _pair_embeddings(graph, weights, shape))
        )
        names = [INPUT_IDS, PIECE_TYPES]
    else:
        outputs = _embedding_head(
            graph, _layers(graph, weights, shape, _text_embeddings(graph, weights, shape)), shape, head
        )
        names = [INPUT_IDS]
    return [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"]) for name in names], outputs


def _layers(graph: _Graph, weights: Weights, shape: BertShape, hidden: str) -> str:
    """All layers over hidden states [batch * sequence, dimensions]; returns the name of the last ones."""
    for number in range(shape.n_layers):
        hidden = _layer(graph, weights, shape, f"encoder.layer.{number}.", hidden)
    return hidden


def _text_embeddings(graph: _Graph, weights: Weights, shape: BertShape) -> str:
    positions, types = _tables(weights, shape)
    return _embedded(graph, weights, shape, _words(graph, weights, shape), positions + types[0])


def _pair_embeddings(graph: _Graph, weights: Weights, shape: BertShape) -> str:
    positions, types = _tables(weights, shape)
    of_types = graph.node("Gather", graph.constant("token_type_embeddings", types), PIECE_TYPES)
    words = graph.node("Add", _words(graph, weights, shape), of_types)
    return _embedded(graph, weights, shape, words, positions)


def _tables(weights: Weights, shape: BertShape) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Of positions, and of token types."""
    size = shape.hidden_size
    return (
        weights.tensor("embeddings.position_embeddings.weight", shape.n_positions, size),
        weights.tensor("embeddings.token_type_embeddings.weight", shape.n_token_types, size),
    )


def _words(graph: _Graph, weights: Weights, shape: BertShape) -> str:
    rows = weights.tensor("embeddings.word_embeddings.weight", shape.vocabulary_size, shape.hidden_size)
    return graph.node("Gather", graph.matrix("word_embeddings", rows), INPUT_IDS)


def _embedded(graph: _Graph, weights: Weights, shape: BertShape, words: str, position_rows: NDArray[np.float32]) -> str:
    """What the layers begin with: the words and their positions, added and normalised."""
    size = shape.hidden_size
    positions = graph.matrix("position_embeddings", position_rows)
    zero = graph.constant("zero", np.array([0], np.int64))
    one = graph.constant("one", np.array([1], np.int64))
    ids_shape = graph.node("Shape", INPUT_IDS)
    used_positions = graph.node("Slice", positions, zero, graph.node("Gather", ids_shape, one, axis=0), zero)
    total = graph.node("Add", words, used_positions)
    width = graph.constant("width", np.array([size], np.int64))
    graph.node("Concat", ids_shape, width, axis=0, name=_CUBE)
    flat = graph.node("Reshape", total, graph.constant(_FLAT, np.array([-1, size], np.int64)))
    return _layer_norm(graph, weights, shape, "embeddings.LayerNorm", flat)


def _layer(graph: _Graph, weights: Weights, shape: BertShape, prefix: str, hidden: str) -> str:
    """One transformer layer over hidden states [batch * sequence, dimensions]; only attention needs the cube."""
    size, inner = shape.hidden_size, shape.intermediate_size
    attended = graph.node("Reshape", _attention(graph, weights, shape, prefix + "attention.self.", hidden), _FLAT)
    projected = _dense(graph, weights, prefix + "attention.output.dense", attended, (size, size))
    hidden = _layer_norm(
        graph, weights, shape, prefix + "attention.output.LayerNorm", graph.node("Add", projected, hidden)
    )
    grown = _dense(graph, weights, prefix + "intermediate.dense", hidden, (inner, size))
    shrunk = _dense(graph, weights, prefix + "output.dense", graph.node("Gelu", grown, domain=_CONTRIB), (size, inner))
    return _layer_norm(graph, weights, shape, prefix + "output.LayerNorm", graph.node("Add", shrunk, hidden))


def _attention(graph: _Graph, weights: Weights, shape: BertShape, prefix: str, hidden: str) -> str:
    size = shape.hidden_size
    parts = [prefix + part for part in ("query", "key", "value")]
    matrices = [weights.tensor(part + ".weight", size, size).T for part in parts]
    projection = graph.matrix(prefix + "qkv.weight", np.concatenate(matrices, axis=1))
    biases = [weights.tensor(part + ".bias", size) for part in parts]
    bias = graph.constant(prefix + "qkv.bias", np.concatenate(biases))
    cube = graph.node("Reshape", hidden, _CUBE)
    return graph.node("Attention", cube, projection, bias, domain=_CONTRIB, num_heads=shape.n_heads)


def _dense(graph: _Graph, weights: Weights, name: str, inputs: str, outputs_by_inputs: tuple[int, int]) -> str:
    """Inputs · W + b. Gemm adds the bias as it multiplies: 2 % of the whole against MatMul and Add."""
    matrix = graph.matrix(name + ".weight", weights.tensor(name + ".weight", *outputs_by_inputs).T)
    bias = graph.constant(name + ".bias", weights.tensor(name + ".bias", outputs_by_inputs[0]))
    return graph.node("Gemm", inputs, matrix, bias)


def _layer_norm(graph: _Graph, weights: Weights, shape: BertShape, name: str, inputs: str) -> str:
    """Not SkipLayerNormalization, which adds the residual too but takes four times as long (11 % of the whole)."""
    scale = graph.constant(name + ".weight", weights.tensor(name + ".weight", shape.hidden_size))
    shift = graph.constant(name + ".bias", weights.tensor(name + ".bias", shape.hidden_size))
    return graph.node("LayerNormalization", inputs, scale, shift, axis=-1, epsilon=shape.layer_norm_epsilon)


def _embedding_head(graph: _Graph, hidden: str, shape: BertShape, pooling: Head) -> list[Any]:
    """Adds the outputs SENTENCE and TOKENS."""
    hidden = graph.node("Reshape", hidden, _CUBE, name=TOKENS)
    if pooling == "mean":
        pooled = graph.node("ReduceMean", hidden, axes=[1], keepdims=0)
    else:
        pooled = graph.node("Gather", hidden, graph.constant("first", np.array(0, np.int64)), axis=1)
    norm = graph.node("ReduceL2", pooled, axes=[1], keepdims=1)
    tiny = graph.constant("tiny_norm", np.array(_TINY_NORM, np.float32))
    graph.node("Div", pooled, graph.node("Max", norm, tiny), name=SENTENCE)
    return [
        helper.make_tensor_value_info(SENTENCE, TensorProto.FLOAT, ["batch", shape.hidden_size]),
        helper.make_tensor_value_info(TOKENS, TensorProto.FLOAT, ["batch", "sequence", shape.hidden_size]),
    ]


def _score_head(graph: _Graph, weights: Weights, shape: BertShape, hidden: str) -> list[Any]:
    """Adds the output LOGIT: the first token through the pooler (dense, tanh) and the classifier."""
    size = shape.hidden_size
    first = graph.constant("first", np.array(0, np.int64))
    pooled = _dense(
        graph,
        weights,
        "pooler.dense",
        graph.node("Gather", graph.node("Reshape", hidden, _CUBE), first, axis=1),
        (size, size),
    )
    weight = graph.constant("classifier.weight", weights.head_tensor("classifier.weight", 1, size).T)
    bias = graph.constant("classifier.bias", weights.head_tensor("classifier.bias", 1))
    scored = graph.node("Gemm", graph.node("Tanh", pooled), weight, bias)
    graph.node("Reshape", scored, graph.constant("row", np.array([-1], np.int64)), name=LOGIT)
    return [helper.make_tensor_value_info(LOGIT, TensorProto.FLOAT, ["batch"])]
