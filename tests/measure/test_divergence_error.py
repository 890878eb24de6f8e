"""Divergence from distributions and error on real targets, against plain loops."""

import math

import numpy as np
import pytest
from exact_logits import telling
from hypothesis import given
from hypothesis import strategies as st

from rote.errors import InputError
from rote.measure import divergence, error, matching
from rote.models import QueryAttention
from rote.models.model import Model
from rote.tasks import DistributionTask, VectorTask
from rote.testing.random_models import random_model


def random_distributions(contexts: int, vocab: int, seed: int) -> DistributionTask:
    generator = np.random.default_rng(seed)
    rows = generator.dirichlet(np.full(vocab, 0.5), size=contexts)
    rows[generator.uniform(size=rows.shape) < 0.3] = 0
    rows[:, 0] += 1e-3
    keys = np.stack([np.arange(contexts) // vocab, np.arange(contexts) % vocab], 1)
    return DistributionTask.from_dense(keys, rows, generator.uniform(0.1, 1, size=contexts))


@given(contexts=st.integers(1, 30), vocab=st.integers(6, 9), seed=st.integers(0, 2**31))
def test_divergence_is_the_definition(contexts, vocab, seed):
    task = random_distributions(contexts, vocab, seed)
    logits = np.random.default_rng(seed).normal(size=(contexts, vocab))
    found = divergence(telling(task.contexts, logits), task)
    rows = []
    for truth, row in zip(task.dense(), logits, strict=True):
        total = math.log(sum(math.exp(value) for value in row))
        rows.append(sum(p * (math.log(p) - (value - total)) for p, value in zip(truth, row, strict=True) if p > 0))
    assert found.expected == pytest.approx(float(task.prior @ rows))
    assert found.largest == pytest.approx(max(rows))
    uniform = telling(task.contexts, np.zeros((contexts, vocab)))
    assert divergence(uniform, task).expected == pytest.approx(found.uniform)


def test_the_distribution_itself_diverges_by_nothing(monkeypatch):
    task = random_distributions(40, 7, 0)
    rows = np.maximum(task.dense(), 1e-300)
    model = telling(task.contexts, np.log(rows))
    assert divergence(model, task).expected == pytest.approx(0, abs=1e-12)
    monkeypatch.setattr(matching, "rows_at_once", lambda model: 3)
    assert divergence(model, task).largest == pytest.approx(0, abs=1e-12)


def test_what_is_not_a_number_diverges_for_ever():
    task = random_distributions(3, 6, 0)
    logits = np.zeros((3, 6))
    logits[1] = np.nan
    assert divergence(telling(task.contexts, logits), task).expected == math.inf


def test_a_context_that_never_occurs_does_not_count():
    contexts = np.array([[0, 0], [0, 1]])
    task = DistributionTask.from_dense(contexts, np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([1.0, 0.0]))
    found = divergence(telling(contexts, np.array([[0.0, 0.0], [np.nan, 0.0]])), task)
    assert found.expected == pytest.approx(0, abs=1e-15)
    assert found.largest == math.inf


def vectors(count: int, targets: int, seed: int = 0) -> tuple[Model, VectorTask]:
    generator = np.random.default_rng(seed)
    contexts, queries = generator.uniform(size=(count, 3, 4)), generator.uniform(size=(count, 4))
    model = random_model(QueryAttention(context=3, dim=4, head_dim=2, heads=2, outputs=targets), seed, "float64")
    outputs = model.logits((contexts, queries)).numpy()
    return model, VectorTask(contexts, queries, targets=outputs)


def test_error_is_the_definition():
    model, task = vectors(30, 2)
    exact = error(model, task)
    assert (exact.largest, exact.mean_square, exact.recalled, len(exact.missed)) == (0, 0, 30, 0)
    moved = task.targets.copy()
    moved[7, 1] += 0.5
    moved[9, 0] -= 0.1
    found = error(model, VectorTask(task.contexts, task.queries, targets=moved))
    assert found.missed.tolist() == [7, 9]
    assert found.recalled == 28
    assert found.largest == pytest.approx(0.5 / np.abs(moved).max())
    assert found.mean_square == pytest.approx((0.25 + 0.01) / 60)


def test_error_in_chunks(monkeypatch):
    model, task = vectors(30, 1)
    noisy = VectorTask(
        task.contexts, task.queries, targets=task.targets + np.random.default_rng(0).normal(size=(30, 1))
    )
    whole = error(model, noisy)
    monkeypatch.setattr(matching, "rows_at_once", lambda model: 4)
    chunked = error(model, noisy)
    assert chunked.largest == pytest.approx(whole.largest)
    assert chunked.mean_square == pytest.approx(whole.mean_square)


def test_error_of_what_is_not_a_number():
    model, task = vectors(5, 1)
    model.weights["readout"].fill_(float("nan"))
    found = error(model, task)
    assert (found.largest, found.mean_square, found.recalled) == (math.inf, math.inf, 0)


def test_labels_have_no_error():
    model, task = vectors(5, 2)
    with pytest.raises(InputError, match="recall"):
        error(model, VectorTask(task.contexts, task.queries, labels=np.zeros(5, dtype=int)))
    with pytest.raises(InputError, match="2 outputs but the task has 1"):
        error(model, VectorTask(task.contexts, task.queries, targets=task.targets[:, :1]))
