"""The growth benchmark: its texts are whole, its slopes are slopes, its page has what was measured."""

import gzip

import numpy as np
import pytest
from bench.scale.__main__ import exponents
from bench.scale.page import as_markdown
from bench.scale.text import PASSAGE_CHARS, _passages_of, _roff, sentences_of

LEGS = ("dense", "bm25", "fuse", "rerank", "passages", "evidence", "exactness", "dense of a seventh", "dense by scan")


def asked(n, p50, p95=9.0):
    spread = {"p50": p50, "p95": p95}
    return {
        "chunks": n,
        "query": spread,
        "query_cpu": spread,
        "legs": dict.fromkeys(LEGS, spread),
        "recall": {"@10": 1.0, "@25": 0.998, "@100": 0.99},
        **dict.fromkeys(
            ("open_cold_ms", "open_warm_ms", "first_answer_cold_ms", "anonymous_mib", "with_mapped_files_mib"), 12.0
        ),
    }


def test_no_word_of_a_text_is_lost_between_passages():
    text = "\n\n".join(" ".join(f"word{line}x{at}" for at in range(line % 170 + 12)) for line in range(60))
    found = [passage for _, passage in _passages_of("a file", text)]
    assert " ".join(found).split() == text.split()
    assert max(map(len, found)) <= PASSAGE_CHARS + 1
    assert " ".join(sentences_of(found[0])).split() == found[0].split()


def test_a_manual_page_keeps_its_words_and_loses_its_macros(tmp_path):
    page = tmp_path / "ls.1.gz"
    page.write_bytes(gzip.compress(b".TH LS 1\n.SH NAME\nls \\- list \\fBdirectory\\fR contents\n.B \\-\\-all\n"))
    assert _roff(page).split() == ["NAME", "ls", "-", "list", "directory", "contents", "--all"]


def test_an_exponent_is_the_slope_of_the_logarithms():
    assert exponents([asked(10**k, 0.5 * 10**k) for k in (3, 4, 5)])["bm25"] == pytest.approx(1.0)
    assert exponents([asked(10**k, 7.0) for k in (3, 4)])["query"] == pytest.approx(0.0)
    assert exponents([asked(1000, 7.0)]) == {}


def test_the_page_has_a_column_for_each_size_and_one_for_graphs():
    grown = dict.fromkeys(("rows_per_s", "segments", "index_bytes_per_chunk", "catalog_bytes_per_chunk"), 5)
    grown |= {"peak_anonymous_mib": 6, "memory_before_mib": 4, "bytes_per_chunk": {"vectors.npy": 1536.0}}
    page = as_markdown(
        {
            "real_passages": 13,
            "machine": {"cores": 2, "load": 0.5},
            "analysed_per_s": 4000,
            "grown": [grown, grown],
            "asked": [asked(1000, 1.25), asked(10_000, 12.5)],
            "hnsw": {
                "build": {"graphs": 3, "seconds": 9.5, "bytes": 10**6, "peak_anonymous_mib": 7},
                "asked": asked(10_000, 3.0),
            },
            "exponents": {"query": np.float64(1.0)},
        }
    )
    assert "| whole query, ms p50 / p95 (n^1.0) | 1.2 / 9.0 | 12.5 / 9.0 | 3.0 / 9.0 |" in page
    assert "| chunks | 1,000 | 10,000 | 10,000 hnsw |" in page
    assert "recall @25 | 0.998" in page
