"""Sets are loaded whole or refused with file and line."""

from __future__ import annotations

import json

import pytest
from tests.eval.made import EXAMPLES, SHARED

from gawah.errors import UsageError
from gawah.eval import CollectionError, load_collection, load_queries, load_unanswerable

ROW = {"id": "q1", "query": "How long?", "needle": "It lasts four hours.", "document": "deep/a.md"}


def write_set(folder, *rows, corpus="corpus", unanswerable=()):
    (folder / corpus).mkdir()
    for name, lines in (("queries.jsonl", rows), ("unanswerable.jsonl", unanswerable)):
        text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_a_set_is_loaded_with_every_field_kept(tmp_path):
    row = {
        **ROW,
        "kind": "table",
        "phrasing": "ticket",
        "page": 3,
        "needle_cells": ["a", "b"],
        "lang": "hi",
        "section": "",
    }
    folder = write_set(tmp_path, row, unanswerable=[{"id": "u1", "query": "Who?", "kind": "near", "plausible": "x"}])
    found = load_collection(folder)
    (query,) = found.queries
    assert found.name == tmp_path.name
    assert found.corpus_dir == tmp_path / "corpus"
    assert (query.kind, query.phrasing, query.page, query.needle_cells) == ("table", "ticket", "3", ("a", "b"))
    assert dict(query.extras) == {"lang": "hi"}
    assert dict(found.unanswerable[0].extras) == {"plausible": "x"}


def test_fields_may_be_absent_and_so_may_unanswerable_questions(tmp_path):
    folder = write_set(tmp_path, ROW)
    (folder / "unanswerable.jsonl").unlink()
    found = load_collection(folder)
    assert (found.queries[0].kind, found.queries[0].phrasing, found.unanswerable) == ("prose", "own", ())


def test_the_documents_may_be_in_the_only_other_folder(tmp_path):
    assert load_collection(write_set(tmp_path, ROW, corpus="handbook")).corpus_dir == tmp_path / "handbook"


def test_a_set_with_no_or_several_folders_is_refused_unless_one_is_named(tmp_path):
    folder = write_set(tmp_path, ROW, corpus="one")
    (folder / "two").mkdir()
    with pytest.raises(CollectionError, match="one, two"):
        load_collection(folder)
    assert load_collection(folder, corpus_dir=folder / "two").corpus_dir == folder / "two"


def test_of_several_folders_the_one_with_the_documents_is_the_corpus(tmp_path):
    folder = write_set(
        tmp_path,
        ROW,
        {**ROW, "id": "q2", "document": "notes.zip/inner/b.md"},
        {**ROW, "id": "q3", "document": "."},
        corpus="four",
    )
    for name, files in (("one", ["deep"]), ("two", ["deep", "notes.zip"]), ("three", [])):
        (folder / name).mkdir()
        for file in files:
            (folder / name / file).touch()
    assert load_collection(folder).corpus_dir == folder / "two"
    (folder / "one" / "notes.zip").touch()
    with pytest.raises(CollectionError, match=r"of its other folders \(four, one, three, two\)"):
        load_collection(folder)


def test_questions_of_another_name_have_their_own_ones_to_refuse(tmp_path):
    folder = write_set(tmp_path, ROW, unanswerable=[{"id": "u1", "query": "Who?", "kind": "far"}])
    (folder / "more.jsonl").write_text(json.dumps(ROW), encoding="utf-8")
    assert [query.id for query in load_collection(folder, queries_name="more.jsonl").unanswerable] == ["u1"]
    (folder / "more-unanswerable.jsonl").write_text('{"id": "m1", "query": "Who?", "kind": "far"}', encoding="utf-8")
    assert [query.id for query in load_collection(folder, queries_name="more.jsonl").unanswerable] == ["m1"]
    assert [query.id for query in load_collection(folder).unanswerable] == ["u1"]


def test_a_byte_order_mark_blank_lines_and_crlf_are_no_error(tmp_path):
    path = tmp_path / "queries.jsonl"
    path.write_bytes(
        b"\xef\xbb\xbf" + json.dumps(ROW).encode() + b"\r\n\r\n" + json.dumps({**ROW, "id": "q2"}).encode()
    )
    assert [query.id for query in load_queries(path)] == ["q1", "q2"]


