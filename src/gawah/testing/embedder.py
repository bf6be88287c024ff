"""A fake embedder and the contract that every embedder keeps.

`FakeEmbedder` turns words into vectors by hashing: the same word has the same vector, other words are nearly
orthogonal to it, a text is the sum of its words. So texts that share words are near, without a model and in
microseconds. It knows nothing of meaning. `EmbedderContract` needs no test runner to be imported.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from gawah.fingerprint import sha256_json
from gawah.ports import Embedder, Embedding, QueryEmbedding, TokenCodes, Vector
from gawah.types import ModelStamp

_PIECE_CHARS = 6  # longer words fall into several pieces, as they do in a word-piece vocabulary
_N_SPECIALS = 2
_SIGN_CODES = "sign1-fp16/1"  # the layout that ports.TokenCodes describes
_WORD_OR_MARK = re.compile(r"(?:[^\W_]|[\u0300-\u036f\u064b-\u065f\u0900-\u0903\u093a-\u094f])+|[^\s]")


class FakeEmbedder:
    """A deterministic bag of hashed words. Another `name` is another model: other vectors, another stamp."""

    def __init__(self, name: str = "fake/bag-of-words", *, dimensions: int = 64, window_tokens: int = 256) -> None:
        if dimensions % 8 or dimensions < 8 or window_tokens <= _N_SPECIALS:
            raise ValueError(f"dimensions {dimensions} must be a multiple of 8, the window {window_tokens} over 2")
        self._stamp = ModelStamp(
            name=name,
            sha256=sha256_json(["fake-embedder/1", name, dimensions]),
            dimensions=dimensions,
            window_tokens=window_tokens,
            token_format=_SIGN_CODES,
        )

    @property
    def stamp(self) -> ModelStamp:
        return self._stamp

    def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """One embedding a text; ValueError for a text over the window."""
        result = []
        for text, n_tokens in zip(texts, self.count_tokens(texts), strict=True):
            if n_tokens > self._stamp.window_tokens:
                raise ValueError(f"a text of {n_tokens} tokens is over the window of {self._stamp.window_tokens}")
            pieces = _pieces(text)
            result.append(Embedding(self._text_vector(pieces), _codes(self._token_vectors(pieces))))
        return result

    def embed_query(self, question: str) -> QueryEmbedding:
        """The question's vector, its kept pieces' vectors, and the whole words these belong to."""
        pieces = _pieces(question)[: self._stamp.window_tokens - _N_SPECIALS]
        words = tuple(word for _, word in pieces if word)
        return QueryEmbedding(self._text_vector(pieces), self._token_vectors(pieces), words)

    def coverage(self, text: str) -> float:
        """Words are hashed whole, so every word is known."""
        del text
        return 1.0

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(_pieces(text)) + _N_SPECIALS for text in texts]

    def _token_vectors(self, pieces: list[tuple[str, str]]) -> NDArray[np.float32]:
        rows = [_hashed_unit_vector(self._stamp.name, piece, self._stamp.dimensions) for piece, word in pieces if word]
        return np.array(rows, dtype=np.float32).reshape(len(rows), self._stamp.dimensions)

    def _text_vector(self, pieces: list[tuple[str, str]]) -> Vector:
        total = self._token_vectors(pieces).sum(axis=0, dtype=np.float64)
        norm = float(np.linalg.norm(total))
        if norm < 1e-9:  # no words, or words that cancel out: still a unit vector, as a model would give
            return _hashed_unit_vector(self._stamp.name, "", self._stamp.dimensions)
        return np.asarray(total / norm, dtype=np.float32)


def _pieces(text: str) -> list[tuple[str, str]]:
    """(piece, whole word as written) of each piece; the word is empty for punctuation."""
    result = []
    for match in _WORD_OR_MARK.finditer(text):
        word = match.group()
        if not word[0].isalnum():
            result.append((word, ""))
            continue
        folded = word.casefold()
        result += [(folded[at : at + _PIECE_CHARS], word) for at in range(0, len(folded), _PIECE_CHARS)]
    return result


@lru_cache(maxsize=1 << 16)
def _hashed_unit_vector(salt: str, piece: str, dimensions: int) -> Vector:
    digest = hashlib.shake_256(f"{salt}\0{piece}".encode()).digest(dimensions)
    centred = np.frombuffer(digest, dtype=np.uint8).astype(np.float64) - 127.5
    vector = np.asarray(centred / np.linalg.norm(centred), dtype=np.float32)
    vector.setflags(write=False)
    return vector


def _codes(token_vectors: NDArray[np.float32]) -> TokenCodes:
    signs = np.packbits(token_vectors > 0, axis=1)
    return TokenCodes(signs, np.abs(token_vectors).mean(axis=1).astype(np.float16))


ODD_TEXTS: tuple[str, ...] = (
    "",
    " \t\n ",
    "\0",
    "word\0word",
    "…!?",
    "a",
    "e\u0301 \u0301",
    "\u202eright to left\u202c",
    "line one\r\nline two",
    "👩‍👩‍👧 🎉",
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 \U0001f9ea",
    "यह एक हिन्दी वाक्य है।",
    "یہ ایک اردو جملہ ہے۔",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "[CLS] text that names special tokens [SEP] [PAD]",
)
"""Texts that have broken embedders."""


class EmbedderContract:
    """What every embedder keeps. Inherit in a test class and override `make_embedder`."""

    def make_embedder(self) -> Embedder:
        raise NotImplementedError

    def test_nothing_in_gives_nothing_out(self) -> None:
        embedder = self.make_embedder()
        assert embedder.embed([]) == []
        assert embedder.count_tokens([]) == []

    def test_stamp_is_stable_and_names_the_model(self) -> None:
        stamp = self.make_embedder().stamp
        assert stamp == self.make_embedder().stamp
        assert stamp.name
        assert len(stamp.sha256) == 64
        assert stamp.dimensions % 8 == 0
        assert stamp.token_format == _SIGN_CODES

    def test_every_text_however_odd_gets_a_unit_vector_and_codes_of_the_right_shape(self) -> None:
        embedder = self.make_embedder()
        for text, embedding in zip(ODD_TEXTS, embedder.embed(ODD_TEXTS), strict=True):
            vector, tokens = embedding.vector, embedding.tokens
            assert vector.shape == (embedder.stamp.dimensions,), text
            assert vector.dtype == np.float32
            assert abs(float(np.linalg.norm(vector.astype(np.float64))) - 1) <= 1e-5, text
            assert tokens.signs.dtype == np.uint8
            assert tokens.scales.dtype == np.float16
            assert tokens.signs.shape == (len(tokens.scales), embedder.stamp.dimensions // 8), text
            assert np.isfinite(tokens.scales).all(), text
            assert (tokens.scales > 0).all(), text

    def test_a_text_has_the_same_bits_alone_in_company_in_any_order_and_in_any_thread(self) -> None:
        embedder = self.make_embedder()
        texts = [*ODD_TEXTS, *(f"{text} and more of the same kind" for text in ODD_TEXTS)]
        together = [_bits(embedding) for embedding in embedder.embed(texts)]
        backwards = [_bits(embedding) for embedding in embedder.embed(texts[::-1])][::-1]
        alone = [_bits(embedder.embed([text])[0]) for text in texts]
        with ThreadPoolExecutor(4) as pool:
            threaded = [_bits(found[0]) for found in pool.map(lambda text: embedder.embed([text]), texts)]
        assert together == backwards == alone == threaded

    def test_same_text_twice_gives_the_same_bits_twice(self) -> None:
        first, second = self.make_embedder().embed(["the same", "the same"])
        assert _bits(first) == _bits(second)

    def test_texts_that_share_words_are_nearer_than_texts_that_do_not(self) -> None:
        question, near, far = self.make_embedder().embed(
            ["restore the database from a backup", "how to restore a database backup", "cats sleep on warm windows"]
        )
        assert float(question.vector @ near.vector) > float(question.vector @ far.vector)

    def test_punctuation_leaves_no_token_codes(self) -> None:
        marks, plain, dressed = self.make_embedder().embed(["... !? --", "backup", "«backup», (…)"])
        assert len(marks.tokens.scales) == 0
        assert len(plain.tokens.scales) == len(dressed.tokens.scales) > 0

    def test_counting_does_not_stop_at_the_window_and_does_not_depend_on_company(self) -> None:
        embedder = self.make_embedder()
        n_words = embedder.stamp.window_tokens * 3
        long, short = "word " * n_words, "word"
        assert embedder.count_tokens([long])[0] >= n_words
        assert embedder.count_tokens([long, short]) == embedder.count_tokens([long]) + embedder.count_tokens([short])

    def test_a_text_that_fills_the_window_is_embedded_and_one_token_more_is_refused(self) -> None:
        embedder = self.make_embedder()
        window = embedder.stamp.window_tokens
        n_specials = embedder.count_tokens([""])[0]
        full = " ".join(["a"] * (window - n_specials))
        assert embedder.count_tokens([full]) == [window]
        assert len(embedder.embed([full])[0].tokens.scales) == window - n_specials
        message = _refusal_of(embedder, full + " a")
        assert str(window) in message
        assert str(window + 1) in message

    def test_query_tokens_are_unit_vectors_each_with_its_whole_word_as_written(self) -> None:
        embedder = self.make_embedder()
        question = "How do I un-quarantine ERR_CONN-17 नमस्ते, Überraschung?"
        query = embedder.embed_query(question)
        assert query.token_vectors.dtype == np.float32
        assert query.token_vectors.shape == (len(query.words), embedder.stamp.dimensions)
        norms = np.linalg.norm(query.token_vectors.astype(np.float64), axis=1)
        assert np.abs(norms - 1).max() <= 1e-5
        assert abs(float(np.linalg.norm(query.vector.astype(np.float64))) - 1) <= 1e-5
        assert {"How", "quarantine", "ERR", "17", "Überraschung"} <= set(query.words)
        assert all(word in question for word in query.words)

    def test_coverage_is_a_share_and_whole_where_there_is_nothing_to_cover(self) -> None:
        embedder = self.make_embedder()
        assert all(0 <= embedder.coverage(text) <= 1 for text in ("plain words", "नमस्ते", "2019 ?!", "ab क"))
        assert embedder.coverage("") == embedder.coverage("?! 12") == embedder.coverage("plain words") == 1

    def test_an_odd_question_is_embedded_too(self) -> None:
        embedder = self.make_embedder()
        for text in ODD_TEXTS:
            query = embedder.embed_query(text)
            assert query.token_vectors.shape == (len(query.words), embedder.stamp.dimensions), text
            assert np.isfinite(query.token_vectors).all()

    def test_a_question_over_the_window_is_cut_at_the_window(self) -> None:
        embedder = self.make_embedder()
        n_kept = embedder.stamp.window_tokens - embedder.count_tokens([""])[0]
        full = " ".join(["a"] * n_kept)
        cut = embedder.embed_query(full + " zebra" * 50)
        assert "zebra" not in cut.words
        assert len(cut.words) == n_kept
        assert cut.vector.tobytes() == embedder.embed_query(full).vector.tobytes()


def _refusal_of(embedder: Embedder, text: str) -> str:
    try:
        embedder.embed(["short", text])
    except ValueError as error:
        return str(error)
    raise AssertionError("a text over the window was embedded")


def _bits(embedding: Embedding) -> tuple[bytes, bytes, bytes]:
    return embedding.vector.tobytes(), embedding.tokens.signs.tobytes(), embedding.tokens.scales.tobytes()
