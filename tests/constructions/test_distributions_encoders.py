"""Sequence encoders of distributions: the best one, least squares, Propositions 2 and 3, Theorem 2."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.constructions.construction import Request, construction_named, parse_options
from rote.constructions.dana2025.best_encoder import best_encoder
from rote.constructions.dana2025.encoder import (
    Encoder,
    best_embedding,
    circle_encoder,
    exact_encoder,
    expected_divergence,
    helmert,
    row_divergences,
)
from rote.constructions.dana2025.least_squares import (
    expansion_bound,
    least_squares,
    ls_bound,
    printed_ls_bound,
    weighted_least_squares,
)
from rote.constructions.dana2025.lookup_encoder import (
    corrected_bound,
    lookup_encoder,
    measured_bound,
    printed_constant,
    random_rows,
)
from rote.errors import InputError
from rote.measure.certificate import examine
from rote.tasks import AssociationTask, DistributionTask, Vocabulary

seeds = st.integers(0, 2**20)


def distributions(seed, contexts, vocab, sharpness=2.0):
    """Random rows of full support and a random prior."""
    draw = torch.Generator().manual_seed(seed)
    truth = (torch.randn(contexts, vocab, generator=draw, dtype=torch.float64) * sharpness).softmax(1)
    prior = torch.rand(contexts, generator=draw, dtype=torch.float64) + 0.01
    return truth, prior / prior.sum()


def task_of(truth, prior, context=2):
    contexts, vocab = truth.shape
    rows = np.stack(np.unravel_index(np.arange(contexts), (vocab,) * context), 1)
    return DistributionTask.from_dense(rows, truth.numpy(), prior.numpy())


def draft(method, task, dim=None, dtype="float64", **options):
    construction = construction_named(method)
    return construction.build(Request(task, parse_options(construction, options), dim=dim, dtype=dtype))


@given(seed=seeds, dim=st.integers(1, 4), sharpness=st.sampled_from([0.3, 1.0, 3.0]))
@settings(max_examples=6, deadline=None)
def test_the_best_encoder_is_below_its_starts_and_those_below_uniform(seed, dim, sharpness):
    truth, prior = distributions(seed, 20, 6, sharpness)
    found = best_encoder(truth, prior, dim, seed=seed, steps=200, trial_steps=40)
    weighted = weighted_least_squares(truth, prior, dim)
    start = best_embedding(weighted.unembed, truth, weighted.embed)
    begun = expected_divergence(truth, prior, start @ weighted.unembed.T)
    uniform = expected_divergence(truth, prior, torch.zeros_like(truth))
    assert found.divergence <= begun + 1e-9
    assert begun <= uniform + 1e-12
    assert found.divergence <= min(found.starts.values()) + 1e-12


@given(seed=seeds, dim=st.integers(1, 5), sharpness=st.floats(0.05, 4))
@settings(max_examples=30, deadline=None)
def test_bounds_of_least_squares_hold(seed, dim, sharpness):
    truth, prior = distributions(seed, 15, 7, sharpness)
    plain, sigma = least_squares(truth, dim)
    measured = expected_divergence(truth, prior, plain.logits)
    assert measured <= ls_bound(truth, sigma) + 1e-12
    assert ls_bound(truth, sigma) <= printed_ls_bound(truth, sigma) + 1e-12
    weighted = weighted_least_squares(truth, prior, dim)
    measured = expected_divergence(truth, prior, weighted.logits)
    assert measured <= expansion_bound(truth, prior, weighted.logits) + 1e-12


def test_weighting_never_worsens_the_weighted_error():
    truth, prior = distributions(3, 30, 8)
    plain, _ = least_squares(truth, 3)
    weighted = weighted_least_squares(truth, prior, 3)

    def error(encoder):
        delta = encoder.logits - truth.log()
        delta = delta - (truth * delta).sum(1, keepdim=True)
        return float(prior @ (truth * delta**2).sum(1))

    assert error(weighted) < error(plain)


def test_both_algorithms_reach_the_same_divergence():
    truth, prior = distributions(5, 40, 8, 1.0)
    joint = best_encoder(truth, prior, 3, random_starts=1)
    projected = best_encoder(truth, prior, 3, random_starts=1, algorithm="projected", trial_steps=20, steps=100)
    assert joint.divergence == pytest.approx(projected.divergence, abs=2e-3)
    assert joint.divergence < 0.9 * expected_divergence(truth, prior, torch.zeros_like(truth))


def test_best_embedding_has_no_slope_left_and_balancing_changes_nothing():
    truth, _ = distributions(1, 12, 9, 1.0)
    unembed = torch.randn(9, 4, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    embed = best_embedding(unembed, truth, torch.zeros(12, 4, dtype=torch.float64))
    slope = ((embed @ unembed.T).softmax(1) - truth) @ unembed
    assert float(slope.abs().max()) < 1e-6
    balanced = Encoder(unembed * 100, embed / 100).balanced()
    assert torch.allclose(balanced.logits, embed @ unembed.T, atol=1e-12)
    assert torch.allclose(torch.linalg.svdvals(balanced.unembed), torch.linalg.svdvals(balanced.embed), rtol=1e-9)


@given(seed=seeds, vocab=st.integers(2, 9), spare=st.integers(0, 2))
@settings(max_examples=25, deadline=None)
def test_proposition_2_is_exact(seed, vocab, spare):
    truth, prior = distributions(seed, 10, vocab)
    encoder = exact_encoder(truth, vocab - 1 + spare)
    assert expected_divergence(truth, prior, encoder.logits) < 1e-8
    basis = helmert(vocab)
    assert torch.allclose(basis.T @ basis, torch.eye(vocab - 1, dtype=torch.float64), atol=1e-12)


def test_proposition_2_has_a_converse():
    # N = 3, d = 1: three rows whose centred logs span two dimensions cannot be met on a line.
    truth = torch.tensor([[8.0, 1, 1], [1, 8, 1], [1, 1, 8]], dtype=torch.float64)
    truth /= truth.sum(1, keepdim=True)
    found = best_encoder(truth, torch.full((3,), 1 / 3, dtype=torch.float64), 1, random_starts=8)
    assert found.divergence > 0.05


@given(seed=seeds, vocab=st.integers(2, 200), facts=st.integers(1, 60))
@settings(max_examples=25, deadline=None)
def test_proposition_3_recalls_everything_in_two_dimensions(seed, vocab, facts):
    draw = np.random.default_rng(seed)
    keys = draw.choice(vocab**2, min(facts, vocab**2), replace=False)
    contexts = np.stack(np.divmod(keys, vocab), 1)
    task = AssociationTask(contexts, draw.integers(0, vocab, len(keys)), Vocabulary.numbered(vocab))
    built = draft("dana2025.proposition3", task, dtype="float32")
    certificate = examine(built.model, task).certificate
    assert certificate.missed == 0
    assert built.model.spec.dim == 2
    truth = torch.nn.functional.one_hot(torch.from_numpy(task.answers).long(), vocab).double()
    encoder, _ = circle_encoder(task.answers, vocab, 1e-3)
    assert float(row_divergences(truth, encoder.logits).max()) <= 1e-3 * (1 + 1e-6)


def test_theorem_2_bound_holds_where_it_says_something():
    # C < 1/2 needs d > 128 ln(N + 1), and d < N - 1 for the bound to be of use.
    vocab, dim = 1000, 900
    draw = torch.Generator().manual_seed(0)
    answers = torch.randint(vocab, (30,), generator=draw)
    truth = torch.full((30, vocab), 0.05 / vocab, dtype=torch.float64)
    truth[torch.arange(30), answers] += 0.95
    prior = torch.full((30,), 1 / 30, dtype=torch.float64)
    rows = random_rows(vocab, dim, "unit", draw)
    by_entropy, _ = lookup_encoder(truth, answers, rows, "entropy")
    direct, _ = lookup_encoder(truth, answers, rows, "direct")
    loose = corrected_bound(truth, prior, answers, printed_constant(vocab, dim))
    tight = measured_bound(truth, prior, answers, rows)
    measured = expected_divergence(truth, prior, by_entropy.logits)
    best = expected_divergence(truth, prior, direct.logits)
    assert loose is not None
    assert tight is not None
    assert best <= measured <= tight <= loose
    assert printed_constant(867, 866) >= 0.5 > printed_constant(868, 867)


@given(seed=seeds, vocab=st.integers(3, 12), dim=st.integers(2, 14), sharpness=st.floats(0.1, 5))
@settings(max_examples=40, deadline=None)
def test_theorem_2_with_the_rows_at_hand(seed, vocab, dim, sharpness):
    truth, prior = distributions(seed, 8, vocab, sharpness)
    rows = random_rows(vocab, dim, "unit", torch.Generator().manual_seed(seed))
    answers = truth.argmax(1)
    bound = measured_bound(truth, prior, answers, rows)
    by_entropy, scale = lookup_encoder(truth, answers, rows, "entropy")
    direct, _ = lookup_encoder(truth, answers, rows, "direct")
    best = expected_divergence(truth, prior, direct.logits)
    uniform = expected_divergence(truth, prior, torch.zeros_like(truth))
    assert best <= uniform + 1e-9
    if bound is not None:
        measured = expected_divergence(truth, prior, by_entropy.logits)
        assert best <= measured + 1e-9
        assert measured <= bound + 1e-9
        own = (by_entropy.logits - by_entropy.logits.gather(1, answers[:, None])).logsumexp(1)
        entropy = -torch.special.xlogy(truth, truth).sum(1)
        assert torch.allclose(own, entropy, atol=1e-6) or float(scale.max()) > 59


@pytest.mark.parametrize(
    ("method", "dim"),
    [
        ("dana2025.sequence_encoder", 3),
        ("dana2025.f_ls", 3),
        ("dana2025.f_wls", 3),
        ("dana2025.proposition2", None),
        ("dana2025.theorem2", 5),
    ],
)
def test_models_are_certified_with_the_divergence_the_construction_found(method, dim):
    truth, prior = distributions(4, 25, 6)
    task = task_of(truth, prior)
    built = draft(method, task, dim=dim, dtype="float32")
    certificate = examine(built.model, task, measured=built.measured).certificate
    assert certificate.divergence == pytest.approx(built.measured["divergence_float64"], abs=1e-5)
    if method != "dana2025.proposition2":
        assert certificate.divergence < built.measured["uniform"]


def test_zero_probabilities_are_met_as_far_as_finite_logits_can():
    truth = torch.eye(5, dtype=torch.float64)[[0, 1, 2, 3, 4, 0]]
    task = task_of(truth, torch.full((6,), 1 / 6, dtype=torch.float64))
    assert draft("dana2025.proposition2", task).measured["divergence_float64"] < 1e-10
    for method in ("dana2025.sequence_encoder", "dana2025.f_wls", "dana2025.theorem2"):
        found = draft(method, task, dim=3).measured["divergence_float64"]
        assert math.isfinite(found)
        assert found < math.log(5)
    assert draft("dana2025.f_ls", task, dim=3).measured["bound"] is None


def test_what_makes_no_sense_is_refused():
    truth, prior = distributions(0, 5, 4)
    task = task_of(truth, prior)
    with pytest.raises(InputError, match="vocab - 1 = 3"):
        draft("dana2025.proposition2", task, dim=2)
    with pytest.raises(InputError, match="dim 2"):
        draft("dana2025.proposition3", task.likeliest(), dim=3)


def test_centring_rows_never_hurts_the_bound():
    for seed in range(10):
        truth, prior = distributions(seed, 40, 9, 0.5)
        encoder, sigma = least_squares(truth, 3)
        left, singular, right = torch.linalg.svd(truth.log(), full_matrices=False)
        plain = (left[:, :3] * singular[:3]) @ right[:3]
        # The mean of a row is one direction of nine: without centring it takes one of the three dimensions.
        assert sigma < float(singular[3])
        assert expected_divergence(truth, prior, encoder.logits) < expected_divergence(truth, prior, plain)
