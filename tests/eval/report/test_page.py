"""The page as a whole: the same bytes every time, nothing from outside, no words of a question become markup, and every
number is the run's own.
"""

from __future__ import annotations

import json
import re
import shutil

import pytest
from tests.eval.conftest import CORPUS, QUERIES, UNANSWERABLE
from tests.eval.report.parsed import Node, by_first, tables, tree

from gawah.eval.render import share
from gawah.eval.report import page, read_facts

pytest.importorskip("matplotlib", reason="the report needs matplotlib: pip install 'gawah[report]'")

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</article></style></title><style>*{display:none}",
    "&lt;b&gt; &amp; ]]> <!-- http://example.org/x.png",
    "\x00\x08\ud800\ufffe \u202e backwards",
    "$\\frac{1}{0}$ _underscore",
]
HINDI, URDU = "मैनिंग से पहले कौन थे?", "کشتی کس سال خریدی گئی تھی؟"
ALLOWED = {
    "html", "head", "meta", "title", "style", "body", "main", "header", "footer", "section", "h1", "h2", "h3", "p", "span",
    "dl", "dt", "dd", "div", "figure", "figcaption", "table", "caption", "thead", "tbody", "tr", "th", "td", "details",
    "summary", "article", "blockquote", "ol", "li", "cite", "svg", "g", "path", "defs", "use", "text", "clippath", "rect",
}  # fmt: skip


def rendered(folder, before=None):
    return page(read_facts(folder), read_facts(before) if before else None)


def rate(of):
    """A proportion of metrics.json as a table has it."""
    if not of["n"]:
        return "none asked"
    return f"{of['k']}/{of['n']} {share(of['k'] / of['n'])} [{share(of['low'])}, {share(of['high'])}]"


def metrics_in(folder):
    return json.loads((folder / "metrics.json").read_text(encoding="utf-8"))


def test_the_same_run_gives_the_same_bytes_wherever_it_lies_and_whatever_matplotlib_is_set_to(
    measured_folder, measured_page, tmp_path
):
    import matplotlib as mpl

    copy = shutil.copytree(measured_folder, tmp_path / "elsewhere")
    with mpl.rc_context({"font.size": 30, "axes.grid": False, "svg.hashsalt": "other", "lines.linewidth": 9}):
        assert rendered(copy) == measured_page
        assert mpl.rcParams["font.size"] == 30


def test_nothing_is_loaded_run_or_linked(measured_folder, examples_folder):
    text = rendered(measured_folder, examples_folder("reference"))
    assert not re.search(r"https?:|@import|javascript:|data:|//[a-z]", text.replace("'none'", ""))
    assert not re.search(r"url\((?!#)", text)
    for node in tree(text).walk():
        assert node.name in ALLOWED | {"#"}, node.name
        assert not [name for name in node.attributes if name.startswith("on") or name in {"src", "srcset", "action"}]
        assert node.attributes.get("href", "#").startswith("#")
        assert node.attributes.get("xlink:href") is None


@pytest.mark.parametrize("words", HOSTILE)
def test_no_words_become_markup(run_folder, rewrite, words):
    def everywhere(line):
        line["query"] = line["document"] = words
        line["gate"]["reason"] = words
        if "needle" in line:
            line["needle"], line["phrasing"] = words, words
        else:
            line["kind"] = words
        for passage in line["returned"]:
            passage |= {"document": words, "section": words, "text": words}

    def in_metrics(metrics):
        metrics["set"] = metrics["strategy"] = metrics["stamp"]["model"]["name"] = words
        metrics["gate"]["bluffs"][words] = metrics["gate"]["bluffs"].pop("near")
        for groups in metrics["systems"].values():
            groups[words] = groups.pop("ticket")

    folder = rewrite(run_folder(), line=everywhere, metrics=in_metrics)
    (folder / "times.json").write_text(json.dumps({"times_ms": {"fee": {words: 1.0, "total": 2.0}}}))
    whole = tree(rendered(folder))
    assert {node.name for node in whole.walk()} <= ALLOWED | {"#"}
    assert not [n for node in whole.walk() for n in node.attributes if n.startswith("on") or n == "src"]
    shown = re.sub("[\x00\x08\ud800\ufffe]", "\ufffd", words).replace("\u202e", "\\u202e")
    asked = [node.text for node in whole.walk() if node.attributes.get("class") == "asked"]
    assert asked
    assert set(asked) == {shown}
    assert shown in whole.all("h1")[0].text


