"""The fake embedder keeps the contract of embedders."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gawah.testing.embedder import EmbedderContract, FakeEmbedder


class TestFakeEmbedder(EmbedderContract):
    def make_embedder(self) -> FakeEmbedder:
        return FakeEmbedder()


def test_another_name_is_another_model() -> None:
    one, other = FakeEmbedder("one"), FakeEmbedder("other")
    assert one.stamp.sha256 != other.stamp.sha256
    assert abs(float(one.embed(["backup"])[0].vector @ other.embed(["backup"])[0].vector)) < 0.9


@given(st.text(max_size=300), st.text(max_size=30))
def test_every_text_has_a_unit_vector_whatever_stands_beside_it(text: str, other: str) -> None:
    embedder = FakeEmbedder(window_tokens=1000)
    alone, beside = embedder.embed([text])[0], embedder.embed([other, text])[1]
    assert alone.vector.tobytes() == beside.vector.tobytes()
    assert abs(float(np.linalg.norm(alone.vector.astype(np.float64))) - 1) <= 1e-5


def test_fakes_are_imported_without_a_test_runner() -> None:
    code = "import sys, gawah.testing.embedder; sys.exit('pytest' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
