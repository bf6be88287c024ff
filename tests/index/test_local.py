"""The local index answers alike in every layout, and never trusts a damaged file."""

from __future__ import annotations

import copy
import re
import shutil
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from gawah.errors import StampMismatchError
from gawah.index.local import LocalIndex
from gawah.ports import Index, SegmentRecord
from gawah.testing.embedder import FakeEmbedder
from gawah.testing.index import TEXTS, FakeIndex, FakeIndexCatalog, analyze_plain, assert_same_answers
from gawah.testing.index_contract import IndexContract


def seal(index: LocalIndex, catalog: FakeIndexCatalog) -> SegmentRecord | None:
    record = index.seal(catalog.feed())
    if record is not None:
        catalog.register(record)
    return record


def compact(
    index: LocalIndex, catalog: FakeIndexCatalog, meanwhile: Callable[[], None] = lambda: None
) -> SegmentRecord | None:
    feed = catalog.feed()
    record = index.compact(feed)
    meanwhile()
    catalog.register(record, instead_of=feed.segments(), applied_mark=feed.deleted(0)[1])
    index.remove_unregistered([each.name for each in catalog.records])
    return record


def filled(directory: Path, n_segments: int = 2) -> tuple[LocalIndex, FakeIndexCatalog]:
    """Ten documents: the first in `n_segments` segments, the last two in the tail."""
    index, catalog = LocalIndex(directory, analyze_plain), FakeIndexCatalog()
    for number, text in enumerate(TEXTS):
        catalog.add(number, {f"c{number}": text})
        if n_segments and number < 8 and (number + 1) % (8 // n_segments) == 0:
            seal(index, catalog)
    return index, catalog


def assert_right(
    index: Index, catalog: FakeIndexCatalog, questions: tuple[str, ...] = ("restore a backup", "err_conn-17 the")
) -> None:
    view, oracle = index.view(catalog.feed()), FakeIndex().view(catalog.feed())
    for question in questions:
        assert_same_answers(view, oracle, question, 3, None)
        assert_same_answers(view, oracle, question, 3, np.array([0, 2, 3, 8], np.int64))


class InADirectory(IndexContract):
    prefilter_above: int | None = None

    @pytest.fixture(autouse=True)
    def _directory(self, tmp_path: Path) -> None:
        self.directory = tmp_path

    def make_index(self) -> LocalIndex:
        return LocalIndex(self.directory, analyze_plain, prefilter_above=self.prefilter_above)


class TestTailOnly(InADirectory):
    pass


class TestSignBitsFirst(InADirectory):
    prefilter_above = 0


class TestASegmentACommit(InADirectory):
    def settle(self, index: Index, catalog: FakeIndexCatalog) -> None:
        assert isinstance(index, LocalIndex)
        seal(index, catalog)


class TestSegmentsAndTail(InADirectory):
    def settle(self, index: Index, catalog: FakeIndexCatalog) -> None:
        assert isinstance(index, LocalIndex)
        if catalog.epoch % 3 == 0:
            seal(index, catalog)


class TestAlwaysCompact(InADirectory):
    def settle(self, index: Index, catalog: FakeIndexCatalog) -> None:
        assert isinstance(index, LocalIndex)
        compact(index, catalog)


WORDS = ("red", "fox", "err_conn-17", "the", "hen", "seventeen", "ф", "")
TEXT = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)


