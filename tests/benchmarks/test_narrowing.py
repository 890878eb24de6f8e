"""A head wider than the context is rewritten with one dimension fewer than the context, with the same outputs."""

from __future__ import annotations

import pytest

from rote.errors import InputError
from rote.measure.recall import recall
from rote.models.model import Model
from rote.models.query_attention import QueryAttention
from rote.tasks.generators import random_vectors
from rote.training.query_attention.train import initial_vector_weights, train_vectors
from studies.narrowing import narrowed


def test_a_wide_head_is_narrowed_to_one_less_than_the_context_without_a_change():
    task = random_vectors(50, 6, 16, shared=True, classes=5, distribution="uniform")
    spec = QueryAttention.experiment(6, 5, heads=3, head_dim=16, dim=16)
    weights = {name: part.double() for name, part in initial_vector_weights(spec, 0).items()}
    weights["query"] = 10 * weights["query"]
    model = Model(spec, weights)
    narrow = narrowed(model, task)
    assert narrow.spec.head_dim == 5
    inputs = task.inputs(slice(None))
    assert (narrow.logits(inputs) - model.logits(inputs)).abs().max() < 1e-12
    with pytest.raises(InputError, match="not larger"):
        narrowed(narrow, task)


def test_a_trained_wide_model_recalls_as_much_when_narrowed():
    task = random_vectors(40, 8, 16, shared=True, classes=10, distribution="uniform")
    trained = train_vectors(task, QueryAttention.experiment(8, 10, heads=4, head_dim=16, dim=16), 0)
    assert trained.accuracy == 1 == recall(narrowed(trained.model, task), task).recall
