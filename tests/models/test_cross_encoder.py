"""Pairs and scores equal those of transformers, follow the formulas, and do not depend on company."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file
from tests.models.small_checkpoint import (
    CONFIG,
    CROSS_CONFIG,
    pair_tokenizer,
    plain_logit,
    small_tokenizer,
    write_checkpoint,
    write_cross_encoder,
    write_json,
)
from tokenizers import Tokenizer

from gawah.errors import ModelError, ModelMissingError, UsageError
from gawah.fingerprint import sha256_file
from gawah.models.cross_checkpoint import find_cross_encoder
from gawah.models.cross_encoder import CrossEncoder, load_cross_encoder
from gawah.models.graph_cache import cached_graph
from gawah.models.graph_names import INPUT_IDS, LOGIT, PIECE_TYPES
from gawah.models.pairs import PairPieces, kept_lengths
from gawah.models.session import load_graph, run_graph
from gawah.testing.embedder import ODD_TEXTS

GOLDEN = json.loads((Path(__file__).parent / "golden_pairs.json").read_text())
WINDOW = CONFIG["max_position_embeddings"]
WORD = st.sampled_from(["a", "b", "7", "backup", "restore", "restores", "!", "?", "unknown\u00fe", "\u0928"])


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[CrossEncoder, dict[str, np.ndarray]]:
    folder = tmp_path_factory.mktemp("cross")
    tensors = write_cross_encoder(folder, seed=GOLDEN["small"]["seed"])
    return load_cross_encoder(str(folder), cache_directory=folder / "cache", n_threads=2), tensors


def agrees(encoder: CrossEncoder, golden: dict[str, Any], tolerance: float) -> None:
    assert sha256_file(encoder.checkpoint.weights_path) == golden["weights_sha256"], (
        "numpy draws other weights: make the file anew"
    )
    pieces = PairPieces(encoder.checkpoint)
    for row in golden["pairs"]:
        (pair,) = pieces.pairs(row["question"], [row["passage"]])
        assert (pair.ids.tolist(), pair.types.tolist(), pair.is_cut) == (row["ids"], row["types"], row["is_cut"]), row
        found = encoder.score(row["question"], [row["passage"]])
        assert found.scores[0] == pytest.approx(row["logit"], abs=tolerance), row
        assert found.n_cut == row["is_cut"]


def test_pieces_and_logits_are_those_of_transformers(small: tuple[CrossEncoder, dict[str, np.ndarray]]) -> None:
    assert sum(row["is_cut"] for row in GOLDEN["small"]["pairs"]) > 15
    agrees(small[0], GOLDEN["small"], 1e-5)


def test_a_checkpoint_of_the_default_ones_shape_agrees_too(packaged_folder: Path, tmp_path: Path) -> None:
    golden = GOLDEN["minilm"]
    tokenizer = Tokenizer.from_file(str(packaged_folder / "tokenizer.json"))
    write_cross_encoder(
        tmp_path, seed=golden["seed"], config=golden["config"], spread=golden["spread"], tokenizer=tokenizer
    )
    agrees(load_cross_encoder(str(tmp_path), cache_directory=tmp_path / "cache"), golden, 1e-5)


@given(st.lists(WORD, max_size=150), st.lists(WORD, max_size=150))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_pairs_are_cut_as_the_tokenizer_library_cuts_them(
    small: tuple[CrossEncoder, dict[str, np.ndarray]], question: list[str], passage: list[str]
) -> None:
    library = Tokenizer.from_file(str(small[0].checkpoint.tokenizer_path))
    library.no_padding()
    library.enable_truncation(WINDOW, strategy="longest_first")
    expected = library.encode(" ".join(question), " ".join(passage))
    (pair,) = PairPieces(small[0].checkpoint).pairs(" ".join(question), [" ".join(passage)])
    assert (pair.ids.tolist(), pair.types.tolist()) == (expected.ids, expected.type_ids)
    assert pair.is_cut == bool(expected.overflowing)


def cut_one_by_one(n_question: int, n_passage: int, room: int) -> tuple[int, int]:
    """The rule in words: the longer side loses its last piece until both fit; at a tie the one that was no longer at first."""
    was_longer = n_question > n_passage
    while n_question + n_passage > room:
        if n_question > n_passage or (n_question == n_passage and not was_longer):
            n_question -= 1
        else:
            n_passage -= 1
    return n_question, n_passage


def test_worked_cuts() -> None:
    assert kept_lengths(10, 499, 509) == (10, 499)
    assert kept_lengths(10, 600, 509) == (10, 499)
    assert kept_lengths(600, 10, 509) == (499, 10)
    assert kept_lengths(255, 255, 509) == (254, 255)  # the tie: the passage counts as the longer side
    assert kept_lengths(256, 255, 509) == (255, 254)
    assert kept_lengths(900, 901, 509) == (254, 255)


@given(st.integers(0, 300), st.integers(0, 300), st.integers(0, 200))
def test_the_longer_side_loses_its_last_piece_until_both_fit(n_question: int, n_passage: int, room: int) -> None:
    assert kept_lengths(n_question, n_passage, room) == cut_one_by_one(n_question, n_passage, room)


def test_an_endless_question_is_cut_like_any_other(small: tuple[CrossEncoder, dict[str, np.ndarray]]) -> None:
    found = small[0].score("backup " * 100_000, ["restore"] * 50)
    assert (found.n_cut, len(set(found.scores))) == (50, 1)


@given(st.lists(WORD, max_size=90), st.lists(st.lists(WORD, max_size=90), max_size=4))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=25)
def test_scores_follow_the_formulas(
    small: tuple[CrossEncoder, dict[str, np.ndarray]], question: list[str], passages: list[list[str]]
) -> None:
    encoder, tensors = small
    texts = [" ".join(words) for words in passages]
    pairs = PairPieces(encoder.checkpoint).pairs(" ".join(question), texts)
    expected = [plain_logit(tensors, {}, pair.ids.tolist(), pair.types.tolist()) for pair in pairs]
    found = encoder.score(" ".join(question), texts)
    assert found.scores == pytest.approx(expected, abs=1e-5)
    assert found.n_cut == sum(pair.is_cut for pair in pairs)


def test_a_pair_has_the_same_bits_alone_in_company_in_any_order_and_with_any_number_of_threads(
    small: tuple[CrossEncoder, dict[str, np.ndarray]],
) -> None:
    encoder = small[0]
    passages = [*ODD_TEXTS, *(f"{text} restore a backup" * 9 for text in ODD_TEXTS)]
    together = encoder.score("restore?", passages).scores
    alone = tuple(encoder.score("restore?", [passage]).scores[0] for passage in passages)
    backwards = encoder.score("restore?", passages[::-1]).scores[::-1]
    single = CrossEncoder(encoder.checkpoint, cache_directory=encoder.checkpoint.directory / "cache", n_threads=1)
    assert together == alone == backwards == single.score("restore?", passages).scores
    assert encoder.score("restore?", []).scores == ()


def activated(folder: Path, config: dict[str, Any]) -> tuple[float, ...]:
    write_cross_encoder(folder, config=config)
    encoder = load_cross_encoder(str(folder), cache_directory=folder / "cache")
    return encoder.score("restore a backup", ["a", "backup restore", "!"]).scores


@pytest.mark.parametrize("config", [
    {"sbert_ce_default_activation_function": "torch.nn.modules.linear.Identity"},
    {"sentence_transformers": {"activation_fn": "torch.nn.modules.linear.Identity", "version": "4.1.0"}},
    {"sentence_transformers": {"version": "5.0.0"}},
])  # fmt: skip
def test_a_logit_stays_one_unless_the_config_names_the_sigmoid(tmp_path: Path, config: dict[str, Any]) -> None:
    assert activated(tmp_path / "named", config) == activated(tmp_path / "plain", {})


@pytest.mark.parametrize("config", [
    {"sbert_ce_default_activation_function": "torch.nn.modules.activation.Sigmoid"},
    {"sentence_transformers": {"activation_fn": "torch.nn.modules.activation.Sigmoid"}},
])  # fmt: skip
def test_a_sigmoid_in_the_config_is_applied_and_keeps_the_order(tmp_path: Path, config: dict[str, Any]) -> None:
    logits = activated(tmp_path / "plain", {})
    assert activated(tmp_path / "named", config) == pytest.approx(
        [1 / (1 + math.exp(-logit)) for logit in logits], abs=1e-12
    )


def without(name: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        tensors = load_file(folder / "model.safetensors")
        del tensors[name]
        save_file(tensors, folder / "model.safetensors")

    return change


def with_config(**changes: Any) -> Callable[[Path], None]:
    return lambda folder: write_json(folder / "config.json", {**CROSS_CONFIG, **changes})


def with_tokenizer(change: Callable[[dict[str, Any]], None]) -> Callable[[Path], None]:
    def changed(folder: Path) -> None:
        read = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
        change(read)
        write_json(folder / "tokenizer.json", read)

    return changed


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (with_config(num_labels=2), "it has 2 labels"),
        (with_config(num_labels=None, id2label={"0": "a", "1": "b", "2": "c"}), "it has None labels"),
        (with_config(architectures=["BertModel"]), "not a BertForSequenceClassification"),
        (with_config(type_vocab_size=1), "a pair needs two"),
        (with_config(model_type="roberta"), "only 'bert' is supported"),
        (with_config(sentence_transformers={"activation_fn": "torch.nn.Tanh"}), "the activation 'torch.nn.Tanh'"),
        (without("classifier.weight"), "has no tensor classifier.weight"),
        (without("bert.pooler.dense.bias"), "has no tensor bert.pooler.dense.bias"),
        (lambda folder: small_tokenizer().save(str(folder / "tokenizer.json")), "does not make [CLS] a [SEP] b [SEP]"),
        (lambda folder: (folder / "tokenizer.json").unlink(), "lacks tokenizer.json"),
        (lambda folder: (folder / "config.json").write_text("[]"), "is not a JSON object"),
        (write_checkpoint, "it has 2 labels"),  # an encoder, not a cross-encoder
        (with_config(max_position_embeddings=2), "no question and passage fit"),
        (with_config(vocab_size=10**30), "config.json says (1000000000000000000000000000000, 32)"),
        (with_tokenizer(lambda read: read["model"]["vocab"].update(backup=5000)), "numbers pieces up to 5000"),
        (with_tokenizer(lambda read: read["model"]["vocab"].update(backup=-1)), "is no tokenizer (invalid value"),
        (with_tokenizer(lambda read: read.update(normalizer={"type": "None"})), "is no tokenizer (data did not match"),
    ],
)
def test_what_would_be_computed_differently_is_one_line(
    tmp_path: Path, change: Callable[[Path], None], said: str
) -> None:
    write_cross_encoder(tmp_path)
    change(tmp_path)
    with pytest.raises(ModelError) as caught:
        load_cross_encoder(str(tmp_path), cache_directory=tmp_path / "cache").score("a", ["b"])
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_two_labels_by_default_are_not_overlooked(tmp_path: Path) -> None:
    write_cross_encoder(tmp_path)
    write_json(tmp_path / "config.json", {key: value for key, value in CROSS_CONFIG.items() if key != "num_labels"})
    with pytest.raises(ModelError, match="2 labels"):
        find_cross_encoder(str(tmp_path), cache_directory=tmp_path / "cache")
    write_json(tmp_path / "config.json", {**CONFIG, "id2label": {"0": "LABEL_0"}})
    assert find_cross_encoder(str(tmp_path), cache_directory=tmp_path / "cache").shape.n_layers == 2


def test_the_window_is_the_least_of_what_limits_it(tmp_path: Path) -> None:
    write_cross_encoder(tmp_path, config={"max_position_embeddings": 600})

    def window() -> int:
        return find_cross_encoder(str(tmp_path), cache_directory=tmp_path / "cache").window_tokens

    assert window() == 512
    write_json(tmp_path / "tokenizer_config.json", {"model_max_length": 1000000000000000019884624838656})
    assert window() == 512
    write_json(tmp_path / "tokenizer_config.json", {"model_max_length": 128})
    assert window() == 128


def test_the_name_tells_checkpoints_apart(tmp_path: Path) -> None:
    def name(**options: Any) -> str:
        write_cross_encoder(tmp_path / "model", **options)
        return find_cross_encoder(str(tmp_path / "model"), cache_directory=tmp_path / "cache").name

    names = [name(), name(seed=1), name(config={"sentence_transformers": {"activation_fn": "x.Sigmoid"}})]
    pair = pair_tokenizer()
    pair.add_tokens(["restored"])
    names.append(name(tokenizer=pair, config={"vocab_size": CONFIG["vocab_size"] + 1}))
    assert len(set(names)) == 4
    assert all(found.startswith("model@") for found in names)
    assert name() == names[0]


def test_a_hub_clients_cache_of_a_repository_can_be_named(tmp_path: Path) -> None:
    root = tmp_path / "models--someone--small"
    write_cross_encoder(root / "snapshots" / "abc")
    assert find_cross_encoder(str(root), cache_directory=tmp_path / "c").directory == root / "snapshots" / "abc"
    write_cross_encoder(root / "snapshots" / "def")
    with pytest.raises(ModelError, match="holds 2 snapshots"):
        find_cross_encoder(str(root), cache_directory=tmp_path / "c")
    (root / "refs").mkdir()
    (root / "refs" / "main").write_text("def\n")
    assert find_cross_encoder(str(root), cache_directory=tmp_path / "c").directory == root / "snapshots" / "def"


def test_a_model_that_is_not_here_names_the_command_that_fetches_it(tmp_path: Path) -> None:
    with pytest.raises(ModelMissingError, match="`gawah models fetch someone/never-made-7f3a` fetches it"):
        find_cross_encoder("someone/never-made-7f3a", cache_directory=tmp_path)
    with pytest.raises(UsageError, match="there is no model 'nobody'"):
        find_cross_encoder("nobody", cache_directory=tmp_path)
    with pytest.raises(ModelError, match="no model folder at"):
        find_cross_encoder("./nowhere", cache_directory=tmp_path)


def test_what_the_runtime_refuses_is_one_line(tmp_path: Path) -> None:
    write_cross_encoder(tmp_path)
    session = load_graph(cached_graph(find_cross_encoder(str(tmp_path)), tmp_path / "cache"))
    beyond = np.full((1, 1000), 2, np.int64)
    with pytest.raises(ModelError, match="the model cannot be run") as caught:
        run_graph(session, [LOGIT], {INPUT_IDS: beyond, PIECE_TYPES: np.zeros_like(beyond)})
    assert "\n" not in str(caught.value)