class AnyHistory(RuleBasedStateMachine):
    """Commits, deletions, seals, compactions, restarts and damage in any order, against brute force."""

    @initialize()
    def start(self) -> None:
        self.directory = Path(tempfile.mkdtemp())
        self.catalog = FakeIndexCatalog()
        self.index = LocalIndex(self.directory, analyze_plain)
        self.n_documents = 0
        self.old = self.catalog.feed()

    def teardown(self) -> None:
        shutil.rmtree(self.directory, ignore_errors=True)

    @rule(texts=st.lists(TEXT, min_size=1, max_size=4))
    def commit(self, texts: list[str]) -> None:
        self.n_documents += 1
        # the hash-like number in front lets new chunks sort before old ones
        ids = [f"c{(self.n_documents * 7919 + at) % 10007}" for at in range(len(texts))]
        self.catalog.add(self.n_documents, dict(zip(ids, texts, strict=True)))

    @precondition(lambda self: self.catalog.rows)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        self.catalog.delete(data.draw(st.sampled_from(sorted({row.document_no for row in self.catalog.rows}))))

    @precondition(lambda self: self.catalog.rows)
    @rule(data=st.data())
    def replace_by_the_same(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted({row.document_no for row in self.catalog.rows})))
        texts = {row.chunk_id: row.text for row in self.catalog.rows if row.document_no == number}
        self.catalog.delete(number)
        self.catalog.add(number, texts)

    @rule()
    def seal(self) -> None:
        seal(self.index, self.catalog)

    @rule()
    def compact(self) -> None:
        compact(self.index, self.catalog)

    @rule(everything=st.booleans())
    def tidy(self, everything: bool) -> None:
        tidied(self.index, self.catalog, everything=everything)

    @precondition(lambda self: self.catalog.rows)
    @rule(data=st.data(), texts=st.lists(TEXT, min_size=1, max_size=2))
    def compact_while_documents_come_and_go(self, data: st.DataObject, texts: list[str]) -> None:
        def meanwhile() -> None:
            self.commit(texts)
            self.delete(data)
            self.index.view(self.catalog.feed())

        compact(self.index, self.catalog, meanwhile)

    @rule(prefilter_above=st.sampled_from([None, 0]))
    def restart(self, prefilter_above: int | None) -> None:
        self.index = LocalIndex(self.directory, analyze_plain, prefilter_above=prefilter_above)

    @precondition(lambda self: self.catalog.records)
    @rule(data=st.data())
    def damage(self, data: st.DataObject) -> None:
        record = data.draw(st.sampled_from(self.catalog.records))
        files = sorted((self.directory / "segments" / record.name).glob("*"))
        if files:
            data.draw(st.sampled_from(files)).unlink()
        self.restart(None)

    @rule()
    def keep_a_snapshot(self) -> None:
        self.old = self.catalog.feed()

    @rule()
    def read_the_kept_snapshot(self) -> None:
        assert_same_answers(self.index.view(self.old), FakeIndex().view(self.old), "red fox", 3, None)

    @invariant()
    def answers_are_those_of_brute_force(self) -> None:
        feed = self.catalog.feed()
        view, oracle = self.index.view(feed), FakeIndex().view(feed)
        some = np.arange(0, self.n_documents + 1, 2, dtype=np.int64)
        for question, cutoff, only in (
            ("red fox", 2, None),
            ("err_conn-17 the hen the", 50, None),
            ("the fox", 3, some),
        ):
            assert_same_answers(view, oracle, question, cutoff, only)


TestAnyHistory = AnyHistory.TestCase
TestAnyHistory.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)


def test_scores_are_the_same_to_the_bit_in_every_layout(tmp_path: Path) -> None:
    answers = set()
    for n_segments in (0, 1, 2, 4, 8):
        index, catalog = filled(tmp_path / str(n_segments), n_segments)
        for _ in range(2):
            view = index.view(catalog.feed())
            vector = FakeEmbedder().embed(["restore a backup of err_conn-17"])[0].vector
            found = view.dense(vector, 99), view.bm25(["backup", "err", "restore", "the"], 99), view.fingerprint()
            answers.add(repr(found))
            compact(index, catalog)
    assert len(answers) == 1


def test_the_fingerprint_follows_the_contents_only(tmp_path: Path) -> None:
    index, catalog = filled(tmp_path)
    before = index.view(catalog.feed()).fingerprint()
    catalog.add(99, {"c99": "one more"})
    more = index.view(catalog.feed()).fingerprint()
    catalog.delete(99)
    assert index.view(catalog.feed()).fingerprint() == before != more
    assert LocalIndex(tmp_path, analyze_plain).view(FakeIndexCatalog().feed()).fingerprint() != before


