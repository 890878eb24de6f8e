"""Statements of the papers that have no run of their own, each checked by numbers (docs/coverage.md)."""

from __future__ import annotations

import math
from fractions import Fraction

import gmpy2
import numpy as np
import pytest
import torch

import rote
from rote.constructions.build import build
from rote.constructions.dana2025.best_encoder import best_encoder
from rote.constructions.dana2025.encoder import Encoder, centred_log, exact_encoder, expected_divergence
from rote.constructions.dana2025.expansions import (
    approximation_errors,
    leading_divergence,
    leading_total_variation,
    ranges,
    softened,
)
from rote.constructions.dana2025.least_squares import least_squares
from rote.constructions.dana2025.lookup_encoder import entropy_term, lookup_encoder
from rote.constructions.kajitsuka2025.codes import sequence_codes
from rote.constructions.kajitsuka2025.sequence_to_sequence import random_sequences
from rote.experiments.statements.memorizers import hardmax_average, position_numbers
from rote.experiments.statements.small_networks import labelings, relu_networks
from rote.models import AttentionOnly, MlpTransformer, QueryAttention
from rote.papers.kinds.statement_settings import PositionMemorizer
from rote.tasks import DistributionTask, VectorTask
from rote.theory import RESULTS, bounds
from rote.theory.comparison import (
    approximate_parameters,
    corollary1_parameters,
    deep_parameters,
    simulated_parameters,
    simulation_load,
    theorem1_parameters,
)
from rote.theory.exact_rank import all_contexts, exact_features, rank_modulo

D = torch.float64


def random_truth(contexts: int, vocab: int, seed: int = 0, sharpness: float = 1.0) -> torch.Tensor:
    draw = torch.Generator().manual_seed(seed)
    return (sharpness * torch.randn(contexts, vocab, generator=draw, dtype=D)).softmax(1)


def uniform_prior(contexts: int) -> torch.Tensor:
    return torch.full((contexts,), 1 / contexts, dtype=D)


# Dana, Pydi and Chevaleyre 2025


def test_d_distributions_are_met_exactly_and_one_more_is_not():
    """ "In general one cannot have a Transformer remember more than d distributions exactly" (Section 3)."""
    dim, vocab = 3, 8
    enough, more = random_truth(dim, vocab), random_truth(dim + 1, vocab)
    encoder, left_out = least_squares(enough, dim)
    assert left_out == 0
    assert expected_divergence(enough, uniform_prior(dim), encoder.logits) < 1e-12
    assert torch.linalg.matrix_rank(centred_log(more, 1e-12)) == dim + 1
    assert best_encoder(more, uniform_prior(dim + 1), dim).divergence > 1e-4


def test_softening_gives_full_support_and_keeps_the_answers():
    """pi_delta after Theorem 1: a layer that meets pi_delta well recalls every association of pi."""
    answers = torch.tensor([0, 3, 1, 4, 2, 2, 0, 1])
    truth = torch.eye(5, dtype=D)[answers]
    soft = softened(truth, 0.01)
    assert bool((soft > 0).all())
    assert torch.allclose(soft.sum(1), torch.ones(8, dtype=D))
    assert torch.equal(soft.argmax(1), answers)
    keys = np.array([[a, b] for a in range(4) for b in range(2)])
    task = DistributionTask.from_dense(keys, soft.numpy())
    built = build(task, "dana2025.theorem1_distribution", dim=4, head_dim=4, dtype="float64", encoder_steps=200)
    # Pinsker: a divergence below (gap/2)^2 / 2 of the two largest probabilities cannot turn the order.
    gap = 1 / (1 + 5 * 0.01)
    assert built.certificate.divergence * 8 < gap**2 / 8
    assert torch.equal(built.model.logits(torch.from_numpy(keys)).argmax(1), answers)


