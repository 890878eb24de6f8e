"""Corrections to what is printed about distributions, each with its counterexample (docs/errata.md)."""

import math

import numpy as np
import pytest
import torch

from rote.constructions.build import build
from rote.constructions.dana2025.best_encoder import best_encoder
from rote.constructions.dana2025.encoder import Encoder, expected_divergence, truth_and_prior
from rote.constructions.dana2025.lookup_encoder import (
    entropy_term,
    lookup_encoder,
    printed_constant,
    random_rows,
)
from rote.constructions.dana2025.output_fits import OutputProblem, paper_bound, paper_output
from rote.measure.divergence import divergence
from rote.tasks import DistributionTask

D = torch.float64
HALVES = torch.tensor([0.5, 0.5], dtype=D)


def noisy_table(vocab, contexts, noise, seed=0):
    """Each context has a likeliest token and the rest of the probability spread evenly."""
    draw = torch.Generator().manual_seed(seed)
    answers = torch.randint(vocab, (contexts,), generator=draw)
    truth = torch.full((contexts, vocab), noise / vocab, dtype=D)
    truth[torch.arange(contexts), answers] += 1 - noise
    return truth, torch.full((contexts,), 1 / contexts, dtype=D), answers


def test_theorem_2_says_something_only_from_869_tokens_on():
    # d = N - 2 is the largest dimension at which Proposition 2 does not give zero already.
    useful = [vocab for vocab in range(3, 1200) if printed_constant(vocab, vocab - 2) < 0.5]
    assert useful == list(range(869, 1200))


def test_the_simpler_bound_after_theorem_2_does_not_follow():
    # W = I, so C = 0 and the theorem's encoder meets its bound with equality. Both contexts leave 1/2 to other
    # tokens: to one of them, or to all seven. log((N-1)/(e^h - 1)) is convex in h: averaging h first lowers it.
    one = torch.tensor([0.5, 0.5, 0, 0, 0, 0, 0, 0], dtype=D)
    seven = torch.tensor([0.5] + [0.5 / 7] * 7, dtype=D)
    measured, bound, simpler = _theorem_2_at_c_zero(torch.stack([one, seven]))
    assert measured == pytest.approx(bound)
    assert measured == pytest.approx(0.609, abs=1e-3)
    assert simpler == pytest.approx(0.567, abs=1e-3)


@pytest.mark.parametrize(("doubt", "expected"), [(1e-2, 2.365), (1e-4, 4.451), (1e-6, 6.593)])
def test_the_simpler_bound_is_missed_by_any_factor_where_the_table_is_wrong(doubt, expected):
    # "For any distribution and function g": g names token 0 while the first context is nearly sure of token 1.
    sure = torch.full((8,), doubt / 7, dtype=D)
    sure[1] = 1 - doubt
    seven = torch.tensor([0.5] + [0.5 / 7] * 7, dtype=D)
    measured, bound, simpler = _theorem_2_at_c_zero(torch.stack([sure, seven]))
    assert measured == pytest.approx(bound)
    assert measured == pytest.approx(expected, abs=1e-3)
    assert simpler < 1.27


def _theorem_2_at_c_zero(truth):
    vocab, answers = truth.shape[1], torch.zeros(len(truth), dtype=torch.long)
    encoder, _ = lookup_encoder(truth, answers, torch.eye(vocab, dtype=D), "entropy")
    entropy = -torch.special.xlogy(truth, truth).sum(1)
    mean_rest, mean_entropy = float(HALVES @ (1 - truth[:, 0])), float(HALVES @ entropy)
    return (
        expected_divergence(truth, HALVES, encoder.logits),
        float(HALVES @ entropy_term(truth, answers)),
        mean_rest * math.log((vocab - 1) / (math.exp(mean_entropy) - 1)),
    )


def test_choosing_the_scale_directly_is_much_better_than_equation_6():
    vocab, dim = 1000, 900
    truth, prior, answers = noisy_table(vocab, 20, 0.1)
    rows = random_rows(vocab, dim, "gaussian", torch.Generator().manual_seed(1))
    by_entropy, _ = lookup_encoder(truth, answers, rows, "entropy")
    direct, _ = lookup_encoder(truth, answers, rows, "direct")
    found = expected_divergence(truth, prior, direct.logits)
    assert found < 0.8 * expected_divergence(truth, prior, by_entropy.logits)


@pytest.mark.parametrize(("exponent", "epsilon"), [(0.0, 0.2), (1.0, 0.2), (1.0, 0.4)])
def test_the_papers_output_is_worse_than_predicting_uniform(exponent, epsilon):
    draw = np.random.default_rng(0)
    contexts, vocab = 120, 15
    keys = draw.choice(vocab**2, contexts, replace=False)
    rows = np.exp(2 * draw.standard_normal((contexts, vocab)))
    prior = 1 / np.arange(1, contexts + 1) ** exponent
    task = DistributionTask.from_dense(np.stack(np.divmod(keys, vocab), 1), rows, prior)
    common = {"dim": 5, "head_dim": 5, "epsilon": epsilon, "dtype": "float64", "random_starts": 0}
    method = "dana2025.theorem1_distribution"
    paper = build(task, method, output="paper", encoder_steps=50, **common)
    convex = build(task, method, output="convex", encoder_steps=50, **common)
    uniform = divergence(paper.model, task).uniform
    assert paper.certificate.divergence > uniform
    assert convex.certificate.divergence < uniform
    encoder = paper.certificate.measured["encoder_divergence"]
    assert paper.certificate.measured["bound_theorem1"] > 10 * (paper.certificate.divergence - encoder)


def test_inequality_19_needs_the_sum_of_absolute_coefficients():
    # K likely contexts with features e_1 ... e_K and one logit vector f; an unlikely one whose features are their sum.
    # Its logits come out as K f: off by (K - 1) f, while C = sqrt(K + 2).
    K, share = 20, 0.02
    features = torch.cat([torch.eye(K, dtype=D), torch.ones(1, K, dtype=D)])
    encoder = Encoder(torch.tensor([[0.5], [-0.5]], dtype=D), torch.ones(K + 1, 1, dtype=D))
    truth = encoder.logits.softmax(1)
    truth[-1] = torch.tensor([0.001, 0.999], dtype=D)
    prior = torch.full((K + 1,), (1 - share) / K, dtype=D)
    prior[-1] = share
    problem = OutputProblem(features, encoder, truth, prior)
    before = expected_divergence(truth, prior, encoder.logits)
    gap = problem.divergence(paper_output(problem)) - before
    bound = paper_bound(problem)
    largest_range = 1.0
    assert bound.constant == pytest.approx(math.sqrt(K + 2))
    assert bound.epsilon == pytest.approx(share)
    assert gap > 3.9 * bound.epsilon * bound.constant * largest_range
    assert gap <= bound.by_ranges
    assert gap <= bound.by_norm


def test_enough_heads_need_no_limit():
    # The proof drowns the skip connection by lambda -> infinity and pays gamma; the exact gauge pays nothing.
    draw = np.random.default_rng(3)
    keys = draw.choice(12**2, 60, replace=False)
    rows = np.exp(draw.standard_normal((60, 12)))
    task = DistributionTask.from_dense(np.stack(np.divmod(keys, 12), 1), rows)
    truth, prior = truth_and_prior(task)
    built = build(task, "dana2025.theorem1_distribution", dim=4, head_dim=4, dtype="float64", encoder_steps=100)
    found = best_encoder(truth, prior, 4, steps=100)
    assert built.certificate.divergence == pytest.approx(found.divergence, abs=1e-10)