def test_a_view_is_made_once_an_epoch_whichever_thread_asks(tmp_path: Path) -> None:
    index, catalog = filled(tmp_path)
    feed = catalog.feed()
    with ThreadPoolExecutor(8) as pool:
        views = list(pool.map(lambda _: index.view(feed), range(32)))
    assert len({id(view) for view in views}) == 1


def test_threads_read_and_refresh_at_the_same_time(tmp_path: Path) -> None:
    index, catalog = filled(tmp_path)
    feeds = []
    for number in range(100, 120):
        catalog.add(number, {f"c{number}": "a backup more"})
        feeds.append(catalog.feed())
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda feed: len(index.view(feed).bm25(["more"], 99)), feeds[::-1] + feeds))
    assert found == [*range(20, 0, -1), *range(1, 21)]


def test_only_new_rows_are_read_when_the_epoch_moves_on(tmp_path: Path) -> None:
    index, catalog = filled(tmp_path)
    index.view(catalog.feed())
    catalog.add(50, {"c50": "new"})
    catalog.delete(1)
    feed = catalog.feed()
    asked: list[int] = []
    read, rows = feed.rows, []

    class Counted(type(feed)):  # type: ignore[misc]
        def rows(self, after_seq: int):
            asked.append(after_seq)
            for row in read(after_seq):
                rows.append(row.chunk_id)
                yield row

    view = index.view(Counted(**{name: getattr(feed, name) for name in feed.__dataclass_fields__}))
    assert view.n_chunks == len(TEXTS)
    assert (asked, rows) == ([len(TEXTS)], ["c50"])


def test_a_second_index_over_the_same_files_answers_alike(tmp_path: Path) -> None:
    index, catalog = filled(tmp_path)
    catalog.delete(3)
    other = LocalIndex(tmp_path, analyze_plain)
    assert other.view(catalog.feed()).fingerprint() == index.view(catalog.feed()).fingerprint()
    assert other.view(catalog.feed()).degraded == ()
    assert_right(other, catalog)


def test_leftovers_of_a_crash_are_ignored_and_removed(tmp_path: Path) -> None:
    index, catalog = filled(tmp_path)
    folder = tmp_path / "segments"
    (folder / ".new-1-abc").mkdir()
    (folder / ".new-1-abc" / "vectors.npy").write_bytes(b"half")
    written = index.seal(catalog.feed())  # and never registered
    assert written is not None
    (folder / "stray").write_text("a file")
    assert_right(LocalIndex(tmp_path, analyze_plain), catalog)
    names = [record.name for record in catalog.records]
    assert index.remove_unregistered(names) == tuple(sorted([".new-1-abc", written.name, "stray"]))
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)
    assert index.remove_unregistered(names) == ()
    assert LocalIndex(tmp_path / "nowhere", analyze_plain).remove_unregistered([]) == ()


