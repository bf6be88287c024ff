"""Vectors equal those of sentence-transformers, do not depend on company, and are of unit length or not given out."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file
from tests.models.small_checkpoint import plain_bert, small_tokenizer, write_checkpoint

from gawah.errors import ModelError
from gawah.models.checkpoint import PACKAGED_NAME, PACKAGED_SHA256
from gawah.models.encoder import OnnxEncoder, load_encoder, token_codes
from gawah.testing.embedder import ODD_TEXTS, EmbedderContract
from gawah.types import ModelStamp

GOLDEN = json.loads((Path(__file__).parent / "golden_vectors.json").read_text())
GOLDEN_VECTORS = np.frombuffer(base64.b64decode(GOLDEN["vectors_float32_base64"]), "<f4").reshape(-1, 384)
# Words of scripts that the packaged vocabulary does not read: Cyrillic, Arabic, Devanagari, kana, Hangul.
UNREAD = re.compile("[\u0400-\u06ff\u0900-\u097f\u3040-\u30ff\uac00-\ud7af]{2}")


class TestPackagedModel(EmbedderContract):
    @pytest.fixture(autouse=True)
    def _take_encoder(self, encoder: OnnxEncoder) -> None:
        self.encoder = encoder

    def make_embedder(self) -> OnnxEncoder:
        return self.encoder


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[OnnxEncoder, dict[str, np.ndarray]]:
    folder = tmp_path_factory.mktemp("small")
    tensors = write_checkpoint(folder)
    return load_encoder(str(folder), cache_directory=folder / "cache", n_threads=2), tensors


def test_the_stamp_is_the_packaged_models(encoder: OnnxEncoder) -> None:
    recipe = encoder.checkpoint.recipe_sha256
    assert encoder.stamp == ModelStamp(PACKAGED_NAME, PACKAGED_SHA256, 384, 256, "sign1-fp16/1", recipe)


def test_vectors_equal_sentence_transformers(encoder: OnnxEncoder) -> None:
    counts = encoder.count_tokens(GOLDEN["texts"])
    assert max(counts) > 256  # one is a question over the window: there both cut
    assert 256 in counts
    within = [text for text, n in zip(GOLDEN["texts"], counts, strict=True) if n <= 256]
    assert sum(bool(UNREAD.search(text)) for text in GOLDEN["texts"]) == 10  # there the vectors differ on purpose
    embedded = iter(encoder.embed(within))
    for text, n, expected in zip(GOLDEN["texts"], counts, GOLDEN_VECTORS, strict=True):
        found = [encoder.embed_query(text).vector] + ([next(embedded).vector] if n <= 256 else [])
        for vector in found:
            assert (np.abs(vector - expected).max() <= 1e-5) == (not UNREAD.search(text)), text


def test_an_unread_word_has_the_vector_of_an_unknown_one(encoder: OnnxEncoder) -> None:
    text = "हर रात बारह बजे backup लिया जाता है, ERR_CONN-17 के बाद।"
    spelled = "[UNK] [UNK] [UNK] [UNK] backup [UNK] [UNK] ह, ERR_CONN-17 क [UNK]।"  # one letter and marks: one piece
    assert encoder.count_tokens([text]) == encoder.count_tokens([spelled])
    found, expected = encoder.embed([text])[0], encoder.embed([spelled])[0]
    assert found.vector.tobytes() == expected.vector.tobytes()


def test_hindi_and_urdu_take_no_more_of_the_window_than_english(encoder: OnnxEncoder) -> None:
    for text in (
        "हर रात बारह बजे बैकअप लिया जाता है।",
        "ہر رات بارہ بجے بیک اپ لیا جاتا ہے۔",
        "A backup is taken every night at twelve.",
    ):
        n_words = len(text.split())
        assert n_words + 2 <= encoder.count_tokens([text])[0] <= n_words + 3  # two specials, a full stop
    assert encoder.coverage("हर केंद्र में") == 0.0


def test_a_question_has_the_vector_of_the_same_text(encoder: OnnxEncoder) -> None:
    for text in ODD_TEXTS:
        query, embedding = encoder.embed_query(text), encoder.embed([text])[0]
        assert query.vector.tobytes() == embedding.vector.tobytes()
        codes = token_codes(query.token_vectors)
        assert codes.signs.tobytes() == embedding.tokens.signs.tobytes()
        assert codes.scales.tobytes() == embedding.tokens.scales.tobytes()


def test_the_number_of_threads_does_not_change_a_bit(encoder: OnnxEncoder, model_cache: Path) -> None:
    texts = [text for text, n in zip(GOLDEN["texts"], encoder.count_tokens(GOLDEN["texts"]), strict=True) if n <= 256]
    rng = np.random.default_rng(3)
    expected = [embedding.vector.tobytes() for embedding in encoder.embed(texts)]
    for n_threads in (1, 3, 8):
        other = OnnxEncoder(encoder.checkpoint, cache_directory=model_cache, n_threads=n_threads)
        order = rng.permutation(len(texts)).tolist()
        found = other.embed([texts[number] for number in order])
        assert [embedding.vector.tobytes() for embedding in found] == [expected[number] for number in order]


def test_vectors_and_codes_follow_the_formulas(small: tuple[OnnxEncoder, dict[str, np.ndarray]]) -> None:
    encoder, tensors = small
    tokenizer = small_tokenizer()
    tokenizer.no_truncation()
    tokenizer.no_padding()
    text = "Restore backups, a-b c!"  # [CLS] restore backup ##s , a - b c ! [SEP]
    hidden = plain_bert(tensors, {}, tokenizer.encode(text).ids)
    rows = hidden[[1, 2, 3, 5, 7, 8]]
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    mean = hidden.mean(axis=0)
    (embedding,) = encoder.embed([text])
    assert np.abs(embedding.vector - mean / np.linalg.norm(mean)).max() < 1e-6
    assert embedding.tokens.scales.tolist() == pytest.approx(np.abs(rows).mean(axis=1).tolist(), rel=1e-3)
    bits = np.unpackbits(embedding.tokens.signs, axis=1, bitorder="big")
    assert bits.tolist() == (rows > 0).astype(int).tolist()
    query = encoder.embed_query(text)
    assert np.abs(query.token_vectors - rows).max() < 1e-5
    assert query.words == ("Restore", "backups", "backups", "a", "b", "c")


def test_a_worked_example_of_token_codes() -> None:
    unit_vectors = np.array([[0.5, -0.5, 0.5, -0.5, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 1]], np.float32)
    codes = token_codes(unit_vectors)
    assert codes.signs.tolist() == [[0b10100000], [0b00000001]]
    assert codes.scales.tolist() == [0.25, 0.125]


@given(
    st.integers(0, 6).flatmap(
        lambda n: st.lists(st.lists(st.floats(-1, 1, width=32), min_size=16, max_size=16), min_size=n, max_size=n)
    )
)
def test_codes_keep_sign_and_mean_length_of_every_token(rows: list[list[float]]) -> None:
    vectors = np.array(rows, np.float32).reshape(-1, 16)
    codes = token_codes(vectors)
    assert codes.signs.shape == (len(rows), 2)
    assert np.unpackbits(codes.signs, axis=1).tolist() == (vectors > 0).astype(int).tolist()
    assert codes.scales.astype(float).tolist() == pytest.approx(
        np.abs(vectors).mean(axis=1).tolist(), rel=1e-3, abs=1e-7
    )


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.text(alphabet=st.sampled_from("abc 12.,नम्é🎉\n\0"), max_size=28), max_size=5))
def test_any_texts_give_unit_vectors_that_do_not_depend_on_each_other(
    small: tuple[OnnxEncoder, dict[str, np.ndarray]], texts: list[str]
) -> None:
    encoder, _ = small
    for text, together in zip(texts, encoder.embed(texts), strict=True):
        (alone,) = encoder.embed([text])
        assert together.vector.tobytes() == alone.vector.tobytes()
        assert together.tokens.signs.tobytes() == alone.tokens.signs.tobytes()
        assert abs(float(np.linalg.norm(together.vector.astype(np.float64))) - 1) <= 1e-5


def test_a_vector_without_direction_is_an_error_not_a_result(tmp_path: Path) -> None:
    tensors = write_checkpoint(tmp_path)
    for part in ("weight", "bias"):
        tensors[f"encoder.layer.1.output.LayerNorm.{part}"][:] = 0
    save_file(tensors, tmp_path / "model.safetensors")
    encoder = load_encoder(str(tmp_path), cache_directory=tmp_path / "cache")
    with pytest.raises(ModelError, match="length 0"):
        encoder.embed(["backup"])
    with pytest.raises(ModelError, match="length 0"):
        encoder.embed(["backup", "restore"])  # from the threads too


def test_numbers_that_overflow_are_an_error_not_a_result(tmp_path: Path) -> None:
    tensors = write_checkpoint(tmp_path)
    tensors["encoder.layer.1.output.LayerNorm.weight"][:] = 3e38
    save_file(tensors, tmp_path / "model.safetensors")
    encoder = load_encoder(str(tmp_path), cache_directory=tmp_path / "cache")
    with pytest.raises(ModelError, match="of length"):
        encoder.embed(["backup"])
