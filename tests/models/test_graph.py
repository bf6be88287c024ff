"""The graph computes BERT: against the formulas in float64, for shapes, prefixes and number formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnxruntime
import pytest
from safetensors.numpy import save_file
from tests.models.small_checkpoint import CONFIG, plain_bert, write_checkpoint

from gawah.errors import ModelError
from gawah.models.checkpoint import find_checkpoint
from gawah.models.graph import write_graph
from gawah.models.graph_names import GRAPH_FILE, INPUT_IDS, SENTENCE, TOKENS


def run_graph(folder: Path, ids: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    built = folder / "built"
    built.mkdir()
    write_graph(find_checkpoint(str(folder), cache_directory=folder / "cache"), built)
    session = onnxruntime.InferenceSession(str(built / GRAPH_FILE), providers=["CPUExecutionProvider"])
    sentences, tokens = session.run([SENTENCE, TOKENS], {INPUT_IDS: np.array(ids, np.int64)})
    return sentences, tokens


def unit(vector: np.ndarray) -> np.ndarray:
    return np.asarray(vector / np.linalg.norm(vector))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("pooling", ["mean", "cls"])
@pytest.mark.parametrize(
    "config",
    [
        {},
        {"num_hidden_layers": 1, "num_attention_heads": 1, "hidden_size": 8, "intermediate_size": 8},
        {"num_hidden_layers": 4, "num_attention_heads": 2, "layer_norm_eps": 1e-5, "type_vocab_size": 1},
    ],
)
def test_hidden_states_and_the_pooled_vector_follow_the_formulas(
    tmp_path: Path, seed: int, pooling: str, config: dict[str, Any]
) -> None:
    tensors = write_checkpoint(tmp_path, seed=seed, config=config, pooling=pooling)
    rng = np.random.default_rng(seed)
    ids = rng.integers(0, CONFIG["vocab_size"], int(rng.integers(1, 60))).tolist()
    sentences, tokens = run_graph(tmp_path, [ids])
    hidden = plain_bert(tensors, config, ids)
    assert np.abs(tokens[0] - hidden).max() < 1e-5
    expected = unit(hidden.mean(axis=0) if pooling == "mean" else hidden[0])
    assert np.abs(sentences[0] - expected).max() < 1e-6


def test_rows_of_equal_length_can_be_run_together(tmp_path: Path) -> None:
    tensors = write_checkpoint(tmp_path)
    rows = np.random.default_rng(5).integers(0, CONFIG["vocab_size"], (3, 17)).tolist()
    sentences, tokens = run_graph(tmp_path, rows)
    for row, sentence, hidden in zip(rows, sentences, tokens, strict=True):
        expected = plain_bert(tensors, {}, row)
        assert np.abs(hidden - expected).max() < 1e-5
        assert np.abs(sentence - unit(expected.mean(axis=0))).max() < 1e-6


def test_an_encoder_saved_inside_a_larger_model_is_found_by_its_prefix(tmp_path: Path) -> None:
    tensors = write_checkpoint(tmp_path, prefix="bert.")
    _, tokens = run_graph(tmp_path, [[2, 7, 9, 3]])
    assert np.abs(tokens[0] - plain_bert(tensors, {}, [2, 7, 9, 3])).max() < 1e-5


@pytest.mark.parametrize("kind", [np.float16, ml_dtypes.bfloat16, np.float64])
def test_weights_in_other_number_formats_are_read_as_float32(tmp_path: Path, kind: Any) -> None:
    tensors = {name: value.astype(kind) for name, value in write_checkpoint(tmp_path).items()}
    save_file(tensors, tmp_path / "model.safetensors")
    _, tokens = run_graph(tmp_path, [[2, 7, 9, 3]])
    rounded = {name: value.astype(np.float32) for name, value in tensors.items()}
    assert np.abs(tokens[0] - plain_bert(rounded, {}, [2, 7, 9, 3])).max() < 1e-5


def build(folder: Path) -> None:
    built = folder / "built"
    built.mkdir()
    write_graph(find_checkpoint(str(folder), cache_directory=folder / "cache"), built)


def test_a_missing_tensor_is_named(tmp_path: Path) -> None:
    tensors = write_checkpoint(tmp_path)
    del tensors["encoder.layer.1.output.dense.bias"]
    save_file(tensors, tmp_path / "model.safetensors")
    with pytest.raises(ModelError, match=r"no tensor encoder\.layer\.1\.output\.dense\.bias"):
        build(tmp_path)


def test_weights_of_another_shape_than_the_config_are_refused(tmp_path: Path) -> None:
    tensors = write_checkpoint(tmp_path)
    tensors["embeddings.word_embeddings.weight"] = tensors["embeddings.word_embeddings.weight"][:-1].copy()
    save_file(tensors, tmp_path / "model.safetensors")
    with pytest.raises(ModelError, match="do not belong together"):
        build(tmp_path)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_weights_that_are_no_numbers_are_refused(tmp_path: Path, bad: float) -> None:
    tensors = write_checkpoint(tmp_path)
    tensors["encoder.layer.0.output.dense.weight"][3, 4] = bad
    save_file(tensors, tmp_path / "model.safetensors")
    with pytest.raises(ModelError, match="no numbers"):
        build(tmp_path)


def test_integer_weights_are_not_taken_for_floats(tmp_path: Path) -> None:
    tensors = write_checkpoint(tmp_path)
    tensors["encoder.layer.0.output.dense.weight"] = tensors["encoder.layer.0.output.dense.weight"].astype(np.int8)
    save_file(tensors, tmp_path / "model.safetensors")
    with pytest.raises(ModelError, match="int8"):
        build(tmp_path)


@pytest.mark.parametrize("keep", [0, 7, 100, -1])
def test_a_safetensors_file_cut_short_is_one_line(tmp_path: Path, keep: int) -> None:
    write_checkpoint(tmp_path)
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:keep])
    with pytest.raises(ModelError, match="safetensors file") as caught:
        build(tmp_path)
    assert "\n" not in str(caught.value)
