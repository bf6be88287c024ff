"""The choice of chunker as one value: what it is called, what it cuts, and what ingest writes down of it."""

import pytest
from tests.chunk.markdown_blocks import document_of

from gawah.chunk import Chunking, chunk_document, reference_chunks
from gawah.errors import UsageError

TEXT = "# Fees\n\nBefore the first section.\n\n## Late\n\nWho pays late pays 2 EUR more.\n\n## Early\n\nNobody does.\n"


def ingested(app, root):
    return list(app.ingest(app.plan(root)))


def test_the_default_is_the_block_aware_form_of_e():
    assert Chunking().name == "blocks-E/1"
    assert Chunking("B", "reference", 256).name == "reference-B-256/1"
    assert [Chunking(letter).repeats_words for letter in "ABCDEF"] == [False, True, False, True, False, True]


def test_an_unknown_strategy_is_named():
    with pytest.raises(UsageError, match="no chunking strategy 'G'"):
        _ = Chunking("G").name


@pytest.mark.parametrize("letter", "ABCDEF")
@pytest.mark.parametrize("rules", ["blocks", "reference"])
def test_an_application_indexes_by_the_chunking_it_is_given(make_app, folder, letter, rules):
    app = make_app(chunking=Chunking(letter, rules))
    (record,) = ingested(app, folder({"fees.md": TEXT}))
    assert record.stamp.chunker == f"{rules}-{letter}/1"
    with app.catalog.snapshot() as snapshot:
        document = snapshot.load_document(record.no)
        chunks = snapshot.chunks_of(record.no)
    count, window = app.embedder.count_tokens, app.embedder.stamp.window_tokens
    if rules == "reference":
        expected = reference_chunks(document, "fees", strategy=letter, count_tokens=count)
    else:
        expected = chunk_document(document, count_tokens=count, window_tokens=window, strategy=letter)
    assert chunks == expected


def test_documents_of_another_chunking_are_stale(make_app, folder):
    root = folder({"fees.md": TEXT})
    ingested(make_app(), root)
    other = make_app(chunking=Chunking("A"))
    assert [item.why for item in other.plan(root).work] == ["stale"]
    ingested(other, root)
    assert other.plan(root).work == ()


def test_a_reference_chunk_over_the_window_is_counted_as_truncated():
    document = document_of("# T\n\n" + "word " * 90)
    chunking = Chunking("E", "reference")

    def count(texts):
        return [len(text.split()) for text in texts]

    chunks = chunking.chunks(document, count_tokens=count, window_tokens=50)
    judged = chunking.audit(document, chunks, count_tokens=count, window_tokens=50)
    assert judged.n_truncated == judged.n_over_before_guard == 1