def test_other_scripts_are_text_with_a_direction_of_their_own_and_stay_out_of_figures(run_folder):
    queries = [
        {**QUERIES[0], "id": "hi", "query": HINDI, "needle": "यह शुल्क चालीस रुपये है", "document": "hi.md"},
        {**QUERIES[1], "id": "ur", "query": URDU, "needle": "کشتی دو ہزار تیئیس میں خریدی گئی", "document": "ur.md"},
    ]
    corpus = {"hi.md": "# शुल्क\n\nयह शुल्क चालीस रुपये है।\n", "ur.md": "# کشتی\n\nکشتی دو ہزار تیئیس میں خریدی گئی تھی۔\n"}
    folder = run_folder(queries=queries, corpus=corpus, unanswerable=[], gate="reference", gate_threshold=0.0)
    whole = tree(rendered(folder))
    for words in (HINDI, URDU, queries[0]["needle"], queries[1]["needle"]):
        holders = [node for node in whole.walk() if node.children == [words]]
        assert holders
        assert all(node.attributes.get("dir") == "auto" for node in holders)
    assert all(svg.text.isascii() or set(svg.text) <= set(map(chr, range(128))) | {"−"} for svg in whole.all("svg"))


def test_every_figure_has_a_caption_a_title_and_a_table_after_it(measured_page):
    whole = tree(measured_page)
    figures = [
        (section, place)
        for section in whole.all("section")
        for place, child in enumerate(section.children)
        if isinstance(child, Node) and child.name == "figure"
    ]
    assert len(figures) == 6
    for section, place in figures:
        figure, after = section.children[place], section.children[place + 1]
        assert figure.all("figcaption")[0].text
        assert after.attributes["class"] == "scroll"
        assert after.all("table")
        for svg in figure.all("svg"):
            assert svg.attributes["role"] == "img"
            (title,) = svg.all("title")
            assert svg.attributes["aria-labelledby"] == title.attributes["id"]
            assert title.text


def test_identifiers_are_unique_and_references_lead_to_one(measured_page):
    text = measured_page
    whole = tree(text)
    ids = [node.attributes["id"] for node in whole.walk() if "id" in node.attributes]
    assert len(ids) == len(set(ids))
    used = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)|aria-labelledby="([^"]+)"', text)
    assert {one for found in used for one in found if one} <= set(ids)


def test_recall_tables_are_metrics_json(measured_folder, measured_page):
    metrics, found = metrics_in(measured_folder), tables(measured_page)
    (headline,) = [rows for caption, rows in found.items() if caption.startswith("Recall at k results")]
    rows = by_first(headline)
    names = {"own": "own words", "ticket": "tickets", "all": "all"}
    for system, groups in metrics["systems"].items():
        for group, of in groups.items():
            row = rows[f"{system}, {names[group]}"]
            assert row["MRR"] == share(of["mrr"])
            for k in (1, 4, 8, 20):
                assert row[f"R@{k}"] == rate(of[f"recall@{k}"])
                assert by_first(found[f"Recall at k, {names[group]}."])[str(k)][system] == row[f"R@{k}"]
            for size in (2000, 4000):
                assert row[f"in {size} characters"] == rate(of[f"recall@{size}chars"])


def test_gate_tables_are_metrics_json_and_the_sweep_meets_them_at_the_threshold_of_the_run(
    measured_folder, measured_page
):
    gate, text = metrics_in(measured_folder)["gate"], measured_page
    found = tables(text)
    did = by_first(found["What the gate did."])
    assert did["give-ups, all"]["rate"] == rate(gate["give_ups"])
    assert did["give-ups, own words"]["rate"] == rate(gate["give_ups"]["own"])
    assert (did["bluffs, all"]["rate"], did["bluffs, all"]["at most"]) == (
        rate(gate["bluffs"]),
        share(gate["bluffs"]["at_most"]),
    )
    assert did["bluffs, far"]["rate"] == rate(gate["bluffs"]["far"])
    assert did["answered although the answer was hidden"]["rate"] == rate(gate["bluffs_withheld"])
    assert did["answered right, of those answered"]["rate"] == rate(gate["answered_right"])
    here = [
        dict(zip([cell.text for cell in table.all("thead")[0].all("th")], [c.text for c in row.all("th") + row.all("td")], strict=True))
        for table in tree(text).all("table")
        for row in table.all("tr")
        if row.attributes.get("class") == "marked"
    ]  # fmt: skip
    sweep, risk = [{key: value.replace("\N{NO-BREAK SPACE}", " ") for key, value in row.items()} for row in here]
    assert sweep["give-ups"] == rate(gate["give_ups"])
    assert sweep["bluffs"] == rate(gate["bluffs"])
    assert sweep["bluffs, near"] == rate(gate["bluffs"]["near"])
    assert sweep["hidden, answered"] == rate(gate["bluffs_withheld"])
    assert sweep["answered right"].startswith(f"{gate['answered_right']['k']}/{gate['give_ups']['n']} ")
    answered = gate["answered_right"]["n"] + gate["bluffs"]["k"]
    assert risk["coverage"].startswith(f"{answered}/{gate['give_ups']['n'] + gate['bluffs']['n']} ")
    assert risk["risk"].startswith(f"{answered - gate['answered_right']['k']}/{answered} ")


