"""Theorem 1 for distributions: the encoder's divergence with enough heads, the convex fit with fewer."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.constructions.build import build
from rote.constructions.dana2025.distribution_fit import solve_output
from rote.constructions.dana2025.encoder import Encoder, expected_divergence
from rote.constructions.dana2025.output_fits import (
    OutputProblem,
    convex_output,
    exact_output,
    joint_output,
    paper_bound,
    paper_output,
    weighted_output,
)
from rote.constructions.dana2025.theorem1_distribution import covering
from rote.measure.divergence import divergence
from rote.tasks import DistributionTask
from rote.tasks.generators import random_distributions
from rote.theory.dana2025 import guaranteed

METHOD = "dana2025.theorem1_distribution"


def zipf_task(seed, contexts=150, vocab=15, exponent=1.0):
    draw = np.random.default_rng(seed)
    keys = draw.choice(vocab**2, contexts, replace=False)
    rows = np.exp(2 * draw.standard_normal((contexts, vocab)))
    prior = 1 / np.arange(1, contexts + 1) ** exponent
    return DistributionTask.from_dense(np.stack(np.divmod(keys, vocab), 1), rows, prior)


def random_problem(seed, contexts=40, features=15, vocab=8, dim=4, sharpness=1.5):
    draw = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(*shape, generator=draw, dtype=torch.float64)

    prior = torch.rand(contexts, generator=draw, dtype=torch.float64) ** 4 + 1e-6
    truth = (sharpness * normal(contexts, vocab)).softmax(1)
    encoder = Encoder(normal(vocab, dim), normal(contexts, dim))
    return OutputProblem(normal(contexts, features), encoder, truth, prior / prior.sum())


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_with_enough_heads_the_divergence_is_the_encoders(seed):
    task = random_distributions(vocab=12, context=2, facts=90, seed=seed)
    built = build(task, METHOD, dim=4, head_dim=4, dtype="float64", seed=seed, encoder_steps=200)
    conditions = built.certificate.measured
    assert guaranteed(built.model.spec) >= 90
    assert conditions["output"] == "exact"
    assert abs(built.certificate.divergence - conditions["encoder_divergence"]) < 1e-6
    assert built.certificate.divergence < conditions["uniform"]


def test_float32_costs_next_to_nothing():
    task = zipf_task(1)
    built = build(task, METHOD, dim=6, head_dim=6, encoder_steps=200)
    assert built.certificate.dtype == "float32"
    assert abs(built.certificate.divergence - built.certificate.measured["encoder_divergence"]) < 1e-5


def test_enough_dimensions_meet_every_distribution():
    task = random_distributions(vocab=6, context=2, facts=30, seed=3)
    built = build(task, METHOD, dim=5, head_dim=5, dtype="float64")
    assert built.certificate.divergence < 1e-6


@pytest.mark.parametrize(("exponent", "epsilon"), [(0.0, 0.3), (1.0, 0.1), (2.0, 0.05)])
def test_with_fewer_heads_the_convex_fit_beats_the_papers_output(exponent, epsilon):
    task = zipf_task(2, contexts=100, exponent=exponent)
    reached, conditions = {}, {}
    for output in ("paper", "convex"):
        built = build(
            task, METHOD,
            dim=5, head_dim=5, epsilon=epsilon, output=output, dtype="float64", encoder_steps=50, random_starts=0,
        )  # fmt: skip
        reached[output] = divergence(built.model, task).expected
        conditions = built.certificate.measured
        assert guaranteed(built.model.spec) < task.facts
    encoder = conditions["encoder_divergence"]
    assert encoder < reached["convex"] < reached["paper"]
    assert reached["convex"] < conditions["uniform"]
    assert 0 < conditions["epsilon"] <= epsilon + 1e-9
    assert reached["paper"] - encoder <= min(conditions["bound_theorem1"], conditions["bound_theorem3"])


@given(seed=st.integers(0, 10_000), features=st.integers(5, 38), sharpness=st.floats(0.1, 4))
@settings(max_examples=4)
def test_convex_is_best_of_all_with_the_same_unembedding(seed, features, sharpness):
    problem = random_problem(seed, features=features, sharpness=sharpness)
    convex = problem.divergence(convex_output(problem))
    for other in (paper_output(problem), weighted_output(problem)):
        assert convex <= problem.divergence(other) + 1e-9
    assert convex <= problem.divergence(0 * paper_output(problem)) + 1e-9
    joint, unembed = joint_output(problem, convex_output(problem), 50)
    assert problem.divergence(joint, unembed) <= convex + 1e-12


@given(seed=st.integers(0, 10_000), features=st.integers(5, 38))
@settings(max_examples=25)
def test_bounds_hold_for_the_papers_output(seed, features):
    problem = random_problem(seed, features=features)
    encoder = expected_divergence(problem.truth, problem.prior, problem.encoder.logits)
    gap = problem.divergence(paper_output(problem)) - encoder
    bound = paper_bound(problem)
    assert gap <= bound.by_norm + 1e-9
    assert gap <= bound.by_ranges + 1e-9
    rows = problem.likeliest_first()[:features]
    assert torch.allclose((problem.features @ paper_output(problem))[rows], problem.encoder.embed[rows], atol=1e-6)
    assert bound.epsilon == pytest.approx(float(1 - problem.prior[rows].sum()))


def test_weighted_output_is_the_weighted_least_squares_solution():
    problem = random_problem(7)
    root = problem.prior.sqrt()[:, None]
    expected = torch.linalg.lstsq(root * problem.features, root * problem.encoder.embed).solution
    assert torch.allclose(weighted_output(problem), expected, atol=1e-6)
    wide = random_problem(7, contexts=10, features=20)
    assert torch.allclose(wide.features @ exact_output(wide), wide.encoder.embed, atol=1e-9)


def test_the_slope_vanishes_at_the_convex_fit():
    problem = random_problem(3, features=10)
    solved, W = solve_output(problem, "convex", 2000)
    logits = problem.features @ solved @ W.T
    residual = problem.prior[:, None] * (logits.softmax(1) - problem.truth)
    assert float((problem.features.T @ residual @ W).abs().max()) < 1e-5


def test_contexts_that_cover_the_prior():
    prior = np.array([0.1, 0.5, 0.4, 0.0])
    assert covering(prior, 0.0) == 3
    assert covering(prior, 0.1) == 2
    assert covering(prior, 0.2) == 2
    assert covering(prior, 0.5) == 1
    assert covering(prior, 0.95) == 1
