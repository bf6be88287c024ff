"""The Qdrant index answers as the catalog says, over the vendor's engine, and over a server that GAWAH_TEST_QDRANT_URL names.

The engine runs in process behind the requests of a server (gawah.testing.qdrant_engine); it is no cluster.
"""

from __future__ import annotations

import copy
import os
import socket
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from gawah.errors import ConfigurationError, IndexLegError, StampMismatchError, StoreError
from gawah.index.folders import TEMPORARY_PREFIX
from gawah.index.local import LocalIndex
from gawah.index.qdrant import QdrantIndex
from gawah.index.qdrant_requests import Connection
from gawah.testing.embedder import FakeEmbedder
from gawah.testing.index import TEXTS, FakeIndex, FakeIndexCatalog, analyze_plain, assert_same_answers, assert_same_hits
from gawah.testing.index_contract import IndexContract

pytest.importorskip("qdrant_client")
pytest.importorskip("qdrant_edge")
if TYPE_CHECKING:
    from gawah.testing.qdrant_engine import Server

SERVER = "GAWAH_TEST_QDRANT_URL"
ASKED = ("restore a backup", "err_conn-17 the", "cats sleep")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    from gawah.testing.qdrant_engine import Server

    memory = Path("/dev/shm")
    with (
        tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder,
        Server(Path(folder)) as running,
    ):
        yield running


@pytest.fixture
def make_index(server: Server) -> Iterator[Callable[..., QdrantIndex]]:
    """Indexes of one store over the engine: each call is another process's view of the same collections."""
    name = f"gawah-{uuid4().hex[:8]}"
    made: list[QdrantIndex] = []

    def make(connection: Connection | None = None, **options: int) -> QdrantIndex:
        directory = Path(tempfile.gettempdir()) / "no-such-store"
        made.append(QdrantIndex(connection or Connection(server.url), name, analyze_plain, directory, **options))
        return made[-1]

    yield make
    for index in made:
        index.close()


