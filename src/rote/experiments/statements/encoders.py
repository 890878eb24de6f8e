"""Statements about sequence encoders: Propositions 2 and 3 and Theorem 2 of Dana, Pydi and Chevaleyre 2025."""

from __future__ import annotations

import math

import numpy as np
import torch

from rote.constructions.build import build
from rote.constructions.dana2025.best_encoder import best_encoder
from rote.constructions.dana2025.encoder import centred_log, exact_encoder, expected_divergence, truth_and_prior
from rote.constructions.dana2025.lookup_encoder import (
    corrected_bound,
    entropy_term,
    lookup_encoder,
    measured_bound,
    printed_constant,
    random_rows,
)
from rote.experiments.statements.distributions import distributions
from rote.measure.divergence import divergence
from rote.papers.kinds.statement_settings import BestEncoder, Circle, LookUpRows, TwoContexts
from rote.tasks import DistributionTask, require_associations
from rote.tasks.facts import facts

FLOOR = 1e-12
"""Zeros of a distribution are raised to this before a logarithm is taken."""
STEPS = 400
"""Of the fit of an encoder: what it finds is an upper bound on the infimum, however many there are."""

Numbers = dict[str, float | None]
"""What a cell measures, by name; None for a vacuous bound."""


def best_encoder_numbers(cell: BestEncoder, seed: int) -> Numbers:
    """The divergence reached at this d, and the singular value of centred log pi that rank d must leave out."""
    task = distributions(cell.distributions, seed)
    truth, prior = truth_and_prior(task)
    singular = torch.linalg.svdvals(centred_log(truth, FLOOR))
    exact = cell.dim >= task.vocab - 1
    if exact:
        reached = expected_divergence(truth, prior, exact_encoder(truth, cell.dim, FLOOR).logits)
    else:
        reached = best_encoder(truth, prior, cell.dim, seed=seed, random_starts=1, steps=STEPS).divergence
    return {
        "divergence": reached,
        "divergence_at_enough": reached if exact else None,
        "divergence_below": None if exact else reached,
        "singular_value_left_out": None if exact else float(singular[cell.dim]),
        "uniform": expected_divergence(truth, prior, torch.zeros_like(truth)),
    }


def circle_numbers(cell: Circle, seed: int) -> Numbers:
    """Every fact of a table in two dimensions."""
    kept = require_associations(facts(cell.facts), "the statement is about associations").majority()
    built = build(kept, "dana2025.proposition3", dtype="float64", seed=seed)
    certain = DistributionTask(
        kept.contexts,
        np.ones(kept.facts),
        np.arange(kept.facts + 1),
        kept.answers,
        np.ones(kept.facts),
        kept.vocabulary,
    )
    return {
        "facts": kept.facts,
        "recalled": built.certificate.recalled,
        "answers": built.certificate.measured["answers"],
        "divergence": divergence(built.model, certain).expected,
    }


def look_up_numbers(cell: LookUpRows, seed: int) -> Numbers:
    """Theorem 2 by equation (6), its bounds, and lambda chosen directly."""
    task = distributions(cell.distributions, seed)
    truth, prior = truth_and_prior(task)
    answers = truth.argmax(1)
    rows = random_rows(task.vocab, cell.dim, "unit", torch.Generator().manual_seed(seed))
    by_entropy, _ = lookup_encoder(truth, answers, rows, "entropy")
    direct, _ = lookup_encoder(truth, answers, rows, "direct")
    constant = printed_constant(task.vocab, cell.dim)
    entropy = -torch.special.xlogy(truth, truth).sum(1)
    return {
        "contexts": len(truth),
        # Equation (6): -H = log sum_j exp(...), which falls from log N to 0, and H is the sum of pi log pi.
        "contexts_solvable": int(((entropy >= 0) & (entropy <= math.log(task.vocab) + 1e-12)).sum()),
        "by_equation_6": expected_divergence(truth, prior, by_entropy.logits),
        "direct": expected_divergence(truth, prior, direct.logits),
        "bound": corrected_bound(truth, prior, answers, constant),
        "bound_of_rows": measured_bound(truth, prior, answers, rows),
        "coherence": float((rows @ rows.T - torch.eye(task.vocab, dtype=rows.dtype)).abs().max()),
        "bound_of_slides": (1 + 4 * constant) / (1 - 2 * constant) * float(prior @ entropy_term(truth, answers))
        if constant < 0.5
        else None,
        "constant": constant,
        "uniform": expected_divergence(truth, prior, torch.zeros_like(truth)),
    }


def two_contexts_numbers(cell: TwoContexts, seed: int) -> Numbers:
    """The bound of Theorem 2 and the simpler one after it, at W = I, where the encoder meets the former."""
    seven = torch.tensor([0.5] + [0.5 / 7] * 7, dtype=torch.float64)
    other = torch.tensor([0.5, 0.5] + [0.0] * 6, dtype=torch.float64)
    if cell.doubt is not None:
        other = torch.full((8,), cell.doubt / 7, dtype=torch.float64)
        other[1] = 1 - cell.doubt
    truth, answers = torch.stack([other, seven]), torch.zeros(2, dtype=torch.long)
    prior = torch.full((2,), 0.5, dtype=torch.float64)
    encoder, _ = lookup_encoder(truth, answers, torch.eye(8, dtype=torch.float64), "entropy")
    entropy = float(prior @ -torch.special.xlogy(truth, truth).sum(1))
    rest = float(prior @ (1 - truth[:, 0]))
    return {
        "by_equation_6": expected_divergence(truth, prior, encoder.logits),
        "bound": float(prior @ entropy_term(truth, answers)),
        "simpler_bound": rest * math.log(7 / math.expm1(entropy)),
    }
