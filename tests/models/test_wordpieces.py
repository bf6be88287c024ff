"""Nothing is cut, words are whole as written, and only pieces that carry meaning are kept."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.small_checkpoint import small_tokenizer, write_checkpoint
from tokenizers import Tokenizer

from gawah.models.checkpoint import find_checkpoint
from gawah.models.wordpieces import WordPieces, has_word_character

PLAIN = small_tokenizer()
PLAIN.no_truncation()
PLAIN.no_padding()
TEXTS = st.text(alphabet=st.sampled_from("ab1!?., \n-_नम्\u0301éÉ[]CLSPAD🎉\u200d"), max_size=60)
# Of these every word stays as the tokenizer cuts it: Latin letters (romanised Hindi too), single letters, Han, digits.
LATIN_TEXTS = st.text(alphabet=st.sampled_from("ab1!?., \n-_e\u0301éÉ१[]CLSPAD🎉\u200d漢字"), max_size=60)


@pytest.fixture(scope="module")
def pieces(tmp_path_factory: pytest.TempPathFactory) -> WordPieces:
    folder = tmp_path_factory.mktemp("model")
    write_checkpoint(folder, config={"max_position_embeddings": 64})
    return WordPieces(find_checkpoint(str(folder), cache_directory=folder / "cache"))


def test_the_truncation_and_padding_of_the_file_are_off(pieces: WordPieces, tmp_path: Path) -> None:
    write_checkpoint(tmp_path)
    stored = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert len(stored.encode("a " * 50)) == len(stored.encode("a")) == 16  # the trap
    assert pieces.count(["a " * 50, "a"]) == [52, 3]
    assert len(pieces.split(["a " * 30])[0].ids) == 32


def test_a_text_over_the_window_is_refused_by_name(pieces: WordPieces) -> None:
    with pytest.raises(ValueError, match=r"33 tokens is over the window of 32: 'zz a a a"):
        pieces.split(["a", "zz " + "a " * 29])


def test_a_worked_example_of_what_is_kept(pieces: WordPieces) -> None:
    (found,) = pieces.split(["backups, a-b!"])  # [CLS] backup ##s , a - b ! [SEP]
    assert len(found.ids) == 9
    assert found.kept.tolist() == [1, 2, 4, 6]


def test_special_tokens_are_left_out_even_where_the_text_spells_them(pieces: WordPieces) -> None:
    (found,) = pieces.split(["[CLS] a [PAD] [SEP] b [MASK]"])
    assert found.kept.tolist() == [2, 5]


def test_an_unknown_word_is_kept_and_an_unknown_symbol_is_not(pieces: WordPieces) -> None:
    (found,) = pieces.split(["ⴰⵎⴰⵣⵉⵖ a 🎉"])  # both are [UNK] to the vocabulary
    assert found.ids.tolist()[1] == found.ids.tolist()[3]
    assert found.kept.tolist() == [1, 2]


def test_words_are_whole_as_written(pieces: WordPieces) -> None:
    _, words = pieces.split_question("Backups of ERR_CONN-17, É!")
    assert words == ("Backups", "Backups", "of", "of", *["ERR"] * 3, *["CONN"] * 4, "17", "17", "É")


def test_marks_that_the_tokenizer_drops_stay_in_the_word(pieces: WordPieces) -> None:
    found, words = pieces.split_question("नम् e\u0301 a\u200d")
    assert words == ("नम्", "e\u0301", "a")
    assert len(found.ids) == 5


def test_a_word_of_an_unread_script_is_one_unknown_piece(pieces: WordPieces) -> None:
    text = "नमन, नमन्न्-a ERR_नमन न नa न1 १"
    (found,) = pieces.split([text])
    unknown = PLAIN.token_to_id("[UNK]")
    plain = PLAIN.encode("[UNK], [UNK]-a ERR_[UNK] न नa न1 १").ids
    assert found.ids.tolist() == plain
    assert plain.count(unknown) >= 3
    assert pieces.count([text]) == [len(plain)]


def test_a_question_is_cut_at_the_window_and_keeps_the_final_special(pieces: WordPieces) -> None:
    found, words = pieces.split_question("a " * 29 + "bb cc dd")
    assert len(found.ids) == 32
    assert found.ids[-1] == 3
    assert words == ("a",) * 29 + ("bb",)


@given(text=TEXTS)
def test_counts_agree_with_what_is_embedded_and_a_question_reads_as_a_text(pieces: WordPieces, text: str) -> None:
    n = pieces.count([text])[0]
    assert n <= len(PLAIN.encode(text))
    if n <= 32:
        (found,) = pieces.split([text])
        question, words = pieces.split_question(text)
        assert len(found.ids) == n
        assert found.ids.tolist() == question.ids.tolist()
        assert found.kept.tolist() == question.kept.tolist()
        assert len(words) == len(found.kept)


@given(text=LATIN_TEXTS)
def test_text_that_may_be_read_keeps_every_piece(pieces: WordPieces, text: str) -> None:
    assert pieces.count([text]) == [len(PLAIN.encode(text))]
    if pieces.count([text])[0] <= 32:
        assert pieces.split([text])[0].ids.tolist() == PLAIN.encode(text).ids


@settings(deadline=None)
@given(text=LATIN_TEXTS)
def test_kept_pieces_equal_those_the_plain_rule_keeps(pieces: WordPieces, text: str) -> None:
    encoding = PLAIN.encode(text)
    if len(encoding) > 32:
        return
    (found,) = pieces.split([text])
    assert found.ids.tolist() == encoding.ids
    expected = []
    for place, (token, flag, (start, end)) in enumerate(
        zip(encoding.tokens, encoding.special_tokens_mask, encoding.offsets, strict=True)
    ):
        written = text[start:end] if token == "[UNK]" else token
        special = flag or token in {"[CLS]", "[SEP]", "[PAD]", "[MASK]"}
        if not special and any(unicodedata.category(character)[0] in {"L", "N", "M"} for character in written):
            expected.append(place)
    assert found.kept.tolist() == expected


@settings(deadline=None)
@given(text=TEXTS)
def test_every_word_stands_in_the_question_in_order_and_ends_before_the_next(pieces: WordPieces, text: str) -> None:
    found, words = pieces.split_question(text)
    assert len(words) == len(found.kept)
    at, previous = 0, None
    for word in words:
        if word != previous:
            at = text.index(word, at)
            previous = word
        assert has_word_character(word)


@given(texts=st.lists(TEXTS, max_size=5))
def test_counting_is_additive_over_texts(pieces: WordPieces, texts: list[str]) -> None:
    assert pieces.count(texts) == [n for text in texts for n in pieces.count([text])]


def test_a_megabyte_in_one_line_is_counted(pieces: WordPieces) -> None:
    assert pieces.count(["a" * 1_000_000]) == [3]
    assert pieces.count(["a " * 500_000]) == [500_002]