@pytest.fixture
def requests(server: Server, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often the engine was asked for what."""
    counted: Counter[str] = Counter()
    answer = server.engine.answer

    def counting(method: str, path: str, body: dict[str, object]) -> object:
        counted[path.rsplit("/", 1)[-1] if method != "PUT" else f"PUT {path.rsplit('/', 1)[-1]}"] += 1
        return answer(method, path, body)

    monkeypatch.setattr(server.engine, "answer", counting)
    return counted


def filled(n: int = len(TEXTS)) -> FakeIndexCatalog:
    catalog = FakeIndexCatalog()
    for number, text in enumerate(TEXTS[:n]):
        catalog.add(number, {f"c{number}": text}, "odd" if number % 2 else "even")
    return catalog


def assert_right(index: QdrantIndex, catalog: FakeIndexCatalog, asked: tuple[str, ...] = ASKED) -> None:
    view, oracle = index.view(catalog.feed()), FakeIndex().view(catalog.feed())
    for question in asked:
        assert_same_answers(view, oracle, question, 3, None)


# --- the contract


class TestOverTheVendorsEngine(IndexContract):
    @pytest.fixture(autouse=True)
    def _server(self, server: Server) -> None:
        self.url = server.url

    def make_index(self) -> QdrantIndex:
        return QdrantIndex(Connection(self.url), f"gawah-{uuid4().hex[:8]}", analyze_plain, Path("nowhere"))


class TestOverAServer(IndexContract):
    @pytest.fixture(autouse=True)
    def _server(self) -> Iterator[None]:
        self.made: list[QdrantIndex] = []
        if not os.environ.get(SERVER):
            pytest.skip(f"{SERVER} names no Qdrant server")
        yield
        for index in self.made:
            index.drop()

    def make_index(self) -> QdrantIndex:
        connection = Connection(os.environ[SERVER])
        self.made.append(QdrantIndex(connection, f"gawah-test-{uuid4().hex[:8]}", analyze_plain, Path("nowhere")))
        return self.made[-1]


# --- candidates and scores


def test_chunks_that_tie_at_the_border_are_all_fetched_before_one_is_chosen(
    make_index: Callable[..., QdrantIndex], requests: Counter[str]
) -> None:
    catalog = FakeIndexCatalog()
    catalog.add(1, {f"c{number:03}": "the same words" for number in reversed(range(200))})
    view = make_index().view(catalog.feed())
    vector = FakeEmbedder().embed(["same"])[0].vector
    assert [chunk_id for chunk_id, _ in view.bm25(["same"], 3)] == ["c000", "c001", "c002"]
    assert requests["query"] > 1
    assert [chunk_id for chunk_id, _ in view.dense(vector, 3)] == ["c000", "c001", "c002"]


def test_scores_hold_however_far_the_mean_length_has_moved(
    make_index: Callable[..., QdrantIndex], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gawah.index.qdrant_sync._ROWS_A_PIECE", 5)  # whose lengths are not those of all
    index, catalog = make_index(), filled()
    index.view(catalog.feed())
    rng = np.random.default_rng(7)
    words = ["backup", "database", "cats", *(f"w{n}" for n in range(30))]
    catalog.add(50, {f"d{n}": " ".join(rng.choice(words, int(rng.integers(40, 250)))) for n in range(60)})
    assert_right(index, catalog)
    assert index.due(catalog.feed()) == "compact"
    index.compact(catalog.feed())
    assert index.due(catalog.feed()) is None
    assert_right(index, catalog)


def test_above_the_size_of_exact_scans_scores_are_exact_all_the_same(make_index: Callable[..., QdrantIndex]) -> None:
    catalog = filled()
    view, oracle = make_index(exact_up_to=0).view(catalog.feed()), FakeIndex().view(catalog.feed())
    vector = FakeEmbedder().embed(["restore a backup"])[0].vector
    expected = dict(oracle.dense(vector, 99))
    assert all(score == pytest.approx(expected[chunk_id], rel=1e-12) for chunk_id, score in view.dense(vector, 5))


def test_a_filter_of_many_documents_admits_these_and_no_others(make_index: Callable[..., QdrantIndex]) -> None:
    catalog = FakeIndexCatalog()
    for number in range(150):
        catalog.add(number, {f"c{number:03}": f"backup number {number}"})
    view, oracle = make_index().view(catalog.feed()), FakeIndex().view(catalog.feed())
    for numbers in ([*range(3, 99), *range(101, 150, 2)], list(range(0, 150, 2))):
        assert_same_answers(view, oracle, "backup number 7", 5, np.array(numbers, np.int64))


def test_which_terms_a_chunk_holds_is_one_request_for_what_was_found_before(
    make_index: Callable[..., QdrantIndex], requests: Counter[str]
) -> None:
    catalog = filled()
    view, oracle = make_index().view(catalog.feed()), FakeIndex().view(catalog.feed())
    terms, ids = ["database", "err_conn-17", "zebra"], ["c2", "c0", "c8", "c4"]
    expected = oracle.holds(terms, ids)
    assert view.holds(terms, ids) == expected  # nothing was searched yet
    view.dense(FakeEmbedder().embed(["database"])[0].vector, 99)
    before = sum(requests.values())
    assert view.holds(terms, ids) == expected
    assert sum(requests.values()) == before + 1


def test_a_query_of_another_model_is_refused(make_index: Callable[..., QdrantIndex]) -> None:
    view = make_index().view(filled().feed())
    with pytest.raises(StampMismatchError, match="different models"):
        view.dense(np.ones(7, np.float32), 3)
    with pytest.raises(ValueError, match="finite"):
        view.dense(np.full(FakeEmbedder().stamp.dimensions, np.nan, np.float32), 3)


# --- keeping up


def test_who_comes_second_finds_it_done(make_index: Callable[..., QdrantIndex], requests: Counter[str]) -> None:
    catalog = filled()
    make_index().view(catalog.feed())
    written = requests["PUT points"]
    assert written
    other = make_index()
    assert_right(other, catalog)
    assert requests["PUT points"] == written
    catalog.add(77, {"c77": "one more"})
    assert_right(other, catalog)
    assert requests["PUT points"] == written + 1


def test_two_that_load_at_once_load_the_same(make_index: Callable[..., QdrantIndex]) -> None:
    catalog = filled()
    for _ in range(3):
        catalog.add(catalog.n_seqs + 20, {f"x{catalog.n_seqs}": "cats and backups"})
    feeds, indexes = [catalog.feed()] * 4, [make_index() for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        views = list(pool.map(lambda pair: pair[0].view(pair[1]), zip(indexes, feeds, strict=True)))
    assert {view.n_chunks for view in views} == {len(TEXTS) + 3}
    assert_right(indexes[0], catalog)
    assert make_index().check(catalog.feed()) == ()


class Cut(Connection):
    """Fails, as a killed process does, at its n-th request and all later ones."""

    def __init__(self, url: str, n_requests: int) -> None:
        super().__init__(url)
        self.n_left = n_requests

    def ask(self, request):  # type: ignore[no-untyped-def]
        if not self.n_left:
            raise StoreError("killed")
        self.n_left -= 1
        return super().ask(request)


def test_a_sync_that_was_killed_anywhere_is_finished_by_the_next(
    make_index: Callable[..., QdrantIndex], server: Server
) -> None:
    catalog = filled(8)
    n_kills = 0
    for n_requests in range(45):
        if n_requests % 5 == 4:  # something to do in every phase: rows, deletions, a collection
            catalog.delete(n_requests // 5)
            catalog.add(100 + n_requests, {f"n{n_requests}": "a backup more"})
        if n_requests % 5 == 2:
            catalog.delete(97 + n_requests)  # what was added last, and may be in the collection only
        try:
            make_index(Cut(server.url, n_requests % 23)).view(catalog.feed())
        except StoreError:
            n_kills += 1
    assert n_kills > 15
    index = make_index()
    assert_right(index, catalog)
    assert index.check(catalog.feed()) == ()


def test_a_process_that_reads_an_older_epoch_is_answered_from_that(make_index: Callable[..., QdrantIndex]) -> None:
    catalog = filled()
    before = catalog.feed()
    catalog.delete(2)
    catalog.add(40, {"c40": "a backup of the database, and another backup"})
    catalog.delete(4)
    after = catalog.feed()
    index = make_index()
    index.view(before)
    index.view(after)
    view, oracle = make_index().view(before), FakeIndex().view(before)
    for question in ASKED:
        assert_same_answers(view, oracle, question, 3, None)


def test_an_epoch_whose_chunks_never_were_in_the_collection_is_not_answered_without_them(
    make_index: Callable[..., QdrantIndex],
) -> None:
    catalog = filled()
    before = catalog.feed()
    catalog.delete(2)
    make_index().view(catalog.feed())
    with pytest.raises(StoreError, match="ask again"):
        make_index().view(before)


def test_deletions_that_another_index_made_the_catalog_forget_are_found(make_index: Callable[..., QdrantIndex]) -> None:
    catalog = filled()
    make_index().view(catalog.feed())
    catalog.delete(2)
    catalog.register(None, applied_mark=catalog.n_marks)  # as a compaction of the local index does
    catalog.delete(5)
    index = make_index()
    assert_right(index, catalog)
    assert index.check(catalog.feed()) == ()


def test_dead_points_are_removed_when_there_are_many(
    make_index: Callable[..., QdrantIndex], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gawah.index.qdrant._DEAD_AT_LEAST", 2)
    index, catalog = make_index(), filled()
    assert index.due(catalog.feed()) is None
    for number in (0, 1, 2):
        index.view(catalog.feed())
        catalog.delete(number)
    assert index.due(catalog.feed()) == "seal"
    assert index.seal(catalog.feed()) is None
    assert index.due(catalog.feed()) is None
    assert_right(index, catalog)
    assert_right(make_index(), catalog)


def test_lost_and_stray_points_are_faults_that_a_repair_mends(
    make_index: Callable[..., QdrantIndex], server: Server
) -> None:
    from qdrant_client.http import models as qdrant

    index, catalog = make_index(), filled()
    index.view(catalog.feed())
    name = index.alias(1)
    Connection(server.url).delete(name, qdrant.Filter(must=[qdrant.HasIdCondition(has_id=[2, 3])]))
    assert index.check(catalog.feed()) == ("2 chunks are missing in the Qdrant collection",)
    assert index.repair(catalog.feed()) == []
    assert index.check(catalog.feed()) == ()
    assert_right(index, catalog)


def test_a_server_that_lost_everything_is_filled_again(make_index: Callable[..., QdrantIndex]) -> None:
    index, catalog = make_index(), filled()
    view = index.view(catalog.feed())
    make_index().drop()
    with pytest.raises(IndexLegError, match=r"the bm25 leg failed: the Qdrant server .* refused with status 404"):
        view.bm25(["backup"], 3)
    assert_right(index, catalog)


def test_what_a_broken_off_build_left_is_removed_and_what_is_in_use_stays(
    make_index: Callable[..., QdrantIndex], server: Server, tmp_path: Path
) -> None:
    index, catalog = make_index(), filled()
    index.view(catalog.feed())
    left = f"{index.alias(1)}.0123456789ab"
    Connection(server.url).create(left, 8)
    assert index.remove_unregistered([]) == (left,)
    assert index.remove_unregistered([]) == ()
    assert_right(index, catalog)


@pytest.mark.parametrize("n_more", [1, 2, 3])
def test_a_restored_catalog_is_not_answered_from_what_was_indexed_of_the_one_before(
    make_index: Callable[..., QdrantIndex], n_more: int
) -> None:
    """Its collection is ahead of it, at the same number, or behind: in each case under other tokens."""
    index, catalog = make_index(), filled()
    index.view(catalog.feed())
    restored = copy.deepcopy(catalog)
    catalog.add(50, {"c50": "restore a backup that was lost"})
    catalog.delete(0)
    index.view(catalog.feed())
    for number in range(n_more):
        restored.add(60 + number, {f"c{60 + number}": f"restore another backup {number}"})
    assert restored.epoch - catalog.epoch == n_more - 2
    for each in (index, make_index()):
        assert_right(each, restored)
    restored.delete(60)
    assert_right(index, restored)


def test_a_compaction_leaves_one_collection_a_generation_and_no_segments_on_disk(
    server: Server, tmp_path: Path
) -> None:
    catalog = filled()
    local = LocalIndex(tmp_path, analyze_plain)
    record = local.seal(catalog.feed())
    catalog.register(record)
    index = QdrantIndex(Connection(server.url), f"gawah-{uuid4().hex[:8]}", analyze_plain, tmp_path)
    index.view(catalog.feed())
    other = FakeIndexCatalog(generation=2)
    other.add(1, {"c1": "another generation"})
    index.view(other.feed())
    assert index.compact(other.feed()) is None
    assert index.remove_unregistered([]) == (record.name,) if record else ()
    assert not [path for path in (tmp_path / "segments").iterdir() if not path.name.startswith(TEMPORARY_PREFIX)]
    prefix = index.alias(1).rpartition("-g")[0]
    names, collections = Connection(server.url).names(prefix)
    assert sorted(names) == [index.alias(1), index.alias(2)]  # what answers now and what is built beside it
    assert sorted(collections) == sorted(names.values())
    index.drop_generation(1)
    names, collections = Connection(server.url).names(prefix)
    assert list(names) == [index.alias(2)]
    assert collections == [names[index.alias(2)]]
    assert index.view(other.feed()).n_chunks == 1
    for row in [*other.rows]:
        other.delete(row.document_no)
    index.compact(other.feed())
    assert index.view(other.feed()).n_chunks == 0
    index.close()


@settings(max_examples=8)
@given(st.data())
def test_any_history_is_answered_as_by_looking_at_every_chunk(server: Server, data: st.DataObject) -> None:
    name = f"gawah-{uuid4().hex[:8]}"
    indexes = [QdrantIndex(Connection(server.url), name, analyze_plain, Path("nowhere")) for _ in range(2)]
    catalog, feeds = FakeIndexCatalog(), []
    for step in range(data.draw(st.integers(2, 7))):
        living = sorted({row.document_no for row in catalog.rows})
        act = data.draw(st.sampled_from(["add", "add", "delete", "compact", "seal"]))
        if act == "delete" and living:
            catalog.delete(data.draw(st.sampled_from(living)))
        elif act in ("compact", "seal"):
            getattr(indexes[0], act)(catalog.feed())
            feeds.clear()  # who still reads those may miss what is gone for good
        else:
            texts = data.draw(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=3))
            catalog.add(100 + step, {f"s{step}-{n}": text for n, text in enumerate(texts)})
        feeds.append(catalog.feed())
        index = data.draw(st.sampled_from(indexes))
        feed = data.draw(st.sampled_from(feeds))
        view, oracle = index.view(feed), FakeIndex().view(feed)
        assert_same_answers(view, oracle, data.draw(st.sampled_from(ASKED)), 2, None)
    for index in indexes:
        index.close()


# --- failures


def test_a_server_that_goes_away_is_one_line_a_leg_and_one_that_comes_back_is_used(tmp_path: Path) -> None:
    from gawah.testing.qdrant_engine import Server

    catalog, pauses = filled(), []
    with Server(tmp_path) as running:
        port = running.port
        index = QdrantIndex(Connection(running.url, pause=pauses.append), "gawah-1", analyze_plain, tmp_path / "none")
        view = index.view(catalog.feed())
    down = f"no Qdrant server answers at http://127.0.0.1:{port}; start it, or set index to local"
    vector = FakeEmbedder().embed(["cats"])[0].vector
    with pytest.raises(IndexLegError) as dense:
        view.dense(vector, 3)
    with pytest.raises(IndexLegError) as lexical:
        view.bm25(["cats"], 3)
    with pytest.raises(StoreError) as opening:
        index.view(catalog.feed())
    assert (dense.value.leg, str(dense.value)) == ("dense", f"the dense leg failed: {down}")
    assert (lexical.value.leg, str(lexical.value)) == ("bm25", f"the bm25 leg failed: {down}")
    assert str(opening.value) == down
    assert pauses == [0.1, 0.5, 2.0] * 3
    assert view.cosine(vector, ["c3"])  # the catalog's
    with Server(tmp_path, port):
        assert_right(index, catalog)
    index.close()


def test_a_key_is_sent_and_never_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    from gawah.testing.qdrant_engine import Server

    with Server(tmp_path, api_key="sesame") as running:
        with pytest.raises(StoreError, match="wants another key; set QDRANT_API_KEY") as refused:
            Connection(running.url, api_key="secret-word").names("")
        assert "secret-word" not in str(refused.value)
        monkeypatch.setenv("QDRANT_API_KEY", "sesame")
        assert Connection(running.url).names("") == ({}, [])
    assert not recwarn.list


@pytest.mark.parametrize(
    "url",
    [
        "http://:secret@host:6333",
        "http://secret@host",
        "ftp://host",
        "http://",
        "http://host:none",
        "http://h?key=secret",
    ],
)
def test_an_address_that_cannot_be_used_is_refused_without_its_key(url: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        Connection(url)
    assert "\n" not in str(refused.value)
    assert "@" not in url or "secret" not in str(refused.value)


@pytest.mark.parametrize(
    "body", [b"hello", b'{"result": null, "status": "ok", "time": 0}', b'{"result": {"aliases": [1]}}']
)
def test_an_answer_that_is_no_qdrants_is_one_line(body: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening, ThreadPoolExecutor(1) as pool:

        def answer() -> None:
            line, _ = listening.accept()
            line.recv(4096)
            line.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(body) + body)
            line.close()

        pool.submit(answer)
        with pytest.raises(StoreError, match="gave no answer that can be read") as refused:
            Connection(f"http://127.0.0.1:{listening.getsockname()[1]}").names("")
    assert "\n" not in str(refused.value)


# --- processes


LOADER = """
import sys
from pathlib import Path
from gawah.index.qdrant import QdrantIndex
from gawah.index.qdrant_requests import Connection
from gawah.testing.index import FakeIndexCatalog, analyze_plain
url, name, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
catalog = FakeIndexCatalog()
catalog.add(1, {f"c{i:04}": f"backup number {i} of {i % 7} cats" for i in range(n)})
print("ready", flush=True)
QdrantIndex(Connection(url), name, analyze_plain, Path("nowhere")).view(catalog.feed())
print("done", flush=True)
"""


def test_a_killed_loader_and_two_more_at_once_leave_what_one_undisturbed_would(server: Server) -> None:
    name, n_chunks = f"gawah-{uuid4().hex[:8]}", 800
    asked: list[str] = []
    answer = server.engine.answer

    def noting(method: str, path: str, body: dict[str, object]) -> object:
        if method == "PUT" and path.endswith("/points"):
            asked.append(path)
            if len(asked) == 3:
                loader.kill()  # while a piece is being written
        return answer(method, path, body)

    server.engine.answer = noting  # type: ignore[method-assign]
    try:
        loader = _loader(server.url, name, n_chunks)
        assert loader.communicate() == ("ready\n", None)
        assert loader.returncode == -9
        both = [_loader(server.url, name, n_chunks) for _ in range(2)]
        assert [each.communicate()[0] for each in both] == ["ready\ndone\n"] * 2
    finally:
        server.engine.answer = answer  # type: ignore[method-assign]
    catalog = FakeIndexCatalog()
    catalog.add(1, {f"c{i:04}": f"backup number {i} of {i % 7} cats" for i in range(n_chunks)})
    index = QdrantIndex(Connection(server.url), name, analyze_plain, Path("nowhere"))
    before = len(asked)
    view, oracle = index.view(catalog.feed()), FakeIndex().view(catalog.feed())
    assert len(asked) == before  # nothing was left to do
    assert view.contents.total_length == sum(len(analyze_plain(row.text)[0]) for row in catalog.rows)
    assert_same_hits(view.bm25(["7", "cats"], 5), oracle.bm25(["7", "cats"], n_chunks), 5)
    assert index.check(catalog.feed()) == ()
    index.close()


def _loader(url: str, name: str, n_chunks: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", LOADER, url, name, str(n_chunks)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
