"""The sparse regime: more facts than a model holds. Which facts are kept, and what is the loss?"""

from __future__ import annotations

import math
from typing import NamedTuple, cast

import numpy as np
import torch
from scipy.optimize import OptimizeResult, minimize_scalar
from torch import Tensor

from rote.constructions.build import build
from rote.constructions.common.random_attention.draw import ScoreSize
from rote.constructions.common.random_attention.setting import AttentionSetting
from rote.constructions.dana2025.encoder import Encoder
from rote.constructions.dana2025.output_fits import OutputProblem, joint_output
from rote.experiments.statements.encoders import Numbers
from rote.models.attention_only import AttentionOnly
from rote.models.forward import forward
from rote.papers.kinds.statement_settings import SparseTable
from rote.tasks import AssociationTask, DistributionTask, Vocabulary
from rote.training.protocol import Protocol
from rote.training.trials import TrainingTrial, train_here

FIT_STEPS = 300
"""Iterations of L-BFGS on W_O and W_U. On the grid's largest cell 1,000 lower the loss by less than 0.01 log N."""
TRAINING = Protocol(name="sparse", steps=4000, peak=4e-2, beta2=0.95, decay=1e-2)
"""Adam on all facts per step by plain cross-entropy, so that what is minimized is the loss that is reported."""


class Facts(NamedTuple):
    """A look-up table whose rows are in the order of the Zipf prior, the likeliest first."""

    contexts: np.ndarray
    answers: np.ndarray
    vocab: int

    @classmethod
    def random(cls, vocab: int, facts: int, seed: int) -> Facts:
        draw = np.random.default_rng(seed)
        keys = draw.choice(vocab**2, facts, replace=False)
        return cls(np.stack(np.divmod(keys, vocab), 1), draw.integers(vocab, size=facts), vocab)

    @property
    def priors(self) -> dict[str, np.ndarray]:
        """Uniform, and the i-th fact as 1/i."""
        count = len(self.answers)
        harmonic = 1 / np.arange(1, count + 1)
        return {"uniform": np.full(count, 1 / count), "zipf": harmonic / harmonic.sum()}

    def task(self, prior: np.ndarray) -> DistributionTask:
        rows = np.zeros((len(self.answers), self.vocab))
        rows[np.arange(len(rows)), self.answers] = 1
        return DistributionTask.from_dense(self.contexts, rows, prior)


def sparse_numbers(cell: SparseTable, seed: int) -> Numbers:
    """Losses as shares of log N (1: nothing is known), and which facts are recalled, under both priors."""
    facts = Facts.random(cell.vocab, cell.facts, seed)
    spec = AttentionOnly(
        vocab=cell.vocab, context=2, dim=cell.dim, head_dim=cell.dim, heads=cell.heads, scale_scores=True
    )
    numbers: Numbers = {"parameters": spec.parameters(), "facts": cell.facts}
    for name, prior in facts.priors.items():
        for method, logits in _logits(facts, prior, spec, seed).items():
            loss, right = _loss(logits, facts.answers, prior), recalled(logits, facts.answers)
            numbers |= {
                f"{method}_{name}": loss / math.log(cell.vocab),
                f"{method}_recalled_{name}": int(right.sum()),
                f"{method}_mass_{name}": float(right @ prior),
                f"{method}_choice_{name}": float(right @ prior / prior[: int(right.sum())].sum()) if right.any() else 0,
            }
            if (method, name) == ("trained", "zipf"):
                numbers |= _kept_by_rank(right, cell.facts * (1 - (numbers["trained_uniform"] or 0)))
    held = cell.facts * (1 - (numbers["trained_uniform"] or 0))
    zipf = facts.priors["zipf"]
    optimal = beyond(zipf, held)
    chosen = _trained(facts, np.where(np.arange(cell.facts) < held, 1.0, 0.0), spec, seed)
    return numbers | {
        "held": held,
        "bits_per_parameter": held * math.log2(cell.vocab) / spec.parameters(),
        "optimal_zipf": optimal,
        "optimal_mass_zipf": 1 - optimal,
        "over_optimal": (numbers["trained_zipf"] or 0) / optimal,
        "chosen_mass_zipf": float(recalled(chosen, facts.answers) @ zipf),
    }


