"""Every entry of a folder is found, refused with a reason, or counted; what is read is what is hashed."""

import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.errors import ExtractionError, NotFoundError
from gawah.fingerprint import sha256_bytes
from gawah.media_types import UNKNOWN_TYPE, ZONE_TYPE, media_type_of
from gawah.sources import (
    discover,
    discover_files,
    fingerprint_file,
    found_file,
    read_source,
)


def names(discovery):
    return [found.name for found in discovery.files]


def refusals(discovery):
    return {item.name: item.code for item in discovery.refused}


def fill(root, *paths):
    for path in paths:
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(path)
    return root


def test_files_come_by_name_with_slashes_whatever_the_folder_returns(tmp_path):
    fill(tmp_path, "b.md", "a/z.md", "a/b/c.md", "a.md", "Ä.md", "a-b.md")
    assert names(discover(tmp_path, "c")) == sorted(["b.md", "a/z.md", "a/b/c.md", "a.md", "Ä.md", "a-b.md"])


def test_hidden_files_and_folders_are_counted_and_not_entered(tmp_path):
    fill(tmp_path, ".git/config", ".git/objects/x", ".env", "a/.cache/y", "a/b.md")
    discovery = discover(tmp_path, "c")
    assert (names(discovery), discovery.n_hidden, discovery.refused) == (["a/b.md"], 3, ())


def test_a_hidden_root_was_named_on_purpose(tmp_path):
    root = fill(tmp_path / ".notes", "a.md")
    assert names(discover(root, "c")) == ["a.md"]


def test_links_pipes_and_sockets_are_refused_with_a_reason(tmp_path):
    fill(tmp_path, "real.md", "folder/x.md")
    (tmp_path / "link.md").symlink_to("real.md")
    (tmp_path / "up").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "broken.md").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "s"))
        discovery = discover(tmp_path, "c")
    assert names(discovery) == ["folder/x.md", "real.md"]
    special = dict.fromkeys(("pipe", "s"), "special_file")
    assert refusals(discovery) == {"broken.md": "symlink", "link.md": "symlink", "up": "symlink", **special}
    assert all(item.name in item.reason for item in discovery.refused)


def test_a_device_as_root_is_refused():
    discovery = discover(Path("/dev/null"), "c")
    assert refusals(discovery) == {"null": "special_file"}


def test_empty_files_and_odd_names_are_kept_as_they_are(tmp_path):
    odd = ["x.pdf", "x.pdf:Zone.Identifier", "A.PDF", "zero.pdf", "new\nline.md", "tab\t.md", "100%.md", "ॐ.md", " .md"]
    for name in odd:
        (tmp_path / name).write_bytes(b"")
    discovery = discover(tmp_path, "c")
    assert names(discovery) == sorted(odd)
    for found in discovery.files:
        source, data = read_source(found, "c", found.name, 10)
        assert (data, source.size_bytes, source.sha256) == (b"", 0, sha256_bytes(b""))
        assert found_file(source.uri).path == found.path


def test_a_name_that_is_not_utf8_becomes_valid_unicode_and_stays_readable(tmp_path):
    try:
        (tmp_path / os.fsdecode(b"caf\xe9.md")).write_bytes(b"x")
    except OSError:
        pytest.skip("this file system refuses names that are not UTF-8")
    (found,) = discover(tmp_path, "c").files
    assert found.name == "caf\\xe9.md"
    source, data = read_source(found, "c", found.name, 10)
    assert (data, found_file(source.uri).path) == (b"x", found.path)
    source.uri.encode()


def test_a_missing_root_is_not_found(tmp_path):
    with pytest.raises(NotFoundError, match="no such file or folder"):
        discover(tmp_path / "nowhere", "c")


def test_a_file_as_root_is_the_one_file(tmp_path):
    fill(tmp_path, "a.md", "b.md")
    discovery = discover(tmp_path / "a.md", "c")
    assert (names(discovery), discovery.is_folder) == (["a.md"], False)


def test_a_link_as_root_is_followed_since_it_was_named(tmp_path):
    fill(tmp_path, "folder/a.md")
    (tmp_path / "link").symlink_to("folder", target_is_directory=True)
    (tmp_path / "link.md").symlink_to("folder/a.md")
    assert names(discover(tmp_path / "link", "c")) == ["a.md"]
    (found,) = discover(tmp_path / "link.md", "c").files
    assert read_source(found, "c", "link.md", 100)[1] == b"folder/a.md"


