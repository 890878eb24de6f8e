"""Divergence of a model from a distribution task: d_KL = E_t KL(pi_t || softmax logits(t)), in nats."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from rote.arguments import typed
from rote.measure.matching import for_model, stream_logits
from rote.models.model import Model
from rote.progress import SILENT, Progress
from rote.tasks.distribution import require_distributions
from rote.tasks.facts import Facts, facts


@dataclass(frozen=True)
class Divergence:
    """Expected and largest divergence in nats, beside what predicting the uniform distribution would give."""

    expected: float
    largest: float
    uniform: float


@typed
def divergence(model: Model, task: Facts, progress: Progress = SILENT) -> Divergence:
    """Run the model on every context; the softmax is taken in float64 whatever the model's dtype.

    The facts must be weighted: of associations `rote.recall` says all there is to say.

    >>> import numpy, rote
    >>> contexts, rows = numpy.array([[0, 1], [1, 0]]), numpy.array([[0.5, 0.25, 0.25], [0.1, 0.1, 0.8]])
    >>> task = rote.DistributionTask.from_dense(contexts, rows)
    >>> away = rote.divergence(rote.build(task).model, task)
    >>> away.expected < 1e-6 < away.uniform
    True
    """
    task = for_model(require_distributions(facts(task)), model)
    prior = torch.from_numpy(task.prior)
    expected, largest, uniform = 0.0, 0.0, 0.0
    for rows, logits in stream_logits(model, task, progress, "measuring divergence"):
        truth = torch.from_numpy(task.dense(rows))
        negative_entropy = torch.special.xlogy(truth, truth).sum(1)
        # 0 log 0 = 0 also where a logit is -inf; what is not a number is as wrong as can be.
        crossed = torch.where(truth > 0, truth * logits.double().log_softmax(1), 0.0).sum(1)
        rows_kl = (negative_entropy - crossed).nan_to_num(nan=math.inf, posinf=math.inf)
        expected += float(_mean_terms(prior[rows], rows_kl).sum())
        largest = max(largest, float(rows_kl.max()))
        uniform += float(prior[rows] @ (negative_entropy + math.log(task.vocab)))
    return Divergence(expected, largest, uniform)


def _mean_terms(prior: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """prior x value, zero where the prior is, even of an infinite value."""
    return torch.where(prior > 0, prior * values, 0.0)
