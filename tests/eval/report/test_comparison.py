"""Two runs side by side: the comparisons of the deploy gate, and who changed sides."""

from __future__ import annotations

import pytest
from tests.eval.conftest import QUERIES
from tests.eval.report.parsed import by_first, tables, tree

from gawah.errors import UsageError
from gawah.eval.baseline import compare_lines
from gawah.eval.record import read_baseline
from gawah.eval.report import read_facts
from gawah.eval.report.comparison import comparison_section

TEN = [{**QUERIES[0], "id": f"q{n}", "query": f"How much is the membership fee, version {n}?"} for n in range(10)]
PAIRED = "Paired comparisons with the baseline."
CHANGED = "Questions of which this holds now only, or held before only."


def lose(n):
    """Not found by rrf: the first n questions."""

    def change(line):
        if line["id"] in {f"q{k}" for k in range(n)}:
            line["systems"]["rrf"]["rank"] = None

    return change


@pytest.mark.parametrize(("n", "p", "verdict"), [(5, "0.0625", "no difference shown"), (6, "0.0312", "worse")])
def test_a_loss_is_worse_when_chance_does_not_explain_it(run_folder, rewrite, n, p, verdict):
    """Two-sided: 2 * 0.5^6 = 0.03125, 2 * 0.5^5 = 0.0625; eighteen tests are one family for Holm."""
    before, after = run_folder("before", queries=TEN), rewrite(run_folder("after", queries=TEN), line=lose(n))
    made = comparison_section(read_facts(after), read_facts(before))
    row = by_first(tables(made)[PAIRED])["rrf recall@1"]
    assert (row["better"], row["worse"], row["same"], row["p"], row["so"]) == ("+0", f"−{n}", str(10 - n), p, verdict)
    assert float(row["p (Holm)"]) == pytest.approx(min(1, 18 * 2 * 0.5**n), abs=5e-5)
    marked = [r for r in tree(made).all("tr") if r.attributes.get("class") == "marked"]
    assert len(marked) == (4 if verdict == "worse" else 0)


def test_the_table_holds_the_comparisons_of_the_deploy_gate(examples_folder):
    ours, theirs = examples_folder("calibrated"), examples_folder("reference")
    facts, before = read_facts(ours), read_facts(theirs)
    made = comparison_section(facts, before)
    rows = by_first(tables(made)[PAIRED])
    for name, one in compare_lines(facts.written.lines, list(facts.metrics.systems), read_baseline(theirs)).items():
        if one.wins or one.losses:
            assert (rows[name]["better"], rows[name]["worse"], rows[name]["same"]) == (
                f"+{one.wins}",
                f"−{one.losses}",
                str(one.ties),
            )
        else:
            assert name not in rows
            assert name in tree(made).text
    differs = by_first(tables(made)["What differs between the runs."])
    ours_at, theirs_at = (f"{one.metrics.gate.threshold:.3f}".replace("-", "−") for one in (facts, before))
    assert differs["gate"]["this run"] == f"calibrated, threshold {ours_at}"
    assert differs["gate"]["baseline"] == f"reference, threshold {theirs_at}"


def test_questions_that_changed_sides_are_named(run_folder):
    before = run_folder("before", gate="reference", gate_threshold=0.0)
    after = run_folder("after", gate="reference", gate_threshold=2.0)
    rows = by_first(tables(comparison_section(read_facts(after), read_facts(before)))[CHANGED])
    assert rows["answerable and answered"] == {"": "answerable and answered", "now": "fee, boat", "before": "none"}
    assert rows["to be refused and refused"] == {"": "to be refused and refused", "now": "none", "before": "u1, u2"}


def test_a_run_is_like_itself(run_folder):
    facts = read_facts(run_folder())
    made = comparison_section(facts, facts)
    assert PAIRED not in tables(made)
    assert "Both runs are of the same set, chunker, model and gate." in made


def test_a_baseline_over_other_questions_is_refused(run_folder):
    with pytest.raises(UsageError, match="a run over other questions"):
        comparison_section(read_facts(run_folder("a")), read_facts(run_folder("b", queries=QUERIES[:1])))
