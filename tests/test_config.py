"""Settings: where they come from, and what is wrong with them in one line."""

from pathlib import Path

import pytest

from gawah.config import Settings, load_settings, pinned_model
from gawah.errors import ConfigurationError


def load(tmp_path, text="", environment=None, **options):
    file = tmp_path / "gawah.toml"
    file.write_text(text, encoding="utf-8")
    return load_settings(file=file, environment=environment or {}, options=options)


def test_every_origin_overrides_the_one_before_it(tmp_path):
    loaded = load(
        tmp_path,
        "passages = 3\ncandidates = 50\nrerank_depth = 20",
        {"GAWAH_CANDIDATES": "60", "GAWAH_RERANK_DEPTH": "30"},
        rerank_depth=40,
    )
    assert (loaded.settings.passages, loaded.settings.candidates, loaded.settings.rerank_depth) == (3, 60, 40)
    assert loaded.origins["passages"].endswith("gawah.toml")
    assert loaded.origins["candidates"] == "GAWAH_CANDIDATES"
    assert loaded.origins["rerank_depth"] == "command line"
    assert loaded.origins["model"] == "default"


@pytest.mark.parametrize(
    ("text", "environment", "message"),
    [
        ("pasages = 3", {}, "did you mean passages?"),
        ("", {"GAWAH_STORRE": "x"}, "GAWAH_STORRE: there is no setting storre; did you mean store?"),
        ("passages = 0", {}, "passages: Input should be greater than or equal to 1"),
        ("passages = ", {}, "gawah.toml"),
        ("rerank = 'cross-encoder:'", {}, "gawah.toml: rerank: Input should be"),
        (
            "",
            {"GAWAH_RERANK": "yes"},
            "GAWAH_RERANK: rerank: Input should be 'late', 'none', 'cross-encoder' or 'cross-encoder:' and a model's folder or name",
        ),
        ("gate = 'reference:1'", {}, "gawah.toml: gate: Input should be"),
        ("gate = 'calibrated:'", {}, "gawah.toml: gate: Input should be"),
        ("index = 'qdrant'", {}, "gawah.toml: index: Input should be"),
        ("catalog = 'mysql://host/base'", {}, "gawah.toml: catalog: Input should be"),
        ("calibration = 'gate.json'", {}, "there is no setting calibration"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_with_its_origin(tmp_path, text, environment, message):
    with pytest.raises(ConfigurationError) as caught:
        load(tmp_path, text, environment)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_named_file_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(ConfigurationError, match="no such settings file"):
        load_settings(file=tmp_path / "none.toml", environment={})


def test_there_are_at_most_thirty_settings_each_described():
    assert len(Settings.model_fields) <= 30
    assert all(field.description for field in Settings.model_fields.values())


def test_a_secret_is_never_printed():
    settings = Settings(openai_key="hunter2", catalog="postgresql://u:hunter2@h/b", store=Path("x"))
    assert "hunter2" not in str(settings) + str(settings.model_dump(mode="json"))


def test_a_model_may_be_pinned_to_the_hash_of_its_weights():
    assert pinned_model("all-MiniLM-L6-v2") == ("all-MiniLM-L6-v2", None)
    assert pinned_model("/models/a@b@sha256:00ff") == ("/models/a@b", "00ff")
