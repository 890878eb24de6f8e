"""Madden et al. 2025: as many contexts as neurons, for answers and for distributions."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.constructions.build import build
from rote.constructions.common.neurons import random_neurons
from rote.constructions.common.solvers.least_norm import factor
from rote.errors import CheckFailed, InputError
from rote.measure.certificate import weights_fingerprint
from rote.tasks import AssociationTask, DistributionTask, Vocabulary


def contexts_of(count, vocab, context, seed):
    draw = np.random.default_rng(seed)
    keys = draw.choice(vocab**context, count, replace=False)
    return np.stack([keys // vocab**place % vocab for place in range(context)], 1), draw


def facts(count, vocab, context=2, seed=0):
    contexts, draw = contexts_of(count, vocab, context, seed)
    return AssociationTask(contexts, draw.integers(0, vocab, count), Vocabulary.numbered(vocab))


def distributions(count, vocab, seed=0):
    contexts, draw = contexts_of(count, vocab, 2, seed)
    return DistributionTask.from_dense(contexts, draw.dirichlet(np.full(vocab, 0.5), count))


@pytest.mark.parametrize("activation", ["gelu", "relu"])
@pytest.mark.parametrize(("count", "vocab", "context", "dim"), [(200, 50, 2, 10), (500, 26, 3, 20)])
def test_as_many_facts_as_neurons_in_float32(count, vocab, context, dim, activation):
    built = build(facts(count, vocab, context), "madden2025", dim=dim, activation=activation)
    certificate = built.certificate
    assert certificate.complete
    assert certificate.facts == certificate.guaranteed == built.model.spec.width == count
    assert built.model.dtype == torch.float32
    assert built.model.spec.activation == activation


@settings(max_examples=20)
@given(count=st.integers(1, 40), vocab=st.integers(7, 20), context=st.integers(2, 4), seed=st.integers(0, 2**32 - 1))
def test_any_small_task_is_stored(count, vocab, context, seed):
    built = build(facts(count, vocab, context, seed), "madden2025", dtype="float64", seed=seed)
    assert built.certificate.complete
    assert built.model.parameters == built.model.spec.parameters()


@pytest.mark.parametrize(("dtype", "most"), [("float64", 1e-7), ("float32", 1e-6)])
def test_distributions_are_met(dtype, most):
    task = distributions(300, 20)
    certificate = build(task, "madden2025.distribution", dtype=dtype).certificate
    assert certificate.divergence < most
    assert certificate.guaranteed == certificate.facts == 300


def test_a_divergence_beyond_the_tolerance_is_an_error():
    with pytest.raises(CheckFailed, match="expected divergence"):
        build(distributions(50, 8), "madden2025.distribution", dtype="bfloat16", tolerance=1e-9)


def test_what_cannot_be_is_refused():
    with pytest.raises(InputError, match="10 contexts but 9 neurons"):
        build(facts(10, 8), "madden2025", width=9)
    with pytest.raises(InputError, match="below vocab - 1 = 7"):
        build(distributions(10, 8), "madden2025.distribution", dim=6)
    with pytest.raises(InputError, match="room for two answers"):
        build(facts(10, 8), "madden2025", dim=1, head_dim=1)
    with pytest.raises(InputError, match="must be one of"):
        build(facts(10, 8), "madden2025", dtype="float8")


def test_spare_neurons_improve_the_condition_number():
    task = facts(300, 50)
    tight, loose = (build(task, "madden2025", width=width).certificate for width in (300, 450))
    assert loose.measured["condition"] < tight.measured["condition"] / 3


def test_every_neuron_is_on_for_some_inputs_and_off_for_others():
    inputs = torch.randn(200, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 10 + 100
    neurons = random_neurons(inputs, 400, torch.Generator().manual_seed(1))
    on = (inputs @ neurons.inner.T + neurons.bias > 0).double().mean(0)
    assert on.min() > 0.2
    assert on.max() < 0.85


def test_thresholds_outside_the_inputs_make_relu_singular():
    draw = torch.Generator().manual_seed(0)
    inputs = torch.randn(100, 10, generator=draw, dtype=torch.float64)
    ours = random_neurons(inputs, 100, draw)
    spread = 2 * torch.randn(100, generator=draw, dtype=torch.float64)
    directions = ours.inner / ours.inner.norm(dim=1, keepdim=True)
    naive = factor((inputs @ directions.T + spread).relu())
    assert naive.rank < 100
    assert factor((inputs @ ours.inner.T + ours.bias).relu()).condition < 1e6


def test_same_seed_same_weights():
    task = facts(30, 10)
    once, again, other = (build(task, "madden2025", seed=seed).model.weights for seed in (1, 1, 2))
    assert weights_fingerprint(once) == weights_fingerprint(again)
    assert weights_fingerprint(once) != weights_fingerprint(other)
