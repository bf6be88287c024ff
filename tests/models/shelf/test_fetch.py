"""A fetched model is whole and the one that was announced, or it is not there; what arrived is not asked for twice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.models.shelf.loopback_hub import COMMIT, Hub, running

from gawah.errors import GawahError, HubError, ModelError, NotFoundError, UsageError
from gawah.fingerprint import sha256_bytes
from gawah.models.shelf.fetch import Fetched, fetch
from gawah.models.shelf.known import KNOWN, PACKAGED, KnownModel, known_model
from gawah.models.shelf.place import MANIFEST, faults_in, model_folder, read_manifest
from gawah.models.shelf.transfer import NotThereError

WEIGHTS = bytes(range(256)) * 400
FILES = {
    "config.json": b"{}",
    "tokenizer.json": b'{"a": 1}',
    "model.safetensors": WEIGHTS,
    "README.md": b"license: mit\n",
}
MODEL = KnownModel("small", "someone/small", "any", "", "mit", len(WEIGHTS))
LARGE = "/someone/small/resolve/" + COMMIT + "/model.safetensors"


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    return tmp_path / "models"


@contextmanager
def pointed_at(address: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as environment:
        environment.setenv("HF_ENDPOINT", address)
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            environment.delenv(name, raising=False)
        yield


@pytest.fixture
def get(shelf: Path, monkeypatch: pytest.MonkeyPatch):
    """Fetches the model from a hub that behaves as told, and returns what was done."""

    def fetched(hub: Hub, model: KnownModel = MODEL, *, source: Path | None = None, refused: str = "") -> Fetched:
        def check(folder: Path) -> None:
            if refused:
                raise ModelError(refused)

        with running(hub) as address, pointed_at(address, monkeypatch):
            return fetch(model, shelf, source=source, check=check, progress=lambda *_: None)

    return fetched


def failure(get, hub: Hub, kind: type[GawahError] = ModelError, model: KnownModel = MODEL, **options) -> str:
    with pytest.raises(kind) as caught:
        get(hub, model, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_model_is_there_whole_with_a_manifest(get, shelf: Path) -> None:
    hub = Hub(FILES)
    done = get(hub)
    folder = model_folder(shelf, MODEL.repository)
    assert (done.folder, done.was_there) == (folder, False)
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.name != MANIFEST} == FILES
    manifest = read_manifest(folder)
    assert manifest == done.manifest
    assert (manifest.revision, manifest.size_bytes) == (COMMIT, sum(map(len, FILES.values())))
    assert {name: record.sha256 for name, record in manifest.files.items()} == {
        name: sha256_bytes(data) for name, data in FILES.items()
    }
    assert not any(record.pinned for record in manifest.files.values())
    assert hub.asked[-2:] == [
        LARGE,
        "/cdn/model.safetensors",
    ]  # of the commit that the first file named; the weights last
    assert sorted(path.name for path in shelf.iterdir()) == [".lock-someone--small", "someone--small"]


def test_what_is_there_and_whole_is_not_asked_for_again(get) -> None:
    get(Hub(FILES))
    hub = Hub({})
    assert get(hub).was_there
    assert hub.asked == []


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_what_was_damaged_is_fetched_again_and_must_have_the_recorded_hash(get, shelf: Path, name: str) -> None:
    folder = get(Hub(FILES)).folder
    (folder / name).write_bytes(b"damaged")
    hub = Hub(FILES)
    assert not get(hub).was_there
    assert (folder / name).read_bytes() == FILES[name]
    assert all(COMMIT in path for path in hub.asked if "/resolve/" in path)  # not what `main` is by now
    (folder / name).unlink()
    other = failure(get, Hub({**FILES, name: b"{} " + FILES[name]}))
    assert f"not {sha256_bytes(FILES[name])} as recorded; nothing was installed" in other


def test_a_pinned_hash_holds_on_the_first_use(get, shelf: Path) -> None:
    pinned = KnownModel("small", "someone/small", "any", "", "", 0, pinned={"model.safetensors": sha256_bytes(WEIGHTS)})
    record = get(Hub(FILES), pinned).manifest.files
    assert {name for name, one in record.items() if one.pinned} == {"model.safetensors"}


@pytest.mark.parametrize(
    ("name", "value"),
    [("ALL_PROXY", "socks5://127.0.0.1:9"), ("HTTPS_PROXY", "foo://x"), ("SSL_CERT_FILE", "/nowhere/certificates.pem")],
)
def test_a_proxy_or_certificates_that_cannot_be_used_are_one_line(
    shelf: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(HubError, match="the environment's proxy or certificates cannot be used") as caught:
        fetch(MODEL, shelf, source=None, check=lambda _: None, progress=lambda *_: None)
    assert "\n" not in str(caught.value)


def test_a_wrong_pinned_hash_installs_nothing(get, shelf: Path) -> None:
    pinned = KnownModel("small", "someone/small", "any", "", "", 0, pinned={"model.safetensors": "0" * 64})
    assert f"not {'0' * 64} as recorded" in failure(get, Hub(FILES), model=pinned)
    assert not model_folder(shelf, MODEL.repository).exists()


@pytest.mark.parametrize(("name", "said"), [("model.safetensors", "hashes to"), ("config.json", "has the git hash")])
def test_wrong_bytes_under_the_right_announcement_are_thrown_away(get, shelf: Path, name: str, said: str) -> None:
    files = {**FILES, "config.json": b"{ }"}
    message = failure(get, Hub(files, spoil=name))
    assert said in message
    assert "as announced; nothing was installed" in message
    assert not model_folder(shelf, MODEL.repository).exists()
    assert get(Hub(files)).manifest.files[name].sha256 == sha256_bytes(files[name])  # nothing spoiled is built upon


def test_the_etag_of_a_server_that_is_no_hub_is_no_hash(get) -> None:
    assert get(Hub(FILES, announced_commit="", spoil="config.json")).manifest.files[
        "config.json"
    ].sha256 != sha256_bytes(b"{}")


def test_a_connection_that_is_about_to_be_closed_is_not_used_again(get) -> None:
    """Between its answer and its end a server's connection looks alive: who asks on it gets nothing, and for no reason."""
    assert get(Hub(FILES, tires=True)).manifest.size_bytes == sum(map(len, FILES.values()))


