"""What `best` and weight decay do."""

from __future__ import annotations

import numpy as np
import pytest
from lookups import lookup

from rote.models.attention_only import AttentionOnly
from rote.training import native_engine
from rote.training.protocol import FULL_BATCH, Protocol, best
from rote.training.train import train

SPEC = AttentionOnly(vocab=12, context=2, dim=5, head_dim=5, heads=6, scale_scores=True)
ENGINES = ["torch", "native"] if native_engine.lanes() else ["torch"]


@pytest.mark.parametrize("engine", ENGINES)
def test_decay_shrinks_weights_by_the_rates_it_passed(engine):
    settings = {"name": "tiny", "steps": 100, "schedule": "constant", "peak": 1e-12, "final": 1e-12}
    (kept,) = train(lookup(12), SPEC, [0], Protocol(**settings), engine=engine)
    (same,) = train(lookup(12), SPEC, [0], Protocol(**settings, decay=0.5), engine=engine)
    for name, tensor in kept.model.weights.items():
        np.testing.assert_allclose(same.model.weights[name], tensor, rtol=1e-5, err_msg=name)
    settings |= {"peak": 1e-3, "final": 1e-3, "beta1": 0.0, "epsilon": 900.0}  # gradients are lost in epsilon
    (shrunk,) = train(lookup(12), SPEC, [0], Protocol(**settings, decay=0.5), engine=engine)
    for name, tensor in kept.model.weights.items():
        np.testing.assert_allclose(shrunk.model.weights[name], tensor * (1 - 0.05), atol=2e-4, err_msg=name)


def test_decay_keeps_scores_from_growing():
    norms = []
    for decay in (0.0, 0.05):
        (trained,) = train(lookup(12), SPEC, [0], "best", workers=1, steps=3000, polish=0, focus=0.0, decay=decay)
        weights = trained.model.weights
        norms.append(float(weights["layers.0.query"].norm() * weights["layers.0.key"].norm()))
    assert norms[1] < 0.7 * norms[0]


def test_a_protocol_without_decay_keeps_its_name_in_ledgers():
    plain = Protocol(name="any", steps=10)
    assert "decay" not in plain.model_dump(mode="json")
    assert plain.changed(decay=0.01).model_dump(mode="json")["decay"] == 0.01
    assert plain.changed(decay=0.01).changed(steps=20).decay == 0.01
    assert Protocol(**plain.model_dump()) == plain


def test_best_polishes_full_batches_alone():
    assert best(SPEC, FULL_BATCH).polish > 0
    minibatches = best(SPEC, FULL_BATCH + 1)
    assert minibatches.polish == 0
    assert minibatches.batch is not None
