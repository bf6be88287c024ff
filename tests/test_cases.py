"""Faults that other systems were reported for, as inputs to the whole application; the numbers are those of the list."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.extract.hostile import EXTRA

from gawah.app import Application
from gawah.config import load_settings
from gawah.extract.sandbox import Limits, Sandbox
from gawah.ingest import plan_folder, run_plan
from gawah.types import Answer, DocumentState

CHINESE = {
    "archive.md": (
        "档案馆",
        "档案馆保存本地区两百年来的照片、地图和信件。每一份材料都按照年份排列，并附有简短的说明。读者可以在阅览室查看原件，也可以申请复印。",
    ),
    "lake.md": (
        "湖泊监测站",
        "监测站位于山谷的北面，负责测量湖水的水位和温度。仪器每十分钟记录一次数据，并通过无线电发送到总部。冬天湖面结冰时，测量改为每小时一次。",
    ),
    "kitchen.md": (
        "食堂",
        "食堂每天供应三餐，早餐七点开始，晚餐六点开始。厨师使用本地种植的蔬菜和谷物。周末有特别的菜单，客人需要提前一天登记。",
    ),
}
FACT = "二〇二三年七月九日凌晨，湖口的冰坝突然溃决，约三十一万立方米的湖水在半小时内流出。"


def test_case_12_a_chinese_question_cites_the_place_of_the_chunk_that_matched_not_the_first_one(tmp_path, folder):
    """Three long documents, no rerank, the encoder and the analyzer that ship."""
    texts = {}
    for name, (title, words) in CHINESE.items():
        paragraphs = [f"第{n}段。{words}" for n in range(60)]
        if name == "lake.md":
            paragraphs[45] = f"第45段。{FACT}下游的村庄及时撤离，没有人受伤。"
        texts[name] = f"# {title}\n\n" + "\n\n".join(paragraphs) + "\n"
    options = {"store": tmp_path / "store", "cache": tmp_path / "cache", "rerank": "none"}
    with Application(load_settings(environment={}, options=options).settings, create=True) as app:
        ended = list(app.ingest(app.plan(folder(texts))))
        assert all(record.counters.n_chunks >= 10 and not record.counters.n_truncated for record in ended)
        question = "湖口的冰坝溃决时流出了多少湖水？"
        (best, *_) = app.search(question).passages
        outcome = app.ask(question)
    assert best.document_name == "lake.md"
    assert best.chunk.ordinal > 5
    assert isinstance(outcome, Answer)
    (citation,) = outcome.citations
    at = texts["lake.md"].index(FACT)
    assert citation.document_name == "lake.md"
    assert citation.span.start <= at
    assert at + len(FACT) <= citation.span.end
    assert texts["lake.md"][citation.span.start : citation.span.end] == citation.quote
    assert citation.fragment == f"#char={citation.span.start},{citation.span.end}"
    assert FACT in outcome.text


def test_case_14_a_parser_that_times_out_fails_alone_between_two_good_files(make_app, folder):
    app = make_app()
    root = folder({"a-good.txt": "The boat leaves.", "bad.sleep": "x", "c-good.txt": "The boat returns."})
    with Sandbox(Limits(wall_s=0.5), extra=EXTRA) as sandbox:
        intake = replace(app.intake, extract=sandbox.extract)
        ended = {record.name: record for record in run_plan(intake, plan_folder(intake, root, "default"))}
    assert ended["bad.sleep"].failure.code == "timeout_wall"
    assert {name for name, record in ended.items() if record.state is DocumentState.READY} == {
        "a-good.txt",
        "c-good.txt",
    }
    assert len(app.search("boat", system="bm25").passages) == 2


@pytest.mark.parametrize("first_words", ["BM25 notes", "ID3 tags"])
def test_case_23_a_note_that_begins_like_a_binary_file_is_markdown(make_app, folder, first_words):
    app = make_app()
    (record,) = app.ingest(app.plan(folder({"note.md": f"{first_words} on what was read.\n"})))
    assert (record.state, record.media_type) == (DocumentState.READY, "text/markdown")


ROWS = {1, 2, 3, 4, 5, 9, 11, 12, 13, 14, 16, 18, 19, 20, 21, 23, 25}


def test_every_row_of_the_list_that_holds_today_is_named_by_a_test():
    named = set()
    for path in Path(__file__).parent.rglob("test_*.py"):
        named |= {
            int(n)
            for n in re.findall(r'def test_case_(\d+)_|"""Case (\d+)', path.read_text(encoding="utf-8"))
            for n in n
            if n
        }
    assert named >= ROWS, json.dumps(sorted(ROWS - named))
