"""Originals below the store: by their hash, under harmless names, there when their place is told, gone after a sweep."""

import hashlib
import threading

from hypothesis import given, settings
from hypothesis import strategies as st

from gawah.store.originals import Originals, _harmless
from gawah.store.uploads import OnceKey, Uploads


def keep(originals, content, name):
    incoming = originals.incoming()
    incoming.write(content)
    with originals.placing():
        path = originals.place(incoming, name)
    incoming.discard()
    return path


def test_a_file_is_kept_by_its_hash_and_versions_lie_side_by_side(tmp_path):
    originals = Originals(tmp_path)
    first, second = keep(originals, b"one", "notes/a.md"), keep(originals, b"two", "notes/a.md")
    assert (first.read_bytes(), second.read_bytes()) == (b"one", b"two")
    assert first.parent.name == hashlib.sha256(b"one").hexdigest()
    assert keep(originals, b"one", "notes/a.md") == first
    assert originals.find(first.parent.name) == first
    assert originals.find("0" * 64) is None
    assert list((tmp_path / "originals" / "incoming").iterdir()) == []


@settings(deadline=None)
@given(st.text(max_size=300))
def test_a_harmless_name_is_one_part_of_a_path_that_every_file_system_takes(name):
    made = _harmless(name)
    assert made not in ("", ".", "..")
    assert "/" not in made
    assert "\x00" not in made
    assert not made.startswith(".")
    assert len(made.encode()) <= 200


def test_what_was_cut_off_is_cleared_and_what_still_arrives_is_not(tmp_path):
    originals = Originals(tmp_path)
    arriving = originals.incoming()
    (tmp_path / "originals" / "incoming" / "left").write_bytes(b"half")
    assert originals.clear_incoming() == 1
    assert arriving.path.exists()
    arriving.discard()
    assert originals.clear_incoming() == 0


def test_a_sweep_keeps_what_is_referred_to(tmp_path):
    originals = Originals(tmp_path)
    kept, gone = keep(originals, b"kept", "a.txt"), keep(originals, b"gone", "b.txt")
    also = keep(originals, b"kept", "c.txt")
    with originals.sweeping():
        assert originals.sweep({str(kept)}) == 2
    assert kept.exists()
    assert not gone.exists()
    assert not also.exists()
    assert not gone.parent.exists()


def test_a_sweep_waits_until_a_file_that_is_placed_is_referred_to(tmp_path):
    originals = Originals(tmp_path)
    swept = threading.Event()

    def sweep():
        with originals.sweeping():
            swept.set()

    with originals.placing():
        sweeper = threading.Thread(target=sweep)
        sweeper.start()
        assert not swept.wait(0.05)
    sweeper.join()
    assert swept.is_set()


def test_a_hand_over_is_queued_and_known_again_at_once(any_catalog, clock):
    catalog = any_catalog
    uploads = Uploads(catalog)
    once = OnceKey("k", "documents", "one", "hash")
    upload = uploads.accept("c", "a.txt", "file:///a", sha256="s", size_bytes=1, path="/p", once=once)
    assert catalog.claim("x").document.id == upload.document_id
    assert uploads.done_before(once) == ("hash", {"upload": upload.no})
    assert uploads.done_before(OnceKey("other", "documents", "one", "hash")) is None
    assert uploads.kept_paths() == {"/p"}
    retried = uploads.accept("c", "a.txt", "file:///a", sha256="", size_bytes=0, path="")
    assert uploads.of_document(upload.document_id) == [upload, retried]
    assert uploads.newest(None, 1) == [retried]
    assert uploads.newest(retried.no, 5, ["c"]) == [upload]
    assert uploads.newest(None, 5, ["d"]) == []
    assert uploads.kept_paths() == {"/p"}
    assert uploads.forget() == 0
    assert uploads.forget([upload.document_id]) == 2
    clock.now += 90_000
    assert uploads.done_before(once) is None


def test_questions_are_listed_newest_first_each_asker_sees_its_own(any_catalog):
    uploads = Uploads(any_catalog)
    for number in range(5):
        any_catalog.append_answer(f"a{number}", "answered", {"question": f"q{number} \x00 \u00e9"}, [])
        uploads.note_asker(f"a{number}", f"k{number % 2}")
    any_catalog.append_answer("mine", "refused", {}, [])
    listed = uploads.newest_answers(None, 3, None)
    assert [(row["id"], row["question"]) for row in listed] == [
        ("mine", None),
        ("a4", "q4 \x00 \u00e9"),
        ("a3", "q3 \x00 \u00e9"),
    ]
    assert [row["id"] for row in uploads.newest_answers(listed[-1]["seq"], 9, "k1")] == ["a1"]
    assert (uploads.asker("a4"), uploads.asker("mine")) == ("k0", None)
