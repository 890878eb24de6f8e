"""Linear associative memories: outer products, least squares, trained; their order and their capacities."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rote.constructions import CONSTRUCTIONS
from rote.constructions.bietti2023 import noise_std
from rote.constructions.build import build
from rote.constructions.cabannes2024.solve import least_squares
from rote.constructions.common.random_memory import random_memory
from rote.constructions.construction import Options, Request
from rote.constructions.nichani2024.fit import train
from rote.constructions.nichani2024.trained import capacity
from rote.errors import CheckFailed, InputError
from rote.measure.certificate import weights_fingerprint
from rote.measure.recall import recall
from rote.tasks import AssociationTask, Vocabulary

METHODS = ["bietti2023", "cabannes2024.least_squares", "nichani2024.trained"]


def one_to_one(count, seed=0):
    answers = np.random.default_rng(seed).permutation(count)
    return AssociationTask(np.arange(count)[:, None], answers, Vocabulary.numbered(count))


def few_answers(count, vocab, answers, seed=0):
    draw = np.random.default_rng(seed)
    keys = draw.permutation(vocab**2)[:count]
    contexts = np.stack([keys // vocab, keys % vocab], 1)
    return AssociationTask(contexts, draw.integers(0, answers, count), Vocabulary.numbered(vocab))


@pytest.mark.parametrize("method", METHODS)
def test_a_dim_that_is_left_out_is_large_enough(method):
    for task in (one_to_one(120), few_answers(60, 20, 4)):
        built = build(task, method)
        assert built.certificate.complete
        assert built.model.dtype == torch.float32
        assert built.model.parameters == built.model.spec.parameters()


def test_each_method_holds_more_than_the_one_before():
    task, held = one_to_one(150), []
    for method in METHODS:
        construction = CONSTRUCTIONS[method]
        model = construction.build(Request(task, construction.options(), dim=32)).model
        held.append(recall(model, task).recalled)
    assert held[0] < held[1] < held[2] == 150


@pytest.mark.parametrize("dim", [16, 32])
def test_training_exceeds_the_predicted_capacity_and_counting_stops_it(dim):
    """At these sizes the asymptotic d^2/(2 ln T) is passed; twice d^2/ln T is not reached."""
    predicted = capacity(dim)
    assert build(one_to_one(math.ceil(1.4 * predicted)), "nichani2024.trained", dim=dim).certificate.complete
    with pytest.raises(CheckFailed, match="raise it"):
        build(one_to_one(4 * predicted), "nichani2024.trained", dim=dim)


def test_few_answers_hold_fewer_facts():
    """Two answers are one vector: no more than 2d facts can be told apart at random, however large d^2 is."""
    answers = np.random.default_rng(0).integers(0, 2, 200)
    task = AssociationTask(np.arange(200)[:, None], answers, Vocabulary.numbered(200))
    assert capacity(48) > 200 > 2 * 48
    with pytest.raises(CheckFailed, match="2 answers use 1 of 48"):
        build(task, "nichani2024.trained", dim=48)
    assert build(one_to_one(200), "nichani2024.trained", dim=48).certificate.complete


def test_outer_products_hold_more_than_d_when_every_fact_has_its_own_answer():
    assert build(one_to_one(240), "bietti2023", dim=128).certificate.complete
    draw = np.random.default_rng(0)
    few = AssociationTask(np.arange(240)[:, None], draw.integers(0, 4, 240), Vocabulary.numbered(240))
    assert build(few, "bietti2023", dim=128).certificate.recalled < 240


@pytest.mark.parametrize("dim", [2, 16, 100])
def test_capacity_solves_its_equation(dim):
    facts = capacity(dim)
    assert 2 * facts * math.log(facts) <= dim**2 < 2 * (facts + 1) * math.log(facts + 1)


@given(count=st.integers(2, 24), seed=st.integers(0, 2**32 - 1))
def test_least_squares_holds_as_many_facts_as_dimensions(count, seed):
    built = build(
        one_to_one(count, seed), "cabannes2024.least_squares", dim=count + 1, dtype="float64", seed=seed, ridge=0
    )
    assert built.certificate.complete


def test_least_squares_is_the_minimum():
    memory = random_memory(Request(one_to_one(30), Options(), dtype="float64"), 8)
    solved, _ = least_squares(memory, ridge=0.0)
    onehot = torch.nn.functional.one_hot(memory.answers, 30).double()

    def loss(W):
        off = memory.inputs @ W.T @ memory.unembed.T - onehot
        return ((off - off.mean(1, keepdim=True)) ** 2).sum()

    W = solved.clone().requires_grad_()
    loss(W).backward()
    assert W.grad.abs().max() < 1e-9


def test_trained_gradient_is_that_of_the_loss():
    """The fit ends at a stationary point of the cross-entropy where no W holds every fact."""
    memory = random_memory(Request(one_to_one(60), Options(), dtype="float64"), 8)
    fitted = train(memory, 3000)
    assert fitted.recalled < 60
    W = fitted.memory.clone().requires_grad_()
    logits = memory.inputs @ W.T @ memory.unembed.T
    entropy = torch.nn.functional.cross_entropy(logits, memory.answers)
    entropy.backward()
    assert float(entropy.detach()) == pytest.approx(fitted.loss)
    assert W.grad.abs().max() < 1e-5


def test_outer_products_are_what_they_say_and_their_noise_has_the_size_it_says():
    task = one_to_one(200)
    model = build(task, "bietti2023", dim=64, dtype="float64").model
    e, u, W = (model.weights[name] for name in ("inputs", "unembed", "memory"))
    answers = torch.from_numpy(task.answers).long()
    assert torch.allclose(W, sum(torch.outer(u[a], e[i]) for i, a in enumerate(answers)))
    logits = model.logits(task.contexts)
    wrong = logits.masked_fill(torch.nn.functional.one_hot(answers, 200).bool(), float("nan"))
    sampled = float(wrong[~wrong.isnan()].std())
    # About 40,000 correlated samples: a tenth is far outside their scatter.
    assert sampled == pytest.approx(noise_std(task.shape, 64), rel=0.1)


@pytest.mark.parametrize("method", METHODS)
def test_same_seed_same_memory_in_the_dtype_asked_for(method):
    task = one_to_one(20)
    once, again, other = (build(task, method, dim=24, dtype="float64", seed=seed).model for seed in (1, 1, 2))
    assert once.dtype == torch.float64
    assert weights_fingerprint(once.weights) == weights_fingerprint(again.weights)
    assert weights_fingerprint(once.weights) != weights_fingerprint(other.weights)


@pytest.mark.parametrize("method", METHODS)
def test_contradictory_keys_get_their_commonest_answer(method):
    task = AssociationTask(np.array([[0, 1], [0, 1], [0, 1], [2, 0]]), np.array([3, 2, 3, 1]), Vocabulary.numbered(4))
    certificate = build(task, method, dim=8).certificate
    assert (certificate.recalled, certificate.recallable, certificate.complete) == (3, 3, True)


@pytest.mark.parametrize("method", METHODS)
def test_heads_are_refused(method):
    with pytest.raises(InputError, match="`heads=2`: its models have no heads"):
        build(one_to_one(8), method, heads=2)
