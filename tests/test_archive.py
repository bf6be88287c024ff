"""ZIP files as folders: members are documents of their own; no name leaves the archive, nothing inflates without bound."""

import io
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.extract.made import docx, words, zipped

from gawah import archive
from gawah.archive import ArchiveError, is_folder_like, read_directory, read_member, split_path
from gawah.errors import ExtractionError
from gawah.sources import discover, fingerprint_file, found_file, is_gone, read_source
from gawah.types import DocumentState

FILES = {
    "a.md": "# Rope\n\nThe rope is 14 mm thick.\n",
    "deep/b.txt": "The knot holds 300 kg.",
    "deep/c.docx": docx(words("The lease ends in May.")),
}


@pytest.fixture
def packed(tmp_path):
    """Writes an archive: `packed({"name": content})`."""

    def write(files, name="box.zip"):
        path = tmp_path / name
        path.write_bytes(files if isinstance(files, bytes) else zipped(files))
        return path

    return write


def code(call):
    with pytest.raises((ArchiveError, ExtractionError)) as caught:
        call()
    return getattr(caught.value, "code", "") if isinstance(caught.value, ArchiveError) else caught.value.reason_code


def test_members_are_found_read_and_hashed_as_files(packed, tmp_path):
    packed(FILES)
    found = {one.name: one for one in discover(tmp_path, "c").files}
    assert sorted(found) == ["box.zip/a.md", "box.zip/deep/b.txt", "box.zip/deep/c.docx"]
    source, data = read_source(found["box.zip/deep/b.txt"], "c", "box.zip/deep/b.txt", 1000)
    assert data == b"The knot holds 300 kg."
    assert (source.media_type, source.size_bytes) == ("text/plain", len(data))
    assert fingerprint_file(found["box.zip/deep/b.txt"].path) == source.sha256
    assert source.uri.endswith("/box.zip/deep/b.txt")
    again = found_file(source.uri)
    assert again is not None
    assert (again.path, again.size_bytes) == (found["box.zip/deep/b.txt"].path, len(data))


def test_an_archive_may_be_the_root(packed):
    discovery = discover(packed(FILES), "c")
    assert discovery.is_folder
    assert [one.name for one in discovery.files] == ["box.zip/a.md", "box.zip/deep/b.txt", "box.zip/deep/c.docx"]


def test_an_archive_is_ingested_followed_and_forgotten_like_a_folder(packed, make_app, tmp_path):
    app = make_app()
    root = tmp_path / "docs"
    root.mkdir()
    inner = zipped({"x.md": "inner"})
    packed({**FILES, "inner.zip": inner, ".hidden/x.md": "x", "__MACOSX/a.md": "x"}, "docs/box.zip")
    ended = {record.name: record for record in app.ingest(app.plan(root))}
    assert {name: record.state for name, record in ended.items()} == {
        "box.zip/a.md": DocumentState.READY, "box.zip/deep/b.txt": DocumentState.READY, "box.zip/deep/c.docx": DocumentState.READY,
        "box.zip/inner.zip": DocumentState.FAILED,
    }  # fmt: skip
    assert ended["box.zip/inner.zip"].failure.code == "unsupported_type"
    plan = app.plan(root)
    assert (plan.work, plan.n_hidden) == ((), 2)
    packed({**FILES, "a.md": "# Rope\n\nThe rope is 15 mm thick.\n"}, "docs/box.zip")
    plan = app.plan(root)
    assert [(item.name, item.why) for item in plan.work] == [("box.zip/a.md", "changed")]
    assert [record.name for record in plan.vanished] == ["box.zip/inner.zip"]
    (root / "box.zip").unlink()
    assert len(app.plan(root).vanished) == 4


def test_a_member_that_left_the_archive_is_gone_and_one_in_a_damaged_archive_is_not(packed):
    path = packed(FILES)
    uri = (path / "a.md").as_uri()
    assert not is_gone(uri)
    assert is_gone((path / "z.md").as_uri())
    assert found_file((path / "z.md").as_uri()) is None
    packed(b"PK\x03\x04 broken")
    assert not is_gone(uri)
    path.unlink()
    assert is_gone(uri)