def test_a_broken_connection_is_resumed_where_it_broke(get) -> None:
    hub = Hub(FILES, break_after=[1000, 50_000])
    get(hub)
    assert [line for line in hub.asked if line.startswith("/cdn/")] == [
        "/cdn/model.safetensors", "/cdn/model.safetensors bytes=1000-", "/cdn/model.safetensors bytes=51000-",
    ]  # fmt: skip


def test_a_fetch_that_broke_off_goes_on_the_next_time(get, shelf: Path) -> None:
    message = failure(get, Hub(FILES, break_after=[20_000, 0, 0, 0, 0, 0]), HubError)
    assert "20,000 bytes are kept, the same command goes on from there" in message
    assert not model_folder(shelf, MODEL.repository).exists()
    hub = Hub(FILES)
    assert get(hub).manifest.files["model.safetensors"].sha256 == sha256_bytes(WEIGHTS)
    assert hub.asked[-1] == "/cdn/model.safetensors bytes=20000-"


@pytest.mark.parametrize("changes", [{"ranges": False}, {"etags": False}, {"range_start": 5}], ids=str)
def test_a_server_that_cannot_resume_sends_all_again(get, changes: dict) -> None:
    hub = Hub(FILES, break_after=[1000], **changes)
    assert get(hub).manifest.files["model.safetensors"].sha256 == sha256_bytes(WEIGHTS)


def test_a_part_of_another_version_is_not_built_upon(get) -> None:
    failure(get, Hub(FILES, break_after=[20_000, 0, 0, 0, 0, 0]), HubError)
    newer = {**FILES, "model.safetensors": WEIGHTS[::-1]}
    assert get(Hub(newer)).manifest.files["model.safetensors"].sha256 == sha256_bytes(WEIGHTS[::-1])


def test_a_part_longer_than_the_file_is_thrown_away(get, shelf: Path) -> None:
    failure(get, Hub(FILES, break_after=[20_000, 0, 0, 0, 0, 0]), HubError)
    part = shelf / ".fetching-someone--small" / "model.safetensors.part"
    part.write_bytes(WEIGHTS * 2)
    assert get(Hub(FILES)).manifest.files["model.safetensors"].sha256 == sha256_bytes(WEIGHTS)


