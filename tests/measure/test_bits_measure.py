"""Bits: Fano from answers, the softmax code from logits, phi from accuracies."""

import math

import numpy as np
import pytest
import torch
from exact_logits import lookup, telling
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from rote.errors import InputError
from rote.measure import bits_memorized, recall, softmax_code
from rote.tasks import AssociationTask, DistributionTask, Vocabulary
from rote.theory.phi import phi, phi_inverse


@given(facts=st.integers(1, 1000), choices=st.integers(2, 1000), share=st.floats(0, 1))
def test_bits_lie_between_nothing_and_everything(facts, choices, share):
    entropy = facts * math.log2(choices)
    recalled = round(share * facts)
    held = bits_memorized(entropy, facts, recalled, choices)
    assert 0 <= held <= entropy
    if recalled == facts:
        assert held == entropy
    # What chance recalls is worth nothing: Fano is tight at the uniform guess.
    assert bits_memorized(entropy, facts * choices, facts, choices) == pytest.approx(0, abs=1e-6 * entropy)


@given(facts=st.integers(1, 500), choices=st.integers(2, 50))
def test_more_recalled_is_more_bits(facts, choices):
    entropy = facts * math.log2(choices)
    chance = math.ceil(facts / choices)
    held = [bits_memorized(entropy, facts, recalled, choices) for recalled in range(chance, facts + 1)]
    assert held == sorted(held)


@given(facts=st.integers(1, 10**9), vocab=st.integers(2, 10**6), share=st.floats(0, 1))
def test_phi_and_its_inverse(facts, vocab, share):
    associations = share * facts
    accuracy = phi(associations, facts, vocab)
    assert 1 / vocab <= accuracy <= 1 + 1e-12
    assert phi_inverse(accuracy, facts, vocab) == pytest.approx(associations, rel=1e-6, abs=1e-6 * facts)


def test_phi_at_its_ends():
    assert phi(0, 100, 4) == 0.25
    assert phi(100, 100, 4) == phi(250, 100, 4) == 1.0
    assert phi_inverse(0.25, 100, 4) == 0
    assert phi_inverse(0.0, 100, 4) < 0
    with pytest.raises(InputError, match="2 problems"):
        phi(1, 0, 1)


def noisy(task: AssociationTask, scale: float, seed: int = 0) -> np.ndarray:
    """Logits that know something of the answers."""
    logits = np.random.default_rng(seed).normal(size=(task.facts, task.vocab))
    logits[np.arange(task.facts), task.answers] += 1.5
    return scale * logits


def nats(task: AssociationTask, logits: np.ndarray, beta: float) -> float:
    gaps = beta * (logits - logits[np.arange(task.facts), task.answers][:, None])
    return float(np.log(np.exp(gaps).sum(1)).sum())


@pytest.mark.parametrize("scale", [0.01, 1.0, 300.0])
def test_the_code_is_the_shortest_over_temperatures(scale):
    task = lookup(300, 20)
    logits = noisy(task, scale)
    found = softmax_code(telling(task.contexts, logits), task)
    best = minimize_scalar(lambda u: nats(task, logits / scale, math.exp(u)), bounds=(-5, 5), method="bounded")
    assert found.code_bits == pytest.approx(best.fun / math.log(2), rel=1e-8)
    assert found.inverse_temperature * scale == pytest.approx(math.exp(best.x), rel=1e-3)
    assert found.bits == pytest.approx(task.entropy_bits - found.code_bits)
    assert 0 < found.bits < task.entropy_bits
    assert found.bits_per_parameter == found.bits / found.parameters


@pytest.mark.parametrize("floats", [1, 20 * 37, 20 * 300])
@pytest.mark.parametrize("rows", [11, 300])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_streaming_finds_the_same_code(floats, rows, scale):
    """From a sample of one fact (which a model may well recall), of some, or of all; in chunks or at once."""
    task = lookup(300, 20)
    model = telling(task.contexts, noisy(task, scale))
    whole = softmax_code(model, task)
    streamed = softmax_code(model, task, rows=rows, sample_floats=floats)
    assert streamed.code_bits == pytest.approx(whole.code_bits, rel=1e-7)


def test_streaming_finds_one_miss_among_many():
    task = lookup(300, 20)
    logits = np.eye(20)[task.answers]
    logits[299] = np.eye(20)[(task.answers[299] + 1) % 20]
    model = telling(task.contexts, logits)
    whole, streamed = softmax_code(model, task), softmax_code(model, task, sample_floats=2000)
    assert streamed.code_bits == pytest.approx(whole.code_bits, rel=1e-7)
    assert streamed.inverse_temperature == pytest.approx(whole.inverse_temperature, rel=1e-3)


@pytest.mark.parametrize("sign", [1, 0, -1])
def test_streaming_finds_all_or_nothing(sign):
    task = lookup(300, 20)
    model = telling(task.contexts, sign * np.eye(20)[task.answers])
    found = softmax_code(model, task, sample_floats=2000)
    assert found.bits == pytest.approx(task.entropy_bits if sign > 0 else 0, abs=1e-6)


def test_everything_recalled_is_everything_held():
    task = lookup(50, 10)
    for scale in (1e-6, 1.0):
        model = telling(task.contexts, scale * np.eye(10)[task.answers])
        assert softmax_code(model, task).bits == pytest.approx(task.entropy_bits) == recall(model, task).bits


def test_useless_logits_hold_nothing():
    task = lookup(50, 10)
    for logits in (np.zeros((50, 10)), -np.eye(10)[task.answers]):
        found = softmax_code(telling(task.contexts, logits), task)
        assert found.bits == 0
        assert found.code_bits == pytest.approx(50 * math.log2(10))


def test_logits_that_are_not_numbers_code_uniformly():
    task = lookup(50, 10)
    logits = np.eye(10)[task.answers]
    logits[3] = np.nan
    found = softmax_code(telling(task.contexts, logits), task)
    assert (found.inverse_temperature, found.bits) == (0.0, 0.0)


def test_the_code_never_says_less_than_fano_by_much():
    """A code over all answers beats 'which facts are wrong' where logits are informative."""
    task = lookup(400, 30)
    model = telling(task.contexts, noisy(task, 1.0))
    assert softmax_code(model, task).bits > recall(model, task).bits


def test_repeated_keys_are_coded_once():
    contexts = np.array([[0, 0], [0, 0], [0, 0], [1, 0]])
    task = AssociationTask(contexts, np.array([1, 1, 0, 0]), Vocabulary.numbered(2))
    model = telling(contexts[[0, 3]], np.array([[0.0, 1.0], [1.0, 0.0]]))
    found = softmax_code(model, task)
    assert found.entropy_bits == pytest.approx(2.0)
    assert found.bits == pytest.approx(2.0)


def test_a_distribution_has_no_single_answers():
    contexts = np.array([[0, 0]])
    task = DistributionTask.from_dense(contexts, np.array([[0.5, 0.5]]))
    with pytest.raises(InputError, match="divergence"):
        softmax_code(telling(contexts, np.zeros((1, 2))), task)


def test_lower_precision_is_coded_in_float64():
    task = lookup(100, 10)
    logits = noisy(task, 1.0)
    rounded = torch.from_numpy(logits).bfloat16().double().numpy()
    low = softmax_code(telling(task.contexts, logits, torch.bfloat16), task)
    assert low.code_bits == pytest.approx(softmax_code(telling(task.contexts, rounded), task).code_bits, rel=1e-9)