@pytest.mark.parametrize("seed", range(3))
def test_lemma_1_bounded_divergence_bounds_the_logits_under_full_support(seed):
    """The set of encoders below a divergence is bounded, and closed, so the minimum is attained (Lemma 1)."""
    truth = random_truth(6, 5, seed)
    draw = torch.Generator().manual_seed(10 + seed)
    for scale in (0.1, 1, 30):
        logits = scale * torch.randn(6, 5, generator=draw, dtype=D)
        divergence = (truth * (truth.log() - logits.log_softmax(1))).sum(1)
        entropy = -(truth * truth.log()).sum(1)
        assert bool((ranges(logits) <= (divergence + entropy) / truth.min(1).values + 1e-9).all())
    # Without full support it is not: only unbounded logits come near.
    certain = torch.tensor([[1.0, 0.0]], dtype=D)
    values = [expected_divergence(certain, uniform_prior(1), scale * certain) for scale in (1, 10, 30)]
    assert values[0] > values[1] > values[2] > 0


def test_lemma_3_by_numbers_that_are_independent():
    """exp(sqrt 2), exp(sqrt 3), exp(sqrt 5) satisfy no polynomial equation with whole coefficients
    (Lindemann and Weierstrass); none of 2,000 polynomials vanishes at them to 200 digits."""
    with gmpy2.context(precision=700):
        x = [gmpy2.exp(gmpy2.sqrt(gmpy2.mpfr(prime))) for prime in (2, 3, 5)]
        draw = np.random.default_rng(0)
        for _ in range(2000):
            terms = draw.integers(0, 4, size=(6, 3))
            weights = draw.integers(-9, 10, size=6)
            collected: dict[tuple[int, ...], int] = {}
            for term, weight in zip(map(tuple, terms.tolist()), weights.tolist(), strict=True):
                collected[term] = collected.get(term, 0) + weight
            if not any(collected.values()):
                continue
            value = sum(w * x[0] ** a * x[1] ** b * x[2] ** c for (a, b, c), w in collected.items())
            assert abs(value) > gmpy2.mpfr(10) ** -60
    assert all(value > 0 for value in x)


@pytest.mark.parametrize("delta", [0.3, 0.03, 0.003])
def test_look_up_tables_are_polynomially_approximable(delta):
    """Definition 2 on a table: the circle encoder scaled to an error of delta has c = alpha = 1."""
    vocab, answers = 7, torch.tensor([0, 2, 5, 6])
    angle = 2 * math.pi * torch.arange(vocab, dtype=D) / vocab
    rows = torch.stack([angle.cos(), angle.sin()], 1)
    low, high = 0.0, 1e4
    for _ in range(80):
        middle = (low + high) / 2
        error = float((middle * (rows @ rows[0] - 1)).logsumexp(0))
        low, high = (middle, high) if error > delta else (low, middle)
    logits = Encoder(rows, high * rows[answers]).logits
    smallest, largest = approximation_errors(torch.eye(vocab, dtype=D)[answers], logits)
    assert (smallest, largest) == pytest.approx((delta, delta), rel=1e-6)
    gap = 1 - math.cos(2 * math.pi / vocab)
    assert float(ranges(logits).max()) <= 2 / gap * (math.log(1 / delta) + math.log(vocab) + 1)


def test_the_bound_of_theorem_2_vanishes_at_both_ends():
    """It tends to 0 for look-up tables and for uniform distributions, with lambda to infinity and to 0."""
    vocab, answers = 6, torch.zeros(1, dtype=torch.long)
    uniform = torch.full((1, vocab), 1 / vocab, dtype=D)
    certain = torch.eye(vocab, dtype=D)[:1]
    eye = torch.eye(vocab, dtype=D)
    terms, scales = [], []
    for share in (1e-2, 1e-4, 1e-6):
        for truth in (share * uniform + (1 - share) * certain, share * certain + (1 - share) * uniform):
            terms.append(float(entropy_term(truth, answers)))
            scales.append(float(lookup_encoder(truth, answers, eye, "entropy")[1]))
    near_table, near_uniform = terms[::2], terms[1::2]
    assert near_table == sorted(near_table, reverse=True)
    assert near_uniform == sorted(near_uniform, reverse=True)
    assert near_table[-1] < 2e-5
    assert near_uniform[-1] < 2e-5
    assert scales[0] < scales[2] < scales[4]
    assert scales[1] > scales[3] > scales[5] > 0