def test_names_that_lead_out_links_and_doubles_are_refused(tmp_path):
    path = tmp_path / "evil.zip"
    with zipfile.ZipFile(path, "w") as made:
        for name in (
            "../../up.md",
            "/abs.md",
            "a/../../b.md",
            "C:/x.md",
            "a\\b.md",
            "a//b.md",
            "./c.md",
            "bell\x07.md",
            "good.md",
        ):
            made.writestr(name, "x")
        link = zipfile.ZipInfo("link.md")
        link.external_attr = 0o120777 << 16
        made.writestr(link, "/etc/passwd")
        with pytest.warns(UserWarning, match="Duplicate"):
            made.writestr("good.md", "y")
    discovery = discover(tmp_path, "c")
    assert [one.name for one in discovery.files] == ["evil.zip/good.md"]
    codes = sorted(item.code for item in discovery.refused)
    assert codes == ["name_taken", "symlink", *["unsafe_name"] * 8]
    assert [path.name for path in tmp_path.iterdir()] == ["evil.zip"]


def test_what_is_a_document_of_its_own_is_no_folder(packed):
    assert not is_folder_like(packed(docx(words("x"))))
    assert not is_folder_like(packed({"mimetype": "application/epub+zip"}))
    assert not is_folder_like(packed(FILES, "box.bin"))
    assert is_folder_like(packed(FILES, "BOX.ZIP"))


def test_a_broken_archive_is_refused_with_its_reason(packed, tmp_path):
    packed(zipped(FILES)[:-30])
    discovery = discover(tmp_path, "c")
    assert discovery.files == ()
    (refused,) = discovery.refused
    assert (refused.name, refused.code) == ("box.zip", "damaged")


def test_too_many_too_large_and_overlapping_members_are_a_bomb(packed, monkeypatch):
    path = packed({f"{n}.md": "word " * 100 for n in range(5)})
    monkeypatch.setattr(archive, "MOST_INFLATED_BYTES", 1000)
    archive._directory.cache_clear()
    assert code(lambda: read_directory(path)) == "zip_bomb"
    monkeypatch.undo()
    monkeypatch.setattr(archive, "MOST_MEMBERS", 4)
    archive._directory.cache_clear()
    assert code(lambda: read_directory(path)) == "zip_bomb"
    monkeypatch.undo()
    archive._directory.cache_clear()
    whole = bytearray(path.read_bytes())
    at = whole.find(b"PK\x01\x02") + 20
    whole[at : at + 4] = (1 << 20).to_bytes(4, "little")  # the packed size in the directory
    path.write_bytes(whole)
    assert code(lambda: read_directory(path)) in ("zip_bomb", "damaged")


def test_a_member_gives_no_more_than_it_says_and_no_other_bytes(packed):
    path = packed({"a.txt": "x" * 5000})
    assert code(lambda: read_member(path, "a.txt", 100)) == "too_large"
    whole = bytearray(path.read_bytes())
    for mark, at in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        start = whole.find(mark) + at
        whole[start : start + 4] = (10).to_bytes(4, "little")  # it claims 10 bytes
    path.write_bytes(whole)
    assert code(lambda: read_member(path, "a.txt", 100)) == "damaged"


def test_a_locked_member_says_so(packed, tmp_path):
    locked = bytearray(zipped({"a.txt": "secret"}))
    locked[locked.find(b"PK\x01\x02") + 8] |= 1
    packed(bytes(locked))
    (found,) = discover(tmp_path, "c").files
    assert code(lambda: read_source(found, "c", found.name, 1000)) == "encrypted"