def test_an_empty_folder_has_no_files(tmp_path):
    discovery = discover(tmp_path, "c")
    assert (discovery.files, discovery.refused, discovery.n_hidden, discovery.is_folder) == ((), (), 0, True)


def test_a_list_of_files_is_named_from_the_folder_they_share(tmp_path):
    fill(tmp_path, "a/x.md", "b/x.md", "c/y.md")
    paths = [tmp_path / "b/x.md", tmp_path / "a/x.md", tmp_path / "gone.md", tmp_path / "c"]
    discovery = discover_files(paths, "c")
    assert names(discovery) == ["a/x.md", "b/x.md"]
    assert refusals(discovery) == {"gone.md": "vanished", "c": "folder"}


def test_what_is_read_is_what_is_hashed(tmp_path):
    (tmp_path / "a b.md").write_bytes(b"one\r\ntwo\x00")
    (found,) = discover(tmp_path, "c").files
    source, data = read_source(found, "coll", "given/name.md", 100)
    assert data == b"one\r\ntwo\x00"
    assert (source.collection, source.name, source.size_bytes) == ("coll", "given/name.md", 9)
    assert source.sha256 == sha256_bytes(data) == fingerprint_file(found.path)
    assert source.uri == (tmp_path / "a b.md").as_uri()


def error_of(found, max_bytes=100):
    with pytest.raises(ExtractionError) as caught:
        read_source(found, "c", found.name, max_bytes)
    return caught.value


def test_a_file_that_vanished_says_so_and_may_come_back(tmp_path):
    (found,) = discover(fill(tmp_path, "a.md"), "c").files
    found.path.unlink()
    error = error_of(found)
    assert (error.reason_code, error.retryable) == ("vanished", True)
    assert found_file(found.path.as_uri()) is None


def test_a_large_file_names_both_sizes_and_the_setting(tmp_path):
    (tmp_path / "big.txt").write_bytes(bytes(2_500_000))
    (found,) = discover(tmp_path, "c").files
    error = error_of(found, 1_000_000)
    assert (error.reason_code, error.retryable) == ("too_large", False)
    assert all(word in str(error) for word in ("2.5 MB", "1.0 MB", "max_file_mb", "big.txt"))
    assert len(read_source(found, "c", "big.txt", 2_500_000)[1]) == 2_500_000


def test_a_file_swapped_for_a_link_or_pipe_is_not_followed(tmp_path):
    (found,) = discover(fill(tmp_path, "a.md"), "c").files
    found.path.unlink()
    found.path.symlink_to("/etc/hostname")
    assert error_of(found).reason_code == "unreadable"
    found.path.unlink()
    os.mkfifo(found.path)
    assert error_of(found).reason_code == "unreadable"


def test_a_file_without_read_permission_is_unreadable(tmp_path):
    (found,) = discover(fill(tmp_path, "a.md"), "c").files
    found.path.chmod(0)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        error = error_of(found)
    finally:
        if user == 0:
            os.seteuid(0)
    assert (error.reason_code, error.retryable) == ("unreadable", True)
    assert "ermission" in str(error)


def test_a_folder_that_cannot_be_listed_is_refused_and_the_rest_goes_on(tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root lists every folder")
    fill(tmp_path, "a.md", "locked/b.md")
    (tmp_path / "locked").chmod(0)
    discovery = discover(tmp_path, "c")
    (tmp_path / "locked").chmod(0o700)
    assert (names(discovery), refusals(discovery)) == (["a.md"], {"locked": "unreadable"})


def test_a_file_that_grows_while_it_is_read_is_read_again_later():
    clock = Path("/proc/self/stat")  # its size is 0 and it has content: as if it had grown
    if not clock.exists():
        pytest.skip("no /proc here")
    error = error_of(found_file(clock.as_uri()), 100_000)
    assert (error.reason_code, error.retryable) == ("changed_while_read", True)


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("a.md", "text/markdown"),
        ("A.PDF", "application/pdf"),
        ("x.pdf:Zone.Identifier", ZONE_TYPE),
        ("deep/er/Makefile", "text/x-make"),
        ("notes", UNKNOWN_TYPE),
        ("archive.tar.unknown", UNKNOWN_TYPE),
        ("a.HTML", "text/html"),
        ("md", UNKNOWN_TYPE),
        ("10:30.txt", "text/plain"),
    ],
)
def test_a_name_promises_a_type_whatever_its_letter_case(name, media_type):
    assert media_type_of(name) == media_type


@given(st.text())
def test_every_name_has_some_type(name):
    assert "/" in media_type_of(name)