def test_the_largest_positive_coefficient_sets_the_smallest_gap():
    """After Theorem 2: "we only need to control the greatest positive coefficient", right for the smallest gap,
    hence for lambda; the largest gap takes the negative ones. With unit rows the factor is (1 + C)/(1 - C+)."""
    vocab, dim = 40, 20
    rows = torch.randn(vocab, dim, generator=torch.Generator().manual_seed(0), dtype=D)
    rows = rows / rows.norm(dim=1, keepdim=True)
    off = rows @ rows.T - torch.eye(vocab, dtype=D)
    positive, negative = float(off.max()), float(-off.min())
    gaps = (1 - rows @ rows.T)[~torch.eye(vocab, dtype=torch.bool)]
    assert float(gaps.min()) == pytest.approx(1 - positive)
    assert float(gaps.max()) == pytest.approx(1 + negative)
    truth = random_truth(30, vocab, sharpness=3)
    answers = truth.argmax(1)
    encoder, _ = lookup_encoder(truth, answers, rows, "entropy")
    bound = float(uniform_prior(30) @ entropy_term(truth, answers)) * (1 + negative) / (1 - positive)
    assert expected_divergence(truth, uniform_prior(30), encoder.logits) <= bound


def test_divergence_and_total_variation_have_different_leading_terms():
    """Section 5: to leading order the divergence is E_pi[Z^2]/2, the total variation E_pi|Z|/2."""
    truth = random_truth(5, 6)
    step = torch.randn(5, 6, generator=torch.Generator().manual_seed(1), dtype=D)
    for size, within in ((1e-2, 0.02), (1e-3, 0.002)):
        logits = truth.log() + size * step
        predicted = logits.softmax(1)
        divergence = (truth * (truth.log() - predicted.log())).sum(1)
        variation = (truth - predicted).abs().sum(1) / 2
        assert torch.allclose(divergence, leading_divergence(truth, logits), rtol=within)
        assert torch.allclose(variation, leading_total_variation(truth, logits), rtol=within)


def test_without_heads_no_more_than_d_facts_with_different_last_tokens():
    """H = 0 stores d associations (Section 6), of contexts that end in different tokens."""
    spec = AttentionOnly(vocab=50, context=2, dim=10, head_dim=10, heads=0)
    assert bounds(spec).guaranteed.associations == 10
    contexts = all_contexts(12, 2)
    assert rank_modulo(exact_features(contexts, dim=10, head_dim=10, heads=0)) == 10


