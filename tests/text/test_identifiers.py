"""Identifier terms: whole and in parts, in a namespace of their own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.text import NAMESPACE, analyze, identifier_terms, query_terms


def found_by(question, text):
    """The identifier terms a question asks for and a text has."""
    asked = {term for term in query_terms(question) if term.startswith(NAMESPACE)}
    return asked & set(identifier_terms(text))


def test_the_terms_of_an_identifier():
    assert identifier_terms("ERR_CONN-17") == ["\x1f=err_conn-17", "\x1f~errconn17"]
    assert identifier_terms("--max-txn-ops") == ["\x1f=max-txn-ops", "\x1f~maxtxnops"]
    assert identifier_terms("v3.6.1") == ["\x1f=v3.6.1", "\x1f~3.6.1"]
    assert identifier_terms(".snap.db.") == ["\x1f=snap.db", "\x1f~snapdb"]
    assert identifier_terms("std::io::Error") == ["\x1f=std::io::error", "\x1f~stdioerror"]
    assert identifier_terms("BorrowMutError") == ["\x1f~borrowmuterror", "\x1f+borrow", "\x1f+mut", "\x1f+error"]
    assert "\x1f=10.0.0.1" in identifier_terms("10.0.0.1:2379")


@pytest.mark.parametrize(
    "text",
    ["", "Plain words only, and 42.", "e.g. the U.S. and i.e.", "URLs", "a -- b", "...", "it's", "東京都庁",
             "हिंदी में बैकअप", "عَلی کُل", "cafe\u0301 A\u0301b"],
)  # fmt: skip
def test_plain_words_have_none(text):
    assert identifier_terms(text) == []


@pytest.mark.parametrize(
    "identifier",
    ["ERR_CONN-17", "v3.6", "--max-txn-ops", "CamelCase", "std::io::Error", "snap.db", "10.0.0.1:2379", "CVE-2018-5702",
     "wal_fsync_duration_seconds", "StopGRPCServiceOnDefrag", "iPhone", "/etc/etcd/etcd.conf", "x_1", "naïve_Größe"],
)  # fmt: skip
def test_an_identifier_is_found_whole_and_by_its_parts(identifier):
    text = f"Set `{identifier}`, then go on."
    assert found_by(f"what does {identifier} mean for the cluster today", text)
    plain = set(analyze(text)) | {term[2:] for term in identifier_terms(text)}
    for part in analyze(identifier):
        assert part in plain


@pytest.mark.parametrize(
    "question", ["borrow", "mut error", "borrow mut error", "the error", "BorrowMutError", "borrow_mut_error"]
)
def test_camel_case_is_found_by_a_lookup_of_its_words_and_by_other_spellings(question):
    assert found_by(question, "panicked with `already borrowed: BorrowMutError`")


@pytest.mark.parametrize(
    ("question", "text"),
    [("max_txn_ops", "--max-txn-ops"), ("max-txn-ops", "max_txn_ops"), ("maxTxnOps", "--max-txn-ops"), ("3.6.1", "v3.6.1"),
     ("max txn ops", "--max-txn-ops"), ("10.0.0.1", "http://10.0.0.1:2379/v3"), ("snap.db", "/var/lib/member/snap/snap.db")],
)  # fmt: skip
def test_other_spellings_of_an_identifier_are_found(question, text):
    assert found_by(question, text)


def test_the_exact_spelling_matches_more_than_another():
    exact, other = found_by("max-txn-ops", "--max-txn-ops"), found_by("max-txn-ops", "max_txn_ops")
    assert other < exact


def test_numbers_are_not_run_together():
    assert not found_by("1.11", "11.1")


def test_a_long_path_does_not_explode():
    path = "/".join(f"PartNumber{n}_x" for n in range(1000))
    assert len(identifier_terms(path)) < 100
    assert len(identifier_terms("CamelCase" * 1000)) < 100
    url = "https://example.org/" + "a/" * 100_000
    assert len(identifier_terms(url)) < 100


@given(st.text())
def test_no_identifier_term_is_a_term_of_plain_text(text):
    for term in identifier_terms(text):
        assert term[0] == NAMESPACE
        assert term[1] in "=~+"
        assert analyze(term) != [term]
        assert " " not in term


@given(st.lists(st.sampled_from(["the", "raft", "Leader", "elects", "a", "member", "42"]), max_size=12).map(" ".join))
def test_plain_text_has_no_identifier_terms(text):
    assert identifier_terms(text) == []


@given(st.text(st.sampled_from("aB1é_-.:/\\@ ’ß²")))
def test_the_pattern_for_simple_texts_finds_what_the_full_one_finds(text):
    assert identifier_terms(text) == identifier_terms(text + " ह")


def test_large_odd_texts_take_linear_time():
    n = 1 << 20
    for odd in ("a" * n, "_" * n, "a" + "_" * n, "a_" * (n // 2), "aB" * (n // 2), "A" * n, ":" * n, "漢" * n, "é" * n):
        assert len(identifier_terms(odd)) < 100
    assert identifier_terms("a1.b2 " * 1000).count("\x1f=a1.b2") == 1000