def _cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _grown(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\0")


def _replaced(path: Path) -> None:
    path.write_bytes(b"\0" * path.stat().st_size)


@pytest.mark.parametrize(
    "harm", [Path.unlink, _cut_short, _grown, _replaced], ids=["missing", "cut short", "grown", "zeroed"]
)
@pytest.mark.parametrize("name", ["manifest.json", "vectors.npy", "posting_rows.npy", "token_signs.npy"])
def test_a_damaged_segment_is_built_from_the_catalog_and_said_so(harm, name: str, tmp_path: Path) -> None:
    index, catalog = filled(tmp_path)
    catalog.delete(1)
    sound = index.view(catalog.feed()).fingerprint()
    record = catalog.records[0]
    harm(tmp_path / "segments" / record.name / name)
    reopened = LocalIndex(tmp_path, analyze_plain)
    view = reopened.view(catalog.feed())
    assert len(view.degraded) == 1
    assert record.name in view.degraded[0]
    assert view.fingerprint() == sound
    assert_right(reopened, catalog)
    catalog.add(60, {"c60": "still degraded"})
    catalog.delete(2)
    seal(reopened, catalog)
    assert reopened.view(catalog.feed()).degraded == view.degraded
    assert_right(reopened, catalog)
    compact(reopened, catalog)
    assert reopened.view(catalog.feed()).degraded == ()
    assert LocalIndex(tmp_path, analyze_plain).view(catalog.feed()).degraded == ()
    assert_right(reopened, catalog)


def test_a_flipped_bit_is_found_by_the_check_and_not_carried_into_a_compacted_segment(tmp_path: Path) -> None:
    index, catalog = filled(tmp_path)
    assert index.check(catalog.feed()) == ()
    sound = index.view(catalog.feed()).fingerprint()
    path = tmp_path / "segments" / catalog.records[0].name / "vectors.npy"
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(data)
    reopened = LocalIndex(tmp_path, analyze_plain)
    assert [fault for fault in reopened.check(catalog.feed()) if "vectors.npy" in fault]
    assert reopened.view(catalog.feed()).fingerprint() != sound
    compact(reopened, catalog)
    assert reopened.check(catalog.feed()) == ()
    assert reopened.view(catalog.feed()).fingerprint() == sound
    assert_right(reopened, catalog)


@pytest.mark.parametrize("harm", [Path.unlink, _cut_short, _replaced], ids=["missing", "cut short", "zeroed"])
@pytest.mark.parametrize("name", ["manifest.json", "vectors.npy", "posting_rows.npy", "token_scales.npy"])
def test_a_repair_builds_the_damaged_segments_and_no_other_again(harm, name: str, tmp_path: Path) -> None:
    index, catalog = filled(tmp_path)
    catalog.delete(1)
    sound = index.view(catalog.feed()).fingerprint()
    before = {record.name for record in catalog.records}
    damaged = catalog.records[0]
    harm(tmp_path / "segments" / damaged.name / name)
    repaired = index.repair(catalog.feed())
    assert [old for old, _ in repaired] == [damaged]
    for old, new in repaired:
        catalog.records = [record for record in catalog.records if record != old]
        catalog.records = sorted([*catalog.records, *([new] if new else [])], key=lambda record: record.first_seq)
        catalog.next_epoch()
    assert index.check(catalog.feed()) == ()
    assert before - {damaged.name} <= {record.name for record in catalog.records}
    for each in (index, LocalIndex(tmp_path, analyze_plain)):
        assert each.view(catalog.feed()).fingerprint() == sound
        assert each.view(catalog.feed()).degraded == ()
        assert_right(each, catalog)
    assert index.repair(catalog.feed()) == []


def test_an_older_snapshot_of_a_damaged_segment_still_has_what_was_deleted_since(tmp_path: Path) -> None:
    _, catalog = filled(tmp_path, 8)
    older = catalog.feed()
    catalog.delete(catalog.rows[0].document_no)
    for record in catalog.records:
        (tmp_path / "segments" / record.name / "chunk_ids.npy").unlink()
    index = LocalIndex(tmp_path, analyze_plain)
    assert index.view(catalog.feed()).n_chunks < index.view(older).n_chunks == len(list(older.rows(0)))
    assert_right(index, catalog)


def test_a_repair_of_a_segment_of_which_nothing_lives_drops_it(tmp_path: Path) -> None:
    index, catalog = filled(tmp_path, 8)
    catalog.delete(0)
    shutil.rmtree(tmp_path / "segments" / catalog.records[0].name)
    assert index.repair(catalog.feed()) == [(catalog.records[0], None)]


def test_a_segment_of_another_analyzer_is_not_used(tmp_path: Path) -> None:
    _, catalog = filled(tmp_path)

    def shout(text: str) -> tuple[list[str], list[str]]:
        return re.findall("[A-Z]+", text.upper()), []

    view = LocalIndex(tmp_path, shout, analyzer="2").view(catalog.feed())
    assert len(view.degraded) == 2
    assert view.bm25(["BACKUP"], 9)
    assert view.bm25(["backup"], 9) == []


def test_a_damaged_segment_of_which_nothing_lives_is_no_chunk(tmp_path: Path) -> None:
    _, catalog = filled(tmp_path, 8)
    catalog.delete(0)
    shutil.rmtree(tmp_path / "segments" / catalog.records[0].name)
    reopened = LocalIndex(tmp_path, analyze_plain)
    assert_right(reopened, catalog)
    compact(reopened, catalog)
    assert_right(reopened, catalog)


def test_compaction_leaves_no_trace_of_what_was_deleted(tmp_path: Path) -> None:
    index, catalog = filled(tmp_path)
    catalog.add(70, {"c-canary": "zyxcanary zyxcanary-17"})
    seal(index, catalog)
    held = _bytes_below(tmp_path)
    assert b"zyxcanary" in held
    assert b"c-canary" in held
    catalog.delete(70)
    compact(index, catalog)
    held = _bytes_below(tmp_path)
    assert b"zyxcanary" not in held
    assert b"c-canary" not in held


def _bytes_below(directory: Path) -> bytes:
    return b"\n".join(path.read_bytes() for path in sorted(directory.rglob("*")) if path.is_file())


def test_the_same_chunks_give_the_same_segment_however_they_came_together(tmp_path: Path) -> None:
    records = []
    for n_segments in (0, 1, 4):
        index, catalog = filled(tmp_path / str(n_segments), n_segments)
        catalog.delete(4)
        records.append(compact(index, catalog))
    assert records[0] is not None
    assert records[0] == records[1] == records[2]
    assert compact(index, catalog) == records[0]


def test_nothing_alive_makes_no_segment(tmp_path: Path) -> None:
    index, catalog = filled(tmp_path)
    for number in range(len(TEXTS)):
        catalog.delete(number)
    assert index.seal(catalog.feed()) is None
    assert compact(index, catalog) is None
    assert list((tmp_path / "segments").iterdir()) == []
    assert_right(index, catalog)


def test_mapped_files_stay_readable_after_a_compaction_removed_them(tmp_path: Path) -> None:
    index, catalog = filled(tmp_path)
    feed = catalog.feed()
    view, oracle = LocalIndex(tmp_path, analyze_plain).view(feed), FakeIndex().view(feed)
    compact(index, catalog)
    assert_same_answers(view, oracle, "restore a backup", 3, None)


def test_a_vector_of_another_model_is_refused(tmp_path: Path) -> None:
    index, catalog = filled(tmp_path)
    view = index.view(catalog.feed())
    with pytest.raises(StampMismatchError, match="32 dimensions in an index of 64"):
        view.dense(np.ones(32, np.float32), 3)
    with pytest.raises(ValueError, match="finite"):
        view.dense(np.full(64, np.nan, np.float32), 3)


def tidied(index: LocalIndex, catalog: FakeIndexCatalog, *, everything: bool = False) -> list[int]:
    """Rewrites until nothing is due; returns how many segments each step put together."""
    steps = []
    while done := index.rewrite(catalog.feed(), everything=everything):
        steps.append(len(done.old))
        assert len(steps) < 50
        old = [record for record in catalog.records if record.name in done.old]
        catalog.register(done.new, instead_of=old, applied_mark=done.mark, applied_seqs=(done.first_seq, done.last_seq))
    index.remove_unregistered([record.name for record in catalog.records])
    return steps


def test_what_is_due_follows_the_policy_and_damage(tmp_path: Path) -> None:
    index, catalog = filled(tmp_path, 4)
    assert tidied(index, catalog) == []
    for number in range(3):
        catalog.delete(number)
    assert tidied(index, catalog) == [1, 1]  # of the first segment nothing lives, of the second a half
    assert [record.n_chunks for record in catalog.records] == [1, 2, 2]
    assert_right(index, catalog)
    catalog.add(1000, {f"n{at}": "word" for at in range(1000)})
    assert tidied(index, catalog) == [0]
    shutil.rmtree(tmp_path / "segments")
    again = LocalIndex(tmp_path, analyze_plain)
    assert tidied(again, catalog) == [1, 1, 1, 1]
    assert again.view(catalog.feed()).degraded == ()
    assert_right(again, catalog)


@pytest.mark.parametrize("sealed", [False, True])
def test_a_restored_catalog_at_the_same_number_is_not_taken_for_the_one_before(tmp_path: Path, sealed: bool) -> None:
    """A view of epoch 3 of the catalog that was is no base for epoch 3, or 4, of the one that is."""
    index, catalog = LocalIndex(tmp_path, analyze_plain), FakeIndexCatalog()
    catalog.add(1, {"c1": "the first backup"})
    if sealed:
        catalog.register(index.seal(catalog.feed()))
    restored = copy.deepcopy(catalog)
    catalog.add(2, {"c2": "a backup that was lost"})
    catalog.delete(1)
    index.view(catalog.feed())
    restored.add(3, {"c3": "another backup"})
    restored.add(4, {"c4": "one more backup"})
    assert (restored.epoch, restored.n_seqs) >= (catalog.epoch, catalog.n_seqs)
    found = index.view(restored.feed())
    assert sorted(chunk_id for chunk_id, _ in found.bm25(["backup"], 9)) == ["c1", "c3", "c4"]
    assert found.fingerprint() == LocalIndex(tmp_path / "fresh", analyze_plain).view(restored.feed()).fingerprint()
    assert index.view(restored.feed()) is found


def test_only_the_deletions_that_a_rewrite_has_applied_are_forgotten(tmp_path: Path) -> None:
    index, catalog = LocalIndex(tmp_path, analyze_plain), FakeIndexCatalog()
    for number in range(10):
        catalog.add(number, {f"c{number}": "a backup"})
    seal(index, catalog)
    for number in (10, 11):
        catalog.add(number, {f"c{number}": "another backup"})
    seal(index, catalog)
    catalog.delete(3)
    catalog.delete(10)
    assert tidied(index, catalog) == [1]
    assert [seq for _, seq in catalog.deletions] == [4]
    assert LocalIndex(tmp_path, analyze_plain).view(catalog.feed()).n_chunks == 10
    assert_right(index, catalog)


def test_eight_small_neighbours_become_one(tmp_path: Path) -> None:
    index, catalog = filled(tmp_path, 8)
    assert tidied(index, catalog) == [8]
    assert [(record.first_seq, record.last_seq, record.n_chunks) for record in catalog.records] == [(1, 8, 8)]
    assert_right(index, catalog)


def test_with_everything_no_file_holds_a_deleted_row(tmp_path: Path) -> None:
    index, catalog = LocalIndex(tmp_path, analyze_plain), FakeIndexCatalog()
    for number in range(6):
        catalog.add(number, {f"c{number}.{at}": f"secret{number}.{at} word" for at in range(9)})
        seal(index, catalog)
    catalog.add(9, {"c9.0": "another"})
    catalog.rows = [row for row in catalog.rows if row.seq != 1]
    catalog.deletions.append((1, 1))
    catalog.n_marks = 1
    catalog.next_epoch()
    assert tidied(index, catalog) == []
    assert tidied(index, catalog, everything=True) == [1, 0]
    assert catalog.deletions == []
    held = b"".join(path.read_bytes() for path in (tmp_path / "segments").rglob("term_blob.npy"))
    assert b"secret0.0" not in held
    assert b"secret0.1" in held
    assert_right(index, catalog)