def test_by_the_bound_wide_heads_are_best_per_parameter_while_embeddings_dominate():
    """ "taking d = d_h is optimal in term of memorization per parameter": (Hk + d)/P grows in k iff S + 2N > 4d."""
    for vocab, dim in ((50, 10), (50, 30), (8, 10)):
        specs = [AttentionOnly(vocab=vocab, context=2, dim=dim, head_dim=k, heads=20) for k in (1, dim // 2, dim)]
        rates = [Fraction(20 * spec.head_dim + dim, spec.parameters()) for spec in specs]
        assert (rates == sorted(rates)) == (2 + 2 * vocab > 4 * dim)


def test_any_transformer_is_a_sequence_encoder_of_rank_d():
    """Section 3, with MLPs and depth as well: logits over all contexts have rank d at most."""
    contexts = torch.from_numpy(all_contexts(9, 2))
    for spec in (
        AttentionOnly(vocab=9, context=2, dim=4, head_dim=2, heads=3, layers=3),
        MlpTransformer(vocab=9, context=2, dim=4, head_dim=4, heads=1, width=50),
    ):
        draw = torch.Generator().manual_seed(0)
        tensors = {name: torch.randn(shape, generator=draw, dtype=D) for name, shape in spec.shapes().items()}
        logits = rote.Model(spec, tensors).logits(contexts)
        assert logits.shape == (81, 9)
        assert int(torch.linalg.matrix_rank(logits, rtol=1e-10)) <= 4


def test_context_windows_of_gpt2_and_gpt3_against_the_previous_bound():
    """Footnote 5: S = 1024 > d = 768 in GPT-2, S = 2048 < d = 12288 in GPT-3; the earlier theorem needs S < d."""
    previous = RESULTS["mahdavi2024.theorem1"]
    gpt2 = AttentionOnly(vocab=50_257, context=1024, dim=768, head_dim=64, heads=12)
    gpt3 = AttentionOnly(vocab=50_257, context=2048, dim=12_288, head_dim=128, heads=96)
    assert not previous.bound(gpt2).applies
    assert previous.bound(gpt3).applies
    assert RESULTS["dana2025.theorem1"].bound(gpt2).applies


def test_counts_of_section_6():
    """2S + 4N + 8T is linear in T, depth gives sqrt(T log T), simulated neurons (d + S)(S + N + T)."""
    sizes = [(50, 2, T) for T in (10**3, 10**4, 10**5)]
    for vocab, context, T in sizes:
        assert corollary1_parameters(vocab, context, T) == 2 * context + 4 * vocab + 8 * T - 16
        assert deep_parameters(vocab, context, T) < corollary1_parameters(vocab, context, T)
        assert theorem1_parameters(vocab, context, 20, T) == 20 * (context + 2 * vocab + 4 * (T - 20))
        assert simulated_parameters(vocab, context, 20, T) == (20 + context) * (context + vocab + T)
    deep = [deep_parameters(50, 2, T) for _, _, T in sizes]
    assert deep[2] / deep[1] < 10**0.6


def test_simulated_neurons_are_competitive_while_their_load_is_small():
    """Section 6: with S log N log(1/eps) = O(d log d), S <= d and log T < sqrt d, within a factor of four."""
    for dim in (2**8, 2**12, 2**16):
        for context, vocab, epsilon in ((2, 50, 0.1), (4, 10, 0.5), (2, 100, 0.01)):
            T = vocab**context
            load = simulation_load(vocab, context, dim, epsilon)
            ratio = approximate_parameters(vocab, context, dim, T, epsilon) / (dim * (context + vocab + T))
            assert ratio <= 4 * max(load, context / dim, 1 / T + 1e-9) + (1 + context / dim) * (context + vocab) / T
    with pytest.raises(ValueError, match="must be less than d"):
        approximate_parameters(50, 2, 5, 2500, 0.1)


# Dana 2024, slides


def test_modules_without_a_skip_connection():
    """The slides' theorem: ceil(N_eps / d) modules of width d, and no skip connection, are read out exactly."""
    contexts, dim = all_contexts(6, 2), 4
    for count in (36, 30, 21):
        modules = -(-count // dim)
        features = exact_features(contexts[:count], dim, dim, modules)[:, dim:]
        assert rank_modulo(features) == count


def test_log_pi_of_rank_d_is_met_exactly():
    """Slides: divergence 0 "if L = log(pi) has rank d"; a constant per context may be added."""
    draw = torch.Generator().manual_seed(0)
    logits = torch.randn(9, 3, generator=draw, dtype=D) @ torch.randn(3, 7, generator=draw, dtype=D)
    truth = (logits + torch.randn(9, 1, generator=draw, dtype=D)).softmax(1)
    found = exact_encoder(truth, 6)
    assert expected_divergence(truth, uniform_prior(9), found.logits) < 1e-12
    encoder, left_out = least_squares(truth, 3)
    assert left_out < 1e-9
    assert expected_divergence(truth, uniform_prior(9), encoder.logits) < 1e-12


# Mahdavi, Liao and Thrampoulidis 2024


def test_parameters_of_query_attention_are_of_the_order_h_d_squared():
    """ "The number of parameters scales as Theta(H d^2)", at head and value dimensions of the order of d."""

    def parameters(heads: int, dim: int) -> int:
        return QueryAttention(context=8, dim=dim, head_dim=dim, heads=heads, outputs=1).parameters()

    for heads in (4, 16):
        for dim in (32, 128):
            assert 1 <= parameters(heads, dim) / (heads * dim**2) <= 8
    assert parameters(32, 64) / parameters(16, 64) == pytest.approx(2, rel=0.1)
    assert parameters(16, 128) / parameters(16, 64) == pytest.approx(4, rel=0.1)


# Kajitsuka and Sato 2025


@pytest.mark.parametrize("count", [16, 128])
def test_sequence_ids_are_a_contextual_mapping(count):
    """Definition 4.1: ids bounded by r and at least delta apart; here whole numbers, so delta = 1 and r the largest."""
    sequences = random_sequences(count, 8, 40, seed=1)
    codes = sequence_codes(sequences)
    sums = np.sort(codes.of(sequences).sum(1))
    assert np.array_equal(sums, np.sort(codes.sums))
    assert int(np.diff(sums).min()) >= 1
    assert int(sums.min()) >= 0
    assert int(sums.max()).bit_length() <= 3 * math.log2(count)


def test_hardmax_averages_the_largest_scores_only():
    values = np.array([[2, 4, 9], [1, 1, 7]], dtype=object)
    assert hardmax_average(np.array([[0, 0, 0], [5, 5, 1]]), values).tolist() == [Fraction(5), Fraction(1)]


def test_labels_are_recalled_with_hardmax_in_place_of_softmax():
    """Theorem 4.3 is about hardmax: the construction run with it, and with scores that break the tie."""
    numbers = position_numbers(PositionMemorizer(sequences=8, context=4), 0)
    assert numbers["recalled_by_hardmax"] == numbers["recalled"] == 32


def test_sine_networks_break_the_rule_that_relu_networks_keep():
    """The rule of small-networks-checked can fail: one parameter w of sin(w x) gives every labeling of four inputs."""
    rng = np.random.default_rng(0)
    inputs = np.sort(rng.standard_normal(4))

    def sine(rng: np.random.Generator, draws: int, inputs: np.ndarray) -> np.ndarray:
        return np.sin(np.exp(3 * rng.standard_normal((draws, 1))) * inputs)

    assert labelings(sine, inputs, rng, 20_000) == 16
    assert labelings(lambda rng, draws, inputs: relu_networks(rng, draws, inputs, 1, 3), inputs, rng, 20_000) < 16


def test_the_second_network_is_what_labels_at_every_position_cost():
    """Section 1: "the feed-forward network becomes a bottleneck when associating a label to each token"."""
    few, many = (position_numbers(PositionMemorizer(sequences=count, context=8), 0) for count in (16, 128))
    assert many["second_network"] > 0.6 * many["parameters"]
    grown = many["second_network"] - few["second_network"]
    assert grown > 0.6 * (many["parameters"] - few["parameters"])


def test_each_dimension_of_the_tokens_costs_one_parameter():
    """Remark 4.3, dependence on d: the network reads a token vector once, and its depth does not depend on d."""
    built = {}
    for dim in (16, 64):
        draw = np.random.default_rng(0)
        tokens, rows = draw.standard_normal((12, dim)), draw.integers(0, 12, (40, 5))
        task = VectorTask(tokens[rows[:, :4]], tokens[rows[:, 4]], labels=draw.integers(0, 3, 40))
        built[dim] = build(task, "kajitsuka2025.theorem4_1").certificate
        assert built[dim].recalled == built[dim].facts == 40
    assert built[64].measured["depth"] == built[16].measured["depth"]
    assert built[64].parameters - built[16].parameters == 64 - 16


def test_the_count_of_theorem_4_1_depends_on_d_by_d_alone():
    """Remark 4.3: the dimension of tokens enters once, as the d numbers that read a token."""
    result = RESULTS["kajitsuka2025.theorem4_1"]
    assert result.statement.startswith("parameters ~ d + sqrt(T log T)")
    small, large = (AttentionOnly(vocab=50, context=2, dim=d, head_dim=2, heads=1) for d in (4, 40))
    by_size = [result.bound(spec) for spec in (small, large)]
    assert all(bound.applies for bound in by_size)
