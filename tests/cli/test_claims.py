"""Claims in print: a mark behind what the sources do not carry, and why."""

import json

import pytest
from tests.support.made import checked

from gawah.cite import resolve, without_marks
from gawah.cli.claims import claim_lines, marked_answer, narrower_places
from gawah.envelope import claim_json, mark_json
from gawah.testing.generator import ChatServer, make_source, stream_reply
from gawah.types import Claim, DraftPart, Missing, Span

FEE = "The fee is 40 EUR a year. Members pay nothing."


def body_of(answer, *contents):
    sources = [make_source(n, content, before="# T\n\n") for n, content in enumerate(contents, start=1)]
    resolved = resolve([DraftPart(answer)], sources)
    assert len(without_marks(resolved.text, resolved.marks)) == len(resolved.text)
    return {
        "answer": resolved.text,
        "claims": [claim_json(claim) for claim in checked(answer, *contents)],
        "marks": [mark_json(mark) for mark in resolved.marks],
        "self_check": None,
    }


SHOWN = [
    ("The fee is 40 EUR a year [1].", "The fee is 40 EUR a year [1]."),
    ("The fee is 41 EUR a year [1].", "The fee is 41 EUR a year [1]. (!)"),
    (
        "The fee is 41 EUR a year. [1] Members pay nothing [1].",
        "The fee is 41 EUR a year. [1] (!) Members pay nothing [1].",
    ),
    ("The fee is 41 EUR a year [1][1]", "The fee is 41 EUR a year [1][1] (!)"),
    ("- The fee is 41 EUR [1]\n- Members pay nothing [1]", "- The fee is 41 EUR [1] (!)\n- Members pay nothing [1]"),
    ("The fee is 40 EUR a year, https://evil.example [1].", "The fee is 40 EUR a year, https://evil.example [1]. (?)"),
    ("```\nfee = 41\n```\n[1]", "```\nfee = 41\n```\n[1] (!)"),
    ("The moon is full.", "The moon is full."),
]


@pytest.mark.parametrize(("answer", "shown"), SHOWN)
def test_a_mark_stands_behind_the_markers_of_its_claim(answer, shown):
    assert marked_answer(body_of(answer, FEE)) == shown


def test_lines_say_what_is_missing_and_from_where():
    lines = list(claim_lines(body_of("The fee is 41 EUR a year [1]. Members pay nothing [1]. The moon is full.", FEE)))
    assert lines[0] == "claims: 1 supported, 1 unsupported, 1 uncited"
    assert lines[1].startswith('  1. "The fee is 41 EUR a year [1].": unsupported (!), score 0.')
    assert lines[1].endswith("; the number 41 EUR is not in [1]")
    assert len(lines) == 2


def test_a_denial_a_link_and_samples_are_said():
    claim = Claim(Span(0, 4), (1, 2), "weak", 0.9, (Missing("negation", "says it is so"),), ("page 7",), (), 2)
    body = {"answer": "Yes.", "claims": [claim_json(claim)], "self_check": {"samples": 3, "failed": 1}}
    assert list(claim_lines(body)) == [
        "claims: 1 weak",
        "self-check: 3 further samples of the generator, 1 of them failed",
        '  1. "Yes.": weak (?), score 0.90; [1] or [2] denies what it says; page 7 is not from the sources; in 2 of 3 samples',
    ]


def test_all_supported_says_nothing():
    assert list(claim_lines(body_of("The fee is 40 EUR a year [1].", FEE))) == []


def test_answers_recorded_before_claims_were_checked_are_shown_as_they_were():
    old = {"answer": "The fee is 41 EUR [1].", "claims": [{"from": 0, "to": 22, "markers": [1], "status": "cited"}]}
    assert marked_answer(old) == old["answer"]
    assert marked_answer(old | {"marks": []}) == "The fee is 41 EUR ⟦1⟧."
    assert list(claim_lines(old)) == []


def test_ask_marks_refuses_and_samples(gawah, tmp_path):
    root = tmp_path / "docs"
    root.mkdir()
    (root / "fee.md").write_text(f"# Fees\n\n{FEE}\n", encoding="utf-8")
    gawah("ingest", root)
    with ChatServer(stream_reply("The fee is 41 EUR a year [1]. Members pay nothing [1].")) as server:
        settings = (
            "gate=reference",
            "gate_threshold=2",
            "generator=openai",
            f"openai_url={server.url}",
            "generator_model=m",
        )
        words = ["ask", "What is the fee?", *(word for setting in settings for word in ("--set", setting))]
        shown = gawah(*words)
        assert "41 EUR a year [1]. (!) Members pay nothing [1].\n" in shown.stdout.decode()
        assert "the number 41 EUR is not in [1]" in shown.stderr.decode()
        answer_id = shown.stderr.decode().split()[-1]
        assert gawah("show", answer_id).stdout == shown.stdout
        refused = json.loads(gawah(*words, "--strict", "--json", code=3).stdout)
        assert refused["refusal"]["reason"] == "unsupported"
        assert refused["refusal"]["unsupported"] == ["The fee is 41 EUR a year [1]."]
        sampled = json.loads(gawah(*words, "--self-check", "2", "--json").stdout)
        assert sampled["self_check"] == {"samples": 2, "failed": 0}
        assert [claim["agreeing"] for claim in sampled["claims"]] == [2, 2]
        strict = gawah(*words, "--set", "strict=true", code=3)
        assert strict.stdout.decode().startswith(
            "NO ANSWER: the answer that was written is not carried by its sources: "
        )


def test_under_a_quote_stands_where_in_it_the_words_are_that_carry_the_answer():
    def highlight(marker, start, end, **place):
        return {"marker": marker, "from": start, "to": end, **place}

    citation = {"marker": 1, "url": "file:///a.xlsx#sheet=S&range=A1:B9", "fragment": "#sheet=S&range=A1:B9"}
    row = {"locator": "S!A5:B5", "fragment": "#sheet=S&range=A5:B5"}
    whole = {"locator": "S!A1:B9", "fragment": citation["fragment"]}
    body = {
        "claims": [
            {"highlights": [highlight(1, 40, 50, **row), highlight(2, 0, 4, locator="x", fragment="#slide=2")]},
            {"highlights": [highlight(1, 10, 90, **whole), highlight(1, 40, 50, **row)]},
            {"highlights": [highlight(1, 2, 9)]},  # as earlier versions recorded it
            {},
        ]
    }
    assert narrower_places(body, citation) == [("S!A5:B5", "file:///a.xlsx#sheet=S&range=A5:B5")]
    assert narrower_places({"claims": []}, citation) == []