def test_times_are_those_of_metrics_json(measured_folder, measured_page):
    rows = by_first(tables(measured_page)["Milliseconds by stage."])
    for stage, of in metrics_in(measured_folder)["times_ms"].items():
        assert (float(rows[stage]["p50"]), float(rows[stage]["p95"])) == (of["p50"], of["p95"])


def test_every_question_is_counted_in_the_histograms_and_the_bins(measured_page):
    found = tables(measured_page)
    rows = found["Questions by where they stand."]
    n = {"answerable": 64, "near": 21, "far": 9, "answer hidden": 64}
    assert {group: sum(int(row[group]) for row in rows) for group in n} == n
    assert sum(int(row["questions"]) for row in found["Reliability, bin by bin."]) == 94


def test_the_page_says_what_the_score_is(measured_folder, measured_page):
    said = {
        "reference": "is no probability, and nothing is predicted",
        "calibrated": "The score is the log-odds that a question can be answered",
    }
    name = metrics_in(measured_folder)["gate"]["name"]
    assert [gate for gate, words in said.items() if words in measured_page] == [name]


EMPTY = {
    "no question must be refused": {"unanswerable": []},
    "one question": {"queries": QUERIES[:1], "unanswerable": []},
    "one question and one to refuse": {"queries": QUERIES[:1], "unanswerable": UNANSWERABLE[1:]},
    "all refused": {"gate": "reference", "gate_threshold": 0.0},
    "all answered": {"gate": "reference", "gate_threshold": 2.0},
    "no kind but one": {"unanswerable": UNANSWERABLE[:1]},
}


@pytest.mark.parametrize("options", EMPTY.values(), ids=EMPTY)
def test_empty_groups_are_said_to_be_empty_and_divide_nothing(run_folder, options):
    text = rendered(run_folder(**options))
    words = tree(text).all("main")[0].text
    assert not re.search(r"(?i:\bnan\b|\binf\b)|None", words)
    assert "var(--" in text
    if not options.get("unanswerable", UNANSWERABLE):
        did = by_first(tables(text)["What the gate did."])
        assert did["bluffs, all"] == {"": "bluffs, all", "rate": "none asked", "at most": "–"}
        assert did["bluffs, near"]["rate"] == "none asked"
        assert "Reliability cannot be shown" in words
    if options.get("gate_threshold") == 0.0:
        assert (
            by_first(tables(text)["What the gate did."])["answered right, of those answered"]["rate"] == "none answered"
        )


def test_a_gate_without_a_number_has_nothing_to_sweep(run_folder, rewrite):
    def nothing_found(line):
        line["gate"] |= {"refused": True, "score": None, "passages": [], "right": False}
        line["returned"] = []
        if line["withheld"]:
            line["withheld"] |= {"refused": True, "score": None, "passages": []}
        for of in line.get("systems", {}).values():
            of |= {"rank": None, "n_chars": None}

    text = rendered(rewrite(run_folder(), line=nothing_found))
    assert "there is nothing to sweep over" in text
    assert "Nothing was returned." in text


def test_distances_that_are_no_numbers_are_outside_and_not_under_a_threshold(run_folder, rewrite):
    def half(line):
        if line["id"] in {"fee", "u1"}:
            line["gate"] |= {"score": None, "passages": [[None, False]]}

    found = tables(rendered(rewrite(run_folder(), line=half)))
    outside = by_first(found["Questions by where they stand."])["no number"]
    assert (outside["answerable"], outside["near"], outside["far"]) == ("1", "1", "0")


def test_colours_have_contrast_in_the_light_in_the_dark_and_on_paper(run_folder):
    """WCAG 2: 4.5 for words, 3 for lines of figures."""
    style = tree(rendered(run_folder())).all("style")[0].text
    schemes = re.findall(r":root\s*\{([^}]+)\}", style)
    assert len(schemes) == 3
    for scheme in schemes:
        colours = {name: _luminance(value) for name, value in re.findall(r"--([\w]+):\s*#([0-9a-f]+)", scheme)}
        for words, ground in (
            ("ink", "paper"),
            ("ink", "raised"),
            ("ink", "marked"),
            ("muted", "paper"),
            ("muted", "raised"),
        ):
            assert _contrast(colours[words], colours[ground]) >= 4.5, (scheme, words, ground)
        assert all(_contrast(colours[f"c{i}"], colours["paper"]) >= 3 for i in range(1, 7))
        assert _contrast(colours["c1"], colours["paper"]) >= 4.5  # words to click on


def _luminance(colour):
    digits = colour if len(colour) == 6 else "".join(digit * 2 for digit in colour)
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one, other):
    lighter, darker = max(one, other), min(one, other)
    return (lighter + 0.05) / (darker + 0.05)


def test_a_corpus_that_nothing_was_found_in_is_still_a_page(run_folder):
    odd = {"corpus": {**CORPUS, "bad.bin": bytes(range(256))}}
    assert "2 searchable, 1 failed" in rendered(run_folder(**odd))
