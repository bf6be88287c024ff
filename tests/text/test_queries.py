"""What a question asks the lexical index for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.text import NAMESPACE, STOP_WORDS, analyze, content_terms, exact_terms, query_terms


def plain(question, **options):
    return [term for term in query_terms(question, **options) if not term.startswith(NAMESPACE)]


def test_stop_words_are_left_out():
    question = "What is the cost of a serializable range request to etcd?"
    assert query_terms(question) == ["cost", "serializable", "range", "request", "etcd"]


def test_a_question_of_stop_words_only_keeps_them():
    assert query_terms("what is it") == ["what", "is", "it"]
    assert query_terms("To be, or not to be") == ["to", "be", "or", "not", "to", "be"]


def test_repeated_terms_stay_repeated():
    assert plain("leader and leader and follower") == ["leader", "leader", "follower"]


def test_contractions_leave_no_letters_behind():
    assert plain("Why doesn't Rust's compiler say what we've done?") == ["rust", "compiler", "say", "done"]
    assert plain("It’s etcd’s member we’re asking") == ["etcd", "member", "asking"]


def test_without_languages_nothing_is_left_out():
    assert plain("What is the leader of it", languages=()) == ["what", "is", "the", "leader", "of", "it"]
    assert plain("What is the leader of it", languages=("hi",)) == ["what", "is", "the", "leader", "of", "it"]


@pytest.mark.parametrize(
    "question",
    ["the trade-off of client-side caching in etcd clusters", "should reads and/or writes block the old leader"],
)
def test_english_compounds_are_not_identifiers(question):
    assert query_terms(question) == plain(question)


def test_stop_words_are_single_analyzed_terms():
    assert 120 <= len(STOP_WORDS) <= 190
    assert all(analyze(word) == [word] for word in STOP_WORDS)


@given(st.text())
def test_a_question_with_terms_has_query_terms_and_they_are_its_own(question):
    terms = plain(question, languages=())
    assert terms == analyze(question)
    assert bool(query_terms(question)) == bool(terms)
    assert set(plain(question)) <= set(terms)


@given(st.lists(st.sampled_from(["raft", "leader", "elects", "member", "quorum"]), min_size=4, max_size=12))
def test_a_question_in_plain_words_asks_for_plain_terms_only(words):
    assert query_terms(" ".join(words)) == words


@pytest.mark.parametrize(
    ("question", "content"),
    [
        ("कंपनी का मालिक कौन है?", ["कंपनी", "मालिक"]),
        ("گاڑی کا مالک کون ہے؟", analyze("گاڑی مالک")),
        ("Who is the owner of the company?", ["owner", "company"]),
        ("यह क्या है?", []),
        ("पंप और पंप", ["पंप"]),
    ],
)
def test_content_terms_are_what_a_question_is_about(question, content):
    assert content_terms(question) == content


@given(st.text())
def test_content_terms_are_terms_each_once_in_order(question):
    terms = content_terms(question)
    assert terms == [term for term in dict.fromkeys(analyze(question)) if term in set(terms)]


def test_the_index_is_asked_for_hindi_function_words_all_the_same():
    assert plain("मालिक कौन है") == ["मालिक", "कौन", "है"]


def test_what_a_question_names_letter_for_letter():
    assert exact_terms("what is error E0106 in BorrowMutError?") == [
        NAMESPACE + "~borrowmuterror",
        "e0106",
    ]
    assert exact_terms("how do I set --max-txn-ops to 128") == [NAMESPACE + "=max-txn-ops", NAMESPACE + "~maxtxnops"]
    assert exact_terms("what does the trade-off cost in 2023, and why?") == []
    assert exact_terms("E0106 e0106") == ["e0106"]
