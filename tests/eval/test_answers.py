"""Every question asked through the whole flow or of a server: the tally, and the two failures apart."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.eval.conftest import QUERIES, UNANSWERABLE
from tests.eval.made import judged

from gawah.app import Application
from gawah.chunk import Chunking
from gawah.errors import ConfigurationError, UsageError
from gawah.eval import UnanswerableQuery, load_collection
from gawah.eval.answers import Cited, Reply, answer_line, answers_record, contains_needle, judge_replies, uses_needle
from gawah.eval.baseline import judge_run
from gawah.eval.record import AnswerLog, metrics_of, read_baseline, write_files
from gawah.evaluate import ask_set, evaluate, prepare_asking
from gawah.testing.generator import ChatServer, completion_reply, json_reply
from gawah.testing.generator import Reply as Sent

NEEDLES = {query["query"]: query["needle"] for query in QUERIES}
COUNT = {"k", "n", "low", "high"}


# --- what a reply is worth


def test_a_reply_uses_the_needle_when_a_quote_holds_it_whole():
    query = judged("The fee is 40 EUR")
    assert uses_needle(
        query, Reply("answered", "x", (Cited("b.md", None), Cited("a.md", "So: the\nfee. The fee\nis 40 EUR.")))
    )
    assert not uses_needle(query, Reply("answered", "The fee is 40 EUR", (Cited("a.md", "The fee is 41 EUR"),)))
    assert not uses_needle(query, Reply("uncited", "The fee is 40 EUR"))


@pytest.mark.parametrize(
    ("needle", "text", "holds"),
    [
        ("The fee is 40 EUR", "It says: the fee\nis 40 EUR [1].", True),
        ("The fee is 40 EUR", "40 EUR is what it costs, that is the fee.", True),
        ("The fee is 40 EUR", "The fee is 4 EUR [1], see [40].", False),
        ("The fee is 40 EUR", "The fee is ４0 EUR", True),
        ("Members do not pay", "Members pay", False),
        ("arrays start at arr[0]", "Arrays start at arr[0] [1].", True),
        ("to be or not to be", "not to be, or to be", True),
        ("शुल्क ४० यूरो है", "यूरो: शुल्क ४० है", True),
        ("∑ → ∞", "∑ →\n∞", True),
        ("∑ → ∞", "sum", False),
        ("The fee is 40 EUR", "", False),
    ],
)
def test_an_answer_contains_a_needle_whole_or_all_its_words(needle, text, holds):
    assert contains_needle(judged(needle), text) is holds


@given(st.text(), st.text(), st.text())
def test_an_answer_around_the_needle_contains_it(before, needle, after):
    query = judged("x" + needle)
    assert contains_needle(query, f"{before} {query.needle} {after}")


# --- the tally

_STAGES = ("not_found", "not_admitted", "refused", "given")
_STATUSES = ("answered", "uncited", "refused", "timed_out", "failed")


@st.composite
def answered_sets(draw):
    """What can come out of our own flow: who has a citation is `answered`, only what was given can be cited."""
    pairs, reached = [], {}
    for number in range(draw(st.integers(1, 8))):
        query = judged("the needle", id=f"q{number}", phrasing=draw(st.sampled_from(["own", "ticket"])))
        stage, status = draw(st.sampled_from(_STAGES)), draw(st.sampled_from(_STATUSES))
        quote = "the needle" if stage == "given" and draw(st.booleans()) else "other words"
        text = draw(st.sampled_from(["the needle", "hay"])) if status in ("answered", "uncited") else ""
        reached[query.id] = stage
        pairs.append((query, Reply(status, text, (Cited("a.md", quote),) if status == "answered" else ())))
    for number in range(draw(st.integers(0, 5))):
        query = UnanswerableQuery(f"u{number}", "what", draw(st.sampled_from(["near", "far"])))
        reached[query.id] = None
        pairs.append((query, Reply(draw(st.sampled_from(_STATUSES)))))
    return pairs, reached


def record_of(pairs, reached=None, *, is_remote=False):
    answers = judge_replies(pairs, reached or {}, answerer="x", is_remote=is_remote, deadline_s=5.0, concurrency=1)
    return answers_record(answers)


@given(answered_sets())
def test_the_parts_add_up_to_every_question(made):
    pairs, reached = made
    record = record_of(pairs, reached)
    for groups in record["tally"].values():
        for shares in groups.values():
            assert sum(share["k"] for share in shares.values()) == shares["answered"]["n"]
    for group, right in record["answered_right"].items():
        missed, unused = record["retriever_missed"][group], record["generator_missed"][group]
        assert sum(missed[stage]["k"] for stage in ("not_found", "not_admitted", "refused")) == missed["k"]
        assert right["k"] + missed["k"] + unused["k"] + record["no_answer"][group]["k"] == right["n"]
        assert unused["neither"]["k"] <= unused["k"]
    n = sum(isinstance(query, UnanswerableQuery) for query, _ in pairs)
    assert record["bluffs"]["n"] == n
    assert record["bluffs"]["near"]["k"] + record["bluffs"]["far"]["k"] == record["bluffs"]["k"]
    json.dumps(record, allow_nan=False)


def test_a_refusal_in_words_is_counted_apart_and_is_no_bluff():
    """Nobody can tell from outside whether words without a source refuse or claim: they are `uncited`."""
    must_refuse = UnanswerableQuery("u", "what", "near")
    record = record_of([(must_refuse, Reply("uncited", "I do not know."))], {"u": None})
    assert record["bluffs"]["k"] == 0
    assert record["tally"]["unanswerable"]["near"]["uncited"]["k"] == 1


def test_a_server_that_never_cites_is_judged_by_words_and_its_retriever_is_unknown():
    pairs = [
        (judged("The fee is 40 EUR", id="a"), Reply("uncited", "The fee: 40 EUR")),
        (judged("The fee is 40 EUR", id="b"), Reply("uncited", "I do not know")),
        (UnanswerableQuery("u", "what", "far"), Reply("uncited", "Who knows?")),
    ]
    record = record_of(pairs, is_remote=True)
    assert record["judged_by"] == "words"
    assert record["retriever_missed"] is record["generator_missed"] is record["no_answer"] is None
    assert record["tally"]["answerable"]["all"]["answered"]["k"] == 2
    assert record["tally"]["answerable"]["all"]["uncited"] is None
    assert (record["answered_right"]["all"]["k"], record["answered_right"]["all"]["uses"]) == (1, None)
    assert record["bluffs"]["k"] == 1


def test_a_server_that_cites_without_quotes_is_judged_by_words_and_its_uncited_words_are_seen():
    pairs = [
        (judged("The fee is 40 EUR", id="a"), Reply("answered", "The fee is 40 EUR", (Cited("a.md", None),))),
        (UnanswerableQuery("u", "what", "far"), Reply("uncited", "Who knows?")),
    ]
    record = record_of(pairs, is_remote=True)
    assert record["judged_by"] == "words"
    assert record["tally"]["unanswerable"]["all"]["uncited"]["k"] == 1
    assert record["bluffs"]["k"] == 0


def test_nothing_is_divided_when_nothing_came():
    record = record_of([(judged("x"), Reply("timed_out"))], {"q1": "given"})
    assert record["times_ms"] == {"n": 0, "p50": None, "p95": None}
    assert record["no_answer"]["all"]["k"] == 1
    assert record["bluffs"]["at_most"] == 1.0


# --- the whole flow against a server that writes


def question_of(request):
    return request.body["messages"][-1]["content"].partition("QUESTION\n")[2].split("\n")[0]


def source_with(request, words):
    """The number of the source that holds the words, and of one that does not."""
    prompt = request.body["messages"][-1]["content"]
    blocks = {number: prompt.find(f"\n[{number}] ") for number in range(1, 9)}
    starts = sorted((at, number) for number, at in blocks.items() if at >= 0)
    ends = [at for at, _ in starts[1:]] + [len(prompt)]
    held = {number: words in prompt[at:end] for (at, number), end in zip(starts, ends, strict=True)}
    return next((n for n, holds in held.items() if holds), None), next(
        (n for n, holds in held.items() if not holds), None
    )


def right(request):
    needle = NEEDLES.get(question_of(request), "nowhere")
    number, _ = source_with(request, needle)
    return completion_reply(f"{needle} [{number}]." if number else "The sources do not say.")


def ignoring(request):
    """It cites a source all right, but one that does not hold the answer."""
    _, other = source_with(request, NEEDLES.get(question_of(request), "nowhere"))
    return completion_reply(f"The moon is made of cheese [{other}].")


SERVERS = {
    "right": (right, {"answered": 2}, {"answered_right": 2}),
    "ignoring": (ignoring, {"answered": 2}, {"generator_missed": 2}),
    "citing [9]": (lambda _: completion_reply("Cheese [9]."), {"uncited": 2}, {"generator_missed": 2}),
    "not knowing": (lambda _: completion_reply("I do not know."), {"uncited": 2}, {"generator_missed": 2}),
    "failing": (lambda _: json_reply({"error": "boom"}, 500), {"failed": 2}, {"no_answer": 2}),
    "garbage": (lambda _: Sent([b"<html>"]), {"failed": 2}, {"no_answer": 2}),
}  # fmt: skip


@pytest.fixture
def asked(make_shop, write_set):
    """`asked(server, concurrency=…)`: the run, and the answers of the openai generator."""

    def ask(server, *, concurrency=1, deadline_s=60.0, heard=None, rows=None, **options):
        collection = load_collection(write_set(**(rows or {})))
        shop = make_shop(generator="openai", openai_url=server.url, generator_model="tiny", **options)
        asking = prepare_asking(shop.settings, shop.embedder, deadline_s=deadline_s, concurrency=concurrency)
        run = evaluate(shop, collection, systems=["rrf"], cite=False)
        return run, ask_set(shop, collection, run, asking, heard=heard)

    return ask


@pytest.mark.parametrize(("reply", "tally", "parts"), SERVERS.values(), ids=SERVERS.keys())
def test_what_a_generator_does_with_the_needle_it_was_given_is_seen(asked, reply, tally, parts):
    with ChatServer(reply) as server:
        _, answers = asked(server)
    record = answers_record(answers)
    counted = {status: share["k"] for status, share in record["tally"]["answerable"]["all"].items() if share["k"]}
    assert counted == tally
    found = {
        name: record[name]["all"]["k"]
        for name in ("answered_right", "retriever_missed", "generator_missed", "no_answer")
        if record[name]["all"]["k"]
    }
    assert found == parts
    assert record["answerer"] == "openai/tiny"


def test_a_generator_that_hangs_on_one_question_costs_that_one(asked):
    hanging = QUERIES[0]["query"]

    def reply(request):
        return Sent(hang=True) if question_of(request) == hanging else right(request)

    with ChatServer(reply) as server:
        _, answers = asked(server, deadline_s=1.0)
    assert [one.reply.status for one in answers.judged] == ["timed_out", "answered", "uncited", "uncited"]
    assert answers_record(answers)["no_answer"]["all"]["k"] == 1


def test_four_at_a_time_give_the_lines_of_one_at_a_time(asked):
    queries = [{**QUERIES[n % 2], "id": f"q{n}"} for n in range(12)]
    lines = []
    for concurrency in (1, 4):
        with ChatServer(right) as server:
            _, answers = asked(server, concurrency=concurrency, rows={"queries": queries})
        lines.append([json.dumps(answer_line(one)) for one in answers.judged])
        assert len(server.requests) == 12 + len(UNANSWERABLE)
    assert lines[0] == lines[1]
    assert [json.loads(line)["id"] for line in lines[0]] == [f"q{n}" for n in range(12)] + ["u1", "u2"]


DECOYS = {
    f"decoy{n}.md": f"# Zebra crossing\n\nZebra crossing rules number {n}: stop for the zebra.\n" for n in range(3)
}
HIDDEN = {"quiet.md": "# Elsewhere\n\nPedestrians go first on painted stripes.\n"}
ZEBRA = [
    {
        "id": "z",
        "query": "zebra crossing rules",
        "needle": "Pedestrians go first on painted stripes",
        "document": "quiet.md",
    }
]


@pytest.mark.parametrize(
    ("options", "stage"),
    [
        ({"candidates": 1, "rerank_depth": 1}, "not_found"),
        ({"passages": 1}, "not_admitted"),
        ({"gate_threshold": 0.0}, "refused"),
        ({"passages": 4}, "given"),
    ],
)
def test_how_far_a_needle_came_is_told(asked, options, stage):
    """Three decoys hold every word of the question, the answer none of them."""
    rows = {"corpus": {**DECOYS, **HIDDEN}, "queries": ZEBRA, "unanswerable": []}
    with ChatServer(completion_reply("Stop for the zebra [1].")) as server:
        run, answers = asked(server, rows=rows, **options)
    record = answers_record(answers)
    assert [one.reached for one in run.judged] == [stage]
    missed = record["retriever_missed"]["all"]
    assert missed["k"] == (stage != "given")
    assert {name for name in ("not_found", "not_admitted", "refused") if missed[name]["k"]} == {stage} - {"given"}
    assert record["generator_missed"]["all"]["k"] == (stage == "given")
    assert bool(server.requests) is (stage != "refused")


def test_nothing_is_written_to_the_answer_log(asked, make_shop, write_set):
    with ChatServer(right) as server:
        asked(server)
    shop, collection = make_shop(), load_collection(write_set())
    settings = shop.settings.model_copy(update={"store": shop.folder(collection, Chunking())})
    with Application(settings, embedder=shop.embedder) as app:
        assert app.catalog.load_answers() == []


def test_the_extractive_generator_is_asked_by_default(make_shop, write_set):
    shop, collection = make_shop(), load_collection(write_set())
    run = evaluate(shop, collection, systems=["rrf"], cite=False)
    answers = ask_set(shop, collection, run, prepare_asking(shop.settings, shop.embedder, concurrency=3))
    record = answers_record(answers)
    assert record["answerer"] == "extractive/2"
    assert record["deadline_s"] == shop.settings.generator_timeout_s
    assert record["answered_right"]["all"]["k"] == 2
    assert record["bluffs"]["k"] == 2
    assert set(record["bluffs"]) == COUNT | {"at_most", "near", "far"}


# --- a running server


def of_a_server(make_shop, write_set, reply, **options):
    collection = load_collection(write_set())
    with ChatServer(reply) as server:
        shop = make_shop(**options)
        asking = prepare_asking(shop.settings, shop.embedder, server=server.url, deadline_s=60.0)
        run = evaluate(shop, collection, systems=["rrf"], cite=False)
        return ask_set(shop, collection, run, asking), server.requests


def test_a_server_with_quotes_is_judged_by_them(make_shop, write_set):
    def reply(request):
        needle = NEEDLES.get(request.body["messages"][-1]["content"])
        if needle is None:
            return json_reply({"choices": [{"finish_reason": "stop", "message": {"content": "", "refusal": "no"}}]})
        cited = {"type": "url_citation", "url_citation": {"url": "u", "title": "t", "quote": f"… {needle} …"}}
        message = {"content": "See there [1].", "annotations": [cited]}
        return json_reply({"choices": [{"finish_reason": "stop", "message": message}]})

    answers, requests = of_a_server(make_shop, write_set, reply)
    record = answers_record(answers)
    assert record["judged_by"] == "quotes"
    assert record["answered_right"]["all"]["k"] == 2
    assert record["answered_right"]["all"]["contains"]["k"] == 0
    assert record["tally"]["unanswerable"]["all"]["refused"]["k"] == 2
    assert record["retriever_missed"] is None
    assert requests[0].body["messages"] == [{"role": "user", "content": QUERIES[0]["query"]}]


def test_the_key_goes_to_the_endpoint_it_was_set_for_and_to_no_other(make_shop, write_set):
    _, requests = of_a_server(make_shop, write_set, completion_reply("x"), openai_key="sk-secret")
    assert not [request for request in requests if "Authorization" in request.headers]
    shop = make_shop(openai_key="sk-secret", openai_url="http://127.0.0.1:9/v1")
    asking = prepare_asking(shop.settings, shop.embedder, server="http://127.0.0.1:9/v1/")
    assert asking.server.endpoint.api_key == "sk-secret"
    assert "sk-secret" not in repr(asking)


def test_a_generator_without_a_model_is_said_before_anything_is_done(make_shop):
    shop = make_shop(generator="openai")
    with pytest.raises(ConfigurationError, match="generator_model"):
        prepare_asking(shop.settings, shop.embedder)


# --- files, and the deploy gate


def test_what_was_answered_is_on_disk_before_the_run_ends_and_in_order_after(asked, tmp_path):
    ids = ["fee", "boat", "u1", "u2"]
    path = tmp_path / "run" / "answers.jsonl"
    seen = []
    with ChatServer(right) as server, AnswerLog(path.parent, ids) as log:

        def heard(one):
            log.add(one)
            seen.append(len(path.read_text().splitlines()))

        run, answers = asked(server, heard=heard)
    assert seen == [1, 2, 3, 4]
    kept = path.read_bytes()
    write_files(run, path.parent, answers)
    assert path.read_bytes() == kept


def test_a_run_that_is_interrupted_leaves_its_lines_in_order(tmp_path):
    one, two = (
        judge_replies([(judged("x", id=name), Reply("failed"))], {name: "given"}, answerer="a", is_remote=False,
                      deadline_s=1.0, concurrency=1).judged[0]
        for name in ("q1", "q2")
    )  # fmt: skip

    def interrupted():
        with AnswerLog(tmp_path, ["q1", "q2", "q3"]) as log:
            log.add(two)
            log.add(one)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [json.loads(line)["id"] for line in (tmp_path / "answers.jsonl").read_text().splitlines()] == ["q1", "q2"]


def test_lines_that_cannot_be_written_are_an_error_that_names_the_place(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot write the run to"), AnswerLog(tmp_path / "file" / "run", ["q"]):
        raise AssertionError


def test_answered_right_is_paired_with_a_baseline_that_has_it(asked, tmp_path):
    rows = {"queries": [{**QUERIES[0], "id": f"q{n}"} for n in range(6)]}
    with ChatServer(right) as server:
        run, good = asked(server, rows=rows)
    with ChatServer(ignoring) as server:
        run, bad = asked(server, rows=rows)
    write_files(run, tmp_path / "good", good)
    baseline = read_baseline(tmp_path / "good")
    verdict = judge_run(run, baseline=baseline, answers=bad)
    assert verdict.reasons == ("answered right is worse than the baseline's: 0 better, 6 worse, p = 0.0312",)
    assert judge_run(run, baseline=baseline, answers=good).passes
    assert "answered right" not in judge_run(run, baseline=baseline).comparisons
    write_files(run, tmp_path / "good")
    assert not (tmp_path / "good" / "answers.jsonl").exists()
    assert "answered right" not in judge_run(run, baseline=read_baseline(tmp_path / "good"), answers=bad).comparisons


def test_a_run_by_words_is_compared_with_one_by_quotes_in_words(asked, make_shop, write_set, tmp_path):
    with ChatServer(right) as server:
        run, ours = asked(server)
    write_files(run, tmp_path / "ours", ours)
    theirs, _ = of_a_server(make_shop, write_set, completion_reply("I do not know"))
    comparisons = judge_run(run, baseline=read_baseline(tmp_path / "ours"), answers=theirs).comparisons
    assert (comparisons["answered right by words"].wins, comparisons["answered right by words"].losses) == (0, 2)
    assert "answered right" not in comparisons


def test_bluffs_of_the_answers_are_held_against_the_target_too(make_shop, write_set):
    collection = load_collection(write_set())
    shop = make_shop(gate_threshold=0.0)  # the gate refuses all, so only the server can bluff
    run = evaluate(shop, collection, systems=["rrf"], cite=False)
    with ChatServer(completion_reply("Cheese.")) as server:
        answers = ask_set(shop, collection, run, prepare_asking(shop.settings, shop.embedder, server=server.url))
    (reason,) = judge_run(run, max_bluff=0.1, answers=answers).reasons
    assert reason.startswith(f"bluffs of {answers.answerer}: 2 of 2 that must be refused were answered")
    assert metrics_of(run, answers)["gate"]["bluffs"]["k"] == 0


def test_a_baseline_whose_answers_say_nothing_is_an_error(asked, tmp_path):
    with ChatServer(right) as server:
        run, answers = asked(server)
    write_files(run, tmp_path, answers)
    lines = [json.loads(line) for line in (tmp_path / "answers.jsonl").read_text().splitlines()]
    lines[0]["uses"] = "yes"
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(UsageError, match="does not say whether 'fee' was answered right"):
        judge_run(run, baseline=read_baseline(tmp_path), answers=answers)