def test_a_spoiled_part_is_noticed_at_the_end(get, shelf: Path) -> None:
    failure(get, Hub(FILES, break_after=[20_000, 0, 0, 0, 0, 0]), HubError)
    part = shelf / ".fetching-someone--small" / "model.safetensors.part"
    part.write_bytes(bytes(20_000))
    assert "as announced" in failure(get, Hub(FILES))
    assert get(Hub(FILES)).manifest.files["model.safetensors"].sha256 == sha256_bytes(WEIGHTS)


@given(st.lists(st.integers(0, 60_000), max_size=3))
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_wherever_a_connection_breaks_the_file_is_the_one_announced(
    tmp_path_factory, monkeypatch, breaks: list[int]
) -> None:
    hub = Hub(FILES, break_after=breaks)
    shelf = tmp_path_factory.mktemp("shelf")
    with running(hub) as address, pointed_at(address, monkeypatch):
        for _ in range(4):  # a try that brings nothing ends the command, as a user would see it
            try:
                done = fetch(MODEL, shelf, source=None, check=lambda _: None, progress=lambda *_: None)
            except HubError:
                continue
            assert (done.folder / "model.safetensors").read_bytes() == WEIGHTS
            return
    raise AssertionError("never whole")


def test_a_weak_etag_is_no_hash(get) -> None:
    assert get(Hub(FILES, weak_etags=True)).manifest.files["config.json"].size_bytes == 2


@pytest.mark.parametrize(
    ("changes", "kind", "said"),
    [
        ({"status": {"config.json": 404}}, NotThereError, "there is no http"),
        ({"status": {"model.safetensors": 404}}, NotThereError, "with --from"),
        ({"status": {"config.json": 401}}, HubError, "is not given to everybody (401)"),
        ({"status": {"config.json": 503}}, HubError, "is not given now (status 503); try again later"),
        ({"status": {"README.md": 500}}, HubError, "status 500"),
        ({"loops": True}, HubError, "leads from place to place without end"),
        ({"leads_to": "file:///etc/passwd"}, HubError, "not encrypted"),
        ({"leads_to": "http://127.0.0.1:9/x"}, HubError, "cannot be read"),
        ({"leads_to": "http://127.0.0.1:99999/x"}, HubError, "cannot be read"),
        ({"claims_bytes": len(WEIGHTS) + 1}, HubError, "cannot be read"),
    ],
    ids=str,
)  # fmt: skip
def test_what_a_hub_can_do_wrong_is_one_line_and_installs_nothing(
    get, shelf: Path, changes: dict, kind, said: str
) -> None:
    assert said in failure(get, Hub(FILES, **changes), kind)
    assert not model_folder(shelf, MODEL.repository).exists()


def test_a_refusal_half_way_keeps_what_has_arrived(get, shelf: Path) -> None:
    failure(get, Hub(FILES, break_after=[20_000, 0, 0, 0, 0, 0]), HubError)
    failure(get, Hub(FILES, status={"model.safetensors": 503}), HubError)
    assert (shelf / ".fetching-someone--small" / "model.safetensors.part").stat().st_size == 20_000


def test_files_that_a_model_need_not_have_are_left_out(get) -> None:
    only = {name: data for name, data in FILES.items() if name != "README.md"}
    assert set(get(Hub(only)).manifest.files) == set(only)


def test_a_file_of_more_bytes_than_may_be_is_not_taken(get, shelf: Path) -> None:
    model = KnownModel("small", "someone/small", "any", "", "", 1000)
    assert "more than 2,000 bytes" in failure(get, Hub(FILES), model=model)
    assert not list((shelf / ".fetching-someone--small").glob("*.part"))


def test_a_commit_that_is_none_is_not_asked_for(get) -> None:
    hub = Hub(FILES, announced_commit="../../../etc")
    assert get(hub).manifest.revision == ""
    assert not any(".." in path for path in hub.asked)


def test_without_network_one_line_names_the_way_without_it(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        pointed_at("http://127.0.0.1:9", monkeypatch),
        pytest.raises(HubError, match="--from takes a folder") as caught,
    ):
        fetch(MODEL, shelf, source=None, check=lambda _: None, progress=lambda *_: None)
    assert caught.value.exit_code == 7


