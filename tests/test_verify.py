"""A recorded quote against its source as it is now: ok, moved, changed or missing."""

import sqlite3

import pytest

from gawah.types import Answer

TEXT = "# Boats\n\nThe boat leaves at seven. It returns at noon.\n\n## Fees\n\nThe fee is 40 EUR a month.\n"


@pytest.fixture
def cited(make_app, folder):
    """An application with one answer that cites boats.md, and the file."""
    app = make_app()
    root = folder({"boats.md": TEXT})
    list(app.ingest(app.plan(root)))
    outcome = app.ask("what is the fee a month")
    assert isinstance(outcome, Answer)
    return app, root / "boats.md", outcome


def statuses(app):
    return {check.status for check in app.verify()}


def test_an_untouched_source_is_ok(cited):
    app, _, outcome = cited
    assert statuses(app) == {"ok"}
    for citation in outcome.citations:
        assert citation.span.slice(TEXT) == citation.quote


def test_a_change_elsewhere_behind_the_quote_is_ok_and_said(cited):
    app, file, _ = cited
    file.write_text(TEXT + "\n## New\n\nA new section.\n", encoding="utf-8")
    checks = app.verify()
    assert {check.status for check in checks} == {"ok"}
    assert all("changed elsewhere" in check.detail for check in checks)


def test_words_that_stand_elsewhere_now_have_moved(cited):
    app, file, _ = cited
    text = "Preface, written later.\n\n" + TEXT
    file.write_text(text, encoding="utf-8")
    for check in app.verify():
        assert check.status == "moved"
        citation = next(c for c in app.catalog.load_answers()[0].body["citations"] if c["marker"] == check.marker)
        assert text[slice(*check.now)] == citation["quote"]


def test_of_two_places_the_one_in_the_same_surroundings_is_taken(cited):
    app, file, outcome = cited
    (fee,) = [citation for citation in outcome.citations if "40 EUR" in citation.quote]
    text = "Aside: " + fee.quote + "\n\nMore preface.\n\n" + TEXT
    file.write_text(text, encoding="utf-8")
    check = next(check for check in app.verify() if check.marker == fee.marker)
    assert check.now[0] == text.rindex(fee.quote)


def test_words_that_are_gone_have_changed(cited):
    app, file, _ = cited
    file.write_text(TEXT.replace("40 EUR", "45 EUR").replace("seven", "eight"), encoding="utf-8")
    assert statuses(app) == {"changed"}


def test_a_file_that_is_gone_is_missing_and_what_the_store_holds_is_said(cited):
    app, file, _ = cited
    file.unlink()
    checks = app.verify()
    assert {check.status for check in checks} == {"missing"}
    assert all("still holds" in check.detail for check in checks)


def test_a_file_that_cannot_be_read_any_more_is_missing(cited):
    app, file, _ = cited
    file.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    assert statuses(app) == {"missing"}


def test_a_reingest_does_not_rewrite_history(cited):
    app, file, _ = cited
    file.write_text(TEXT.replace("40 EUR", "45 EUR").replace("seven", "eight"), encoding="utf-8")
    list(app.ingest(app.plan(file.parent)))
    assert statuses(app) == {"changed"}


def test_an_answer_emptied_by_a_purge_has_nothing_to_check_and_the_chain_holds(cited):
    app, _, _ = cited
    assert app.purge(app.documents()).n_answers == 1
    assert app.verify() == []
    assert app.broken_links() == []


def test_a_log_that_was_cut_off_is_found_by_verify_and_doctor(cited):
    app, _, _ = cited
    assert app.log_fault() == ""
    with sqlite3.connect(app.catalog.path) as connection:
        connection.execute("DELETE FROM answer_documents")
        connection.execute("DELETE FROM answers")
    connection.close()
    assert app.broken_links() == []
    assert "1 are missing" in app.log_fault()
    (check,) = [check for check in app.examine() if check.name == "answer log"]
    assert not check.holds
    assert "missing" in check.detail