def test_a_line_separator_inside_a_string_ends_no_line(tmp_path):
    path = tmp_path / "queries.jsonl"
    path.write_text(json.dumps({**ROW, "query": "a\u2028b\u0085c"}, ensure_ascii=False), encoding="utf-8")
    assert load_queries(path)[0].query == "a\u2028b\u0085c"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "q9", ', "not JSON at character"),
        ("[1]", "a JSON object is wanted, not a list"),
        ("null", "not null"),
        ("[" * 100_000, "nested too deeply"),
        ('{"id": ' + "9" * 5000 + "}", "digits"),
        (json.dumps({**ROW, "needle": None}), "'needle' is missing"),
        (json.dumps({**ROW, "needle": " \n"}), "'needle' is blank"),
        (json.dumps({**ROW, "query": 7}), "'query' must be a string, not a number"),
        (json.dumps({**ROW, "page": True}), "'page' must be a string"),
        (json.dumps({**ROW, "needle_cells": "a|b"}), "'needle_cells' must be a list"),
        (json.dumps({**ROW, "needle_parts": ["a", " "]}), "'needle_parts' must be a list"),
        ('{"id": "q9", "query": "\\ud800", "needle": "n", "document": "a.md"}', "half a character"),
        (json.dumps(ROW), "the id 'q1' is also in line 1"),
    ],
)
def test_a_line_that_cannot_be_used_is_named_with_its_number(tmp_path, line, message):
    path = tmp_path / "queries.jsonl"
    path.write_text(f"{json.dumps(ROW)}\n\n{line}\n", encoding="utf-8")
    with pytest.raises(CollectionError, match=message) as caught:
        load_queries(path)
    assert f"{path}:3: " in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_utf_8_are_named_with_their_line(tmp_path):
    path = tmp_path / "queries.jsonl"
    path.write_bytes(json.dumps(ROW).encode() + b'\n{"id": "\xff"}\n')
    with pytest.raises(CollectionError, match=":2: not UTF-8"):
        load_queries(path)


def test_an_unanswerable_question_needs_a_kind(tmp_path):
    path = tmp_path / "unanswerable.jsonl"
    path.write_text('{"id": "u1", "query": "Who?"}\n', encoding="utf-8")
    with pytest.raises(CollectionError, match=":1: the field 'kind' is missing"):
        load_unanswerable(path)


def test_an_empty_set_is_refused(tmp_path):
    with pytest.raises(CollectionError, match="at least one question"):
        load_collection(write_set(tmp_path))


def test_a_set_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(CollectionError, match="no evaluation set"):
        load_collection(tmp_path / "nowhere")
    with pytest.raises(CollectionError, match="cannot read"):
        load_collection(tmp_path)


def test_an_id_in_both_files_is_refused(tmp_path):
    folder = write_set(tmp_path, ROW, unanswerable=[{"id": "q1", "query": "Who?", "kind": "far"}])
    with pytest.raises(CollectionError, match=r"'q1' is also in queries\.jsonl"):
        load_collection(folder)


def test_a_bad_set_is_the_callers_mistake():
    assert issubclass(CollectionError, UsageError)
    assert CollectionError.exit_code == 2


def test_the_projects_own_set_is_complete():
    found = load_collection(EXAMPLES)
    kinds = [query.kind for query in found.unanswerable]
    assert (len(found.queries), kinds.count("near"), kinds.count("far")) == (64, 21, 9)
    assert found.corpus_dir == EXAMPLES / "handbook"


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared evaluation sets are not beside this checkout")
@pytest.mark.parametrize(
    ("name", "n"), [("rustbook", 64), ("etcd", 64), ("unanswerable", 300), ("multilingual/hi", 200)]
)
def test_shared_sets_are_loaded(name, n):
    assert len(load_collection(SHARED / name).queries) == n


def test_of_several_folders_the_one_that_holds_the_documents_of_the_questions_is_the_corpus(tmp_path):
    folder = write_set(tmp_path, ROW, corpus="pages")
    (folder / "pages" / "deep").mkdir()
    (folder / "pages" / "deep" / "a.md").touch()
    (folder / "pictures").mkdir()
    assert load_collection(folder).corpus_dir == folder / "pages"