@pytest.mark.parametrize("address", ["nonsense", "ftp://127.0.0.1", "http://127.0.0.1:99999"])
def test_an_endpoint_that_is_none_is_one_line(shelf: Path, monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    with pointed_at(address, monkeypatch), pytest.raises(HubError, match="cannot be read"):
        fetch(MODEL, shelf, source=None, check=lambda _: None, progress=lambda *_: None)


def test_what_cannot_be_used_is_not_installed(get, shelf: Path) -> None:
    assert failure(get, Hub(FILES), refused="it is a page of an error") == "it is a page of an error"
    assert not model_folder(shelf, MODEL.repository).exists()


def write(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir(parents=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def test_a_folder_takes_the_place_of_the_network(get, tmp_path: Path) -> None:
    hub = Hub({})
    source = write(tmp_path / "stick", {**FILES, "other.bin": b"x"})
    done = get(hub, source=source)
    assert (hub.asked, set(done.manifest.files), done.manifest.origin) == ([], set(FILES), str(source))
    assert faults_in(done.folder, done.manifest) == []


def test_a_hub_clients_cache_is_such_a_folder(get, tmp_path: Path) -> None:
    write(tmp_path / "models--someone--small" / "snapshots" / "abc", FILES)
    assert set(get(Hub({}), source=tmp_path / "models--someone--small").manifest.files) == set(FILES)


def test_a_folder_without_the_files_is_one_line(get, tmp_path: Path) -> None:
    source = write(tmp_path / "stick", {"config.json": b"{}"})
    assert "has no file tokenizer.json" in failure(get, Hub({}), NotFoundError, source=source)
    assert "has no file config.json" in failure(get, Hub({}), NotFoundError, source=tmp_path / "nowhere")


def test_a_folder_with_other_bytes_than_recorded_is_refused(get, tmp_path: Path) -> None:
    folder = get(Hub(FILES)).folder
    (folder / "config.json").unlink()
    source = write(tmp_path / "stick", {**FILES, "tokenizer.json": b"[]"})
    assert "as recorded; nothing was installed" in failure(get, Hub({}), source=source)


def test_two_fetches_at_once_do_not_meet(get, shelf: Path) -> None:
    import fcntl

    shelf.mkdir()
    with (shelf / ".lock-someone--small").open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert "another process is fetching" in failure(get, Hub(FILES))


def test_a_disk_that_takes_nothing_is_one_line(get, shelf: Path) -> None:
    shelf.parent.mkdir(exist_ok=True)
    shelf.write_text("a file, not a folder")
    assert "name another cache folder" in failure(get, Hub(FILES))


@pytest.mark.parametrize("body", ["[]", "{", '{"schema": "gawah.model/1"}', '{"schema": "other"}', '{"schema": "gawah.model/1", "repository": "r", "origin": "", "revision": "", "files": {"a": {"sha256": "x", "size_bytes": 1, "pinned": false}}}'])  # fmt: skip
def test_a_damaged_manifest_is_one_line(get, body: str) -> None:
    folder = get(Hub(FILES)).folder
    (folder / MANIFEST).write_text(body)
    assert str(folder) in failure(get, Hub(FILES))


def test_the_manifest_can_be_read_by_others(get) -> None:
    body = json.loads((get(Hub(FILES)).folder / MANIFEST).read_text())
    assert (body["schema"], body["repository"], body["revision"]) == ("gawah.model/1", "someone/small", COMMIT)
    assert body["files"]["config.json"] == {"sha256": sha256_bytes(b"{}"), "size_bytes": 2, "pinned": False}


def test_models_are_known_by_name_and_by_repository() -> None:
    for model in KNOWN:
        assert known_model(model.name) is known_model(model.repository) is model
        assert all(len(sha256) == 64 for sha256 in model.pinned.values())
        assert model.licence
        assert model.about_bytes > 1_000_000
    assert known_model("owner/name").purpose == "any"
    assert len({model.name for model in KNOWN}) == len(KNOWN)
    assert {model.name for model in PACKAGED}


@pytest.mark.parametrize(
    "name", ["", "nobody", "a/b/c", "../x", "a/..", "a--b/c", "/etc", "a/b\n", "owner/na me", "ö/x"]
)
def test_what_is_no_models_name_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="there is no model"):
        known_model(name)


def test_the_packaged_encoder_is_pinned_to_the_same_hash_everywhere() -> None:
    from gawah.models.checkpoint import PACKAGED_SHA256

    assert KNOWN[0].pinned == PACKAGED[0].pinned == {"model.safetensors": PACKAGED_SHA256}