def beyond(prior: np.ndarray, held: float) -> float:
    """Prior of all but the `held` likeliest facts, the last of them counted in part.

    The least loss (in units of log N) of a model that knows so many facts' worth of information: to spend it on the
    likeliest facts minimizes sum_i prior_i (log N - g_i) with 0 <= g_i <= log N and sum_i g_i given.
    """
    return float(1 - np.interp(held, np.arange(len(prior) + 1), np.concatenate([[0], np.cumsum(prior)])))


def _logits(facts: Facts, prior: np.ndarray, spec: AttentionOnly, seed: int) -> dict[str, Tensor]:
    """By each way to make the model."""
    return {
        "trained": _trained(facts, prior, spec, seed),
        "readout": _readout(facts.task(prior), spec, seed),
        "theorem": _theorem(facts, spec, seed),
    }


def _trained(facts: Facts, prior: np.ndarray, spec: AttentionOnly, seed: int) -> Tensor:
    trained = train_here(TrainingTrial(facts.task(prior), spec, TRAINING, seed))
    return forward(trained.model.spec, trained.model.weights, torch.from_numpy(facts.contexts)).double()


def _theorem(facts: Facts, spec: AttentionOnly, seed: int) -> Tensor:
    """Theorem 1 of Dana et al. 2025 for the Hk + d likeliest facts; what it answers to others is not chosen.

    One temperature for all logits, the best for each prior, is left to the loss.
    """
    stored = min(spec.heads * spec.head_dim + spec.dim, len(facts.answers))
    table = AssociationTask(facts.contexts, facts.answers, Vocabulary.numbered(facts.vocab)).take(slice(0, stored))
    built = build(
        table, "dana2025.theorem1", dim=spec.dim, head_dim=spec.head_dim, heads=spec.heads, dtype="float64", seed=seed
    )
    return forward(built.model.spec, built.model.weights, torch.from_numpy(facts.contexts)).double()


def _readout(task: DistributionTask, spec: AttentionOnly, seed: int) -> Tensor:
    """Random attention, and the W_O and W_U that fit the prior's cross-entropy best."""
    generator = torch.Generator().manual_seed(seed)
    unscaled = spec.model_copy(update={"scale_scores": False})
    drawn = AttentionSetting.draw(task, unscaled, torch.float64, ScoreSize().plain(spec.heads), generator)
    unembed = torch.randn(spec.vocab, spec.dim, generator=generator, dtype=torch.float64)
    truth, prior = torch.from_numpy(task.dense()), torch.from_numpy(task.prior)
    problem = OutputProblem(drawn.features, Encoder(unembed, torch.zeros(len(truth), spec.dim).double()), truth, prior)
    start = torch.zeros(drawn.features.shape[1], spec.dim, dtype=torch.float64)
    fitted, unembed = joint_output(problem, start, FIT_STEPS)
    return drawn.features @ fitted @ unembed.T


def _loss(logits: Tensor, answers: np.ndarray, prior: np.ndarray) -> float:
    """Cross-entropy in nats at the best temperature, which is never worse than knowing nothing."""
    right, weights = torch.from_numpy(answers), torch.from_numpy(prior)

    def at(scale: float) -> float:
        return float(weights @ torch.nn.functional.cross_entropy(scale * logits, right, reduction="none"))

    found = cast(OptimizeResult, minimize_scalar(at, bounds=(0, 2), method="bounded"))
    return min(at(0), at(1), float(found.fun))


def recalled(logits: Tensor, answers: np.ndarray) -> np.ndarray:
    """Whether the answer's logit is the strict maximum."""
    right = torch.from_numpy(answers)[:, None]
    others = logits.scatter(1, right, -math.inf).max(1).values
    return (logits.gather(1, right)[:, 0] > others).numpy()


def _kept_by_rank(right: np.ndarray, held: float) -> Numbers:
    """Recall of the facts whose rank in the prior is in a multiple of the number that a uniform prior would hold."""
    ranks = np.arange(1, len(right) + 1) / max(held, 1)
    bins = {"half": (0, 0.5), "one": (0.5, 1), "two": (1, 2), "more": (2, math.inf)}
    chosen = {name: (ranks > low) & (ranks <= high) for name, (low, high) in bins.items()}
    return {f"kept_{name}": float(right[rows].mean()) if rows.any() else None for name, rows in chosen.items()}