def test_only_paths_inside_archives_are_split(packed, tmp_path):
    path = packed(FILES)
    assert split_path(path / "deep" / "b.txt") == (path, "deep/b.txt")
    assert split_path(path) is None
    (tmp_path / "folder.zip").mkdir()
    assert split_path(tmp_path / "folder.zip" / "x") is None
    (tmp_path / "link.zip").symlink_to(path)
    assert split_path(tmp_path / "link.zip" / "a.md") is None


@given(st.integers(0, 2000), st.binary(min_size=1, max_size=6))
@settings(max_examples=80, deadline=None)
def test_a_changed_archive_gives_right_bytes_or_a_code(tmp_path_factory, at, noise):
    whole = bytearray(zipped(FILES))
    at %= len(whole)
    whole[at : at + len(noise)] = noise
    path = tmp_path_factory.mktemp("zip") / "box.zip"
    path.write_bytes(whole)
    originals = {name: content if isinstance(content, bytes) else content.encode() for name, content in FILES.items()}
    try:
        directory = read_directory(path)
    except ArchiveError:
        return
    for name in directory.members:
        try:
            data = read_member(path, name, 100_000)
        except ArchiveError:
            continue
        assert data in originals.values()


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_members_are_what_the_standard_library_reads(tmp_path, method):
    path = tmp_path / "box.zip"
    with zipfile.ZipFile(path, "w", method) as made:
        made.writestr("a.txt", "words " * 1000)
        made.writestr("empty.txt", "")
        with made.open("streamed.txt", "w", force_zip64=True) as stream:
            stream.write(b"streamed")
    with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as oracle:
        for name in oracle.namelist():
            if method == zipfile.ZIP_BZIP2:
                assert code(lambda name=name: read_member(path, name, 10_000)) == "damaged"
            else:
                assert read_member(path, name, 10_000) == oracle.read(name)


def patched(data, mark, offset, value):
    """The bytes with a two-byte number in the record that begins with a mark changed."""
    made = bytearray(data)
    at = made.rindex(mark) + offset
    made[at : at + 2] = value.to_bytes(2, "little")
    return bytes(made)


def test_an_archive_of_an_unknown_version_is_refused_and_the_folder_goes_on(packed, tmp_path):
    packed(patched(zipped(FILES), b"PK\x01\x02", 6, 148))
    (tmp_path / "good.txt").write_text("words")
    discovery = discover(tmp_path, "c")
    assert [one.name for one in discovery.files] == ["good.txt"]
    assert [(one.name, one.code) for one in discovery.refused] == [("box.zip", "damaged")]


def test_a_directory_that_points_before_the_file_is_damaged(packed):
    path = packed(patched(zipped(FILES), b"PK\x05\x06", 16, 60_000))
    names = list(read_directory(path).members)
    assert names
    assert {code(lambda name=name: read_member(path, name, 10_000)) for name in names} == {"damaged"}


def test_an_archive_without_files_is_said_to_be_empty(packed, tmp_path):
    packed({})
    packed({"folder/": ""}, "folders.zip")
    packed({".hidden": "x"}, "hidden.zip")
    discovery = discover(tmp_path, "c")
    assert [(one.name, one.code) for one in discovery.refused] == [("box.zip", "empty"), ("folders.zip", "empty")]
    assert (discovery.files, discovery.n_hidden) == ((), 1)


_NAMES = st.lists(
    st.sampled_from(["a", ".b", "..", "", "c.md", "d.zip", "__MACOSX", "e\x07", "/"]), min_size=1, max_size=4
).map("/".join)


@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")
@given(st.lists(_NAMES, max_size=6))
def test_every_member_is_found_refused_or_counted_as_hidden(tmp_path_factory, names):
    path = tmp_path_factory.mktemp("box") / "box.zip"
    with zipfile.ZipFile(path, "w") as made:
        for name in names:
            made.writestr(zipfile.ZipInfo(name), "x" if not name.endswith("/") else "")
    files = [name for name in names if not name.endswith("/")]
    directory = read_directory(path)
    assert len(directory.members) + len(directory.refused) + directory.n_hidden == len(files)
