"""Statements of the slides of Dana 2024: modules without a skip connection, and least-squares encoders."""

from __future__ import annotations

import math

import torch

from rote.constructions.dana2025.best_encoder import best_encoder
from rote.constructions.dana2025.encoder import Encoder, expected_divergence, truth_and_prior
from rote.constructions.dana2025.least_squares import (
    least_squares,
    ls_bound,
    printed_ls_bound,
    printed_wls_bound,
    weighted_least_squares,
)
from rote.constructions.dana2025.output_fits import OutputProblem, paper_bound, paper_output
from rote.constructions.dana2025.theorem1_distribution import covering
from rote.experiments.statements.attention import attention_features, numerical_rank
from rote.experiments.statements.distributions import distributions
from rote.experiments.statements.encoders import STEPS, Numbers
from rote.models.attention_only import AttentionOnly
from rote.papers.kinds.statement_settings import Distributions, Modules, NearlyRankD, UnlikelyContext

D = torch.float64


def modules_numbers(cell: Modules, seed: int) -> Numbers:
    """The rank of ceil(N_eps / d) modules on the likeliest contexts, and the gap that fitting them there leaves."""
    task = distributions(Distributions("random", cell.vocab, cell.contexts, "zipf"), seed)
    truth, prior = truth_and_prior(task)
    encoder = best_encoder(truth, prior, cell.dim, seed=seed, random_starts=1, steps=STEPS).encoder.balanced()
    kept = covering(task.prior, cell.epsilon)
    heads = -(-kept // cell.dim)
    spec = AttentionOnly(vocab=cell.vocab, context=2, dim=cell.dim, head_dim=cell.dim, heads=heads)
    generator = torch.Generator().manual_seed(seed)
    features = attention_features(spec, cell.dim, task.contexts, generator)[:, cell.dim :]
    likeliest = torch.argsort(prior, descending=True, stable=True)[:kept]
    # Of the last module only as many features as there are contexts left.
    problem = OutputProblem(features[:, :kept], encoder, truth, prior)
    numbers: Numbers = {"contexts": kept, "modules": heads, "rank": numerical_rank(features[likeliest])}
    if kept < len(truth):
        reached, bound = problem.divergence(paper_output(problem)), paper_bound(problem)
        numbers |= {
            "gap": abs(reached - expected_divergence(truth, prior, encoder.logits)),
            "bound_as_printed": bound.by_norm / math.sqrt(2),
            "epsilon": bound.epsilon,
        }
    return numbers


def nearly_rank_d_numbers(cell: NearlyRankD, seed: int) -> Numbers:
    """f_ls and f_wls of a log pi that has rank d but for noise, at a uniform prior, with their bounds."""
    draw = torch.Generator().manual_seed(seed)
    logits = (
        torch.randn(cell.contexts, cell.dim, generator=draw, dtype=D)
        @ torch.randn(cell.dim, cell.vocab, generator=draw, dtype=D)
        / math.sqrt(cell.dim)
    )
    logits = logits + cell.noise * torch.randn(logits.shape, generator=draw, dtype=D)
    truth = logits.softmax(1)
    prior = torch.full((cell.contexts,), 1 / cell.contexts, dtype=D)
    plain, left_out = least_squares(truth, cell.dim)
    reached = expected_divergence(truth, prior, plain.logits)
    weighted = weighted_least_squares(truth, prior, cell.dim)
    if cell.noise == 0:
        return {"f_ls_at_rank_d": reached, "left_out": left_out}
    return {
        "f_ls": reached,
        "f_wls": expected_divergence(truth, prior, weighted.logits),
        "left_out": left_out,
        "bound_of_f_ls": printed_ls_bound(truth, left_out),
        "bound_of_f_wls": printed_wls_bound(truth, left_out),
        "sharper_bound_of_f_ls": ls_bound(truth, left_out),
    }


def unlikely_numbers(cell: UnlikelyContext, seed: int) -> Numbers:
    """The weighted fit that meets a nearly uniform row and predicts uniform for the unlikely other one, if it is "
    "best."""
    near = torch.tensor([1 / 3 + 1e-7, 1 / 3 - 1e-7, 1 / 3], dtype=D)
    truth = torch.stack([near, torch.tensor([0.4995, 0.4995, 0.001], dtype=D)])
    prior = torch.tensor([1 - cell.prior, cell.prior], dtype=D)
    likely = Encoder(torch.tensor([[1.0], [-1.0], [0.0]], dtype=D), torch.tensor([[3e-7], [0.0]], dtype=D))
    unlikely = Encoder(
        torch.tensor([[1.0], [1.0], [-2.0]], dtype=D), torch.tensor([[0.0], [math.log(499.5) / 3]], dtype=D)
    )
    best = min((likely, unlikely), key=lambda encoder: weighted_error(truth, prior, encoder))
    _, left_out = least_squares(truth, 1)
    return {
        "f_wls_unlikely": expected_divergence(truth, prior, best.logits),
        "bound_of_f_wls_unlikely": printed_wls_bound(truth, left_out),
    }


def weighted_error(truth: torch.Tensor, prior: torch.Tensor, encoder: Encoder) -> float:
    """E_t sum_n pi_t(n) (f - log pi)^2, a constant per context aside: what f_wls makes least."""
    delta = encoder.logits - truth.log()
    delta = delta - (truth * delta).sum(1, keepdim=True)
    return float(prior @ (truth * delta**2).sum(1))
