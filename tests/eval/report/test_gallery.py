"""The questions that went wrong: each once, worst first, with what was wanted and what came instead."""

from __future__ import annotations

from dataclasses import replace

from tests.eval.conftest import QUERIES
from tests.eval.report.parsed import tree

from gawah.eval.report import read_facts
from gawah.eval.report.gallery import SHOWN, failures_of, gallery_section


def test_every_failure_is_in_the_gallery_once_and_nothing_else_is(measured_folder):
    facts = read_facts(measured_folder)
    shown = [question.id for kind in failures_of(facts) for question in kind.questions]
    wrong = {q.id for q in facts.answerable if q.gate.refused or not q.right or q.is_destroyed}
    wrong |= {q.id for q in facts.unanswerable if not q.gate.refused}
    assert sorted(shown) == sorted(wrong)


def test_as_many_bluffs_and_give_ups_as_in_the_metrics(measured_folder):
    facts = read_facts(measured_folder)
    bluffs, wrong, refused, _ = failures_of(facts)
    gate = facts.metrics.gate
    assert len(bluffs.questions) == round(gate.bluffs["all"].mean * gate.bluffs["all"].n)
    assert len(refused.questions) == round(gate.give_ups["all"].mean * gate.give_ups["all"].n)
    assert len(wrong.questions) == round((1 - gate.answered_right.mean) * gate.answered_right.n)


def test_the_surest_bluff_is_first_and_what_was_not_found_before_what_was(examples_folder):
    for gate, sign in (("reference", -1), ("calibrated", 1)):
        facts = read_facts(examples_folder(gate))
        bluffs, wrong, refused, _ = failures_of(facts)
        leads = [sign * (q.gate.score - q.gate.threshold) for q in bluffs.questions]
        assert leads == sorted(leads, reverse=True)
        system = facts.metrics.gate.system
        depths = [q.ranks[system] or 99 for q in wrong.questions]
        assert depths == sorted(depths, reverse=True)
        ranks = [q.ranks[system] or 99 for q in refused.questions]
        assert ranks == sorted(ranks)


def test_a_card_shows_the_needle_and_what_was_returned_and_the_rest_is_named(run_folder):
    queries = [{**QUERIES[0], "id": f"q{n}", "query": f"Fee number {n}?"} for n in range(SHOWN + 3)]
    facts = read_facts(run_folder(queries=queries, unanswerable=[], gate="reference", gate_threshold=0.0))
    whole = tree(gallery_section(facts))
    cards = whole.all("article")
    assert len(cards) == SHOWN
    assert "The membership fee is 40 EUR a month" in cards[0].all("blockquote")[0].text
    assert "fees.md" in cards[0].all("ol")[0].text
    assert "held back" in cards[0].text
    assert "Refused: nothing under cosine distance 0" in cards[0].text
    shown = {card.all("span")[0].text for card in cards}
    (rest,) = [node.text for node in whole.all("p") if node.text.startswith("Not shown")]
    assert {q["id"] for q in queries} == shown | set(rest.rstrip(".").split(": ")[1].split(", "))


def test_a_run_without_failures_says_so(run_folder):
    facts = read_facts(run_folder(unanswerable=[]))
    assert "every question was answered right" in gallery_section(facts)
    cut = replace(facts, questions=tuple(replace(q, is_destroyed=True) for q in facts.questions))
    assert "no chunk holds it whole" in gallery_section(cut)
