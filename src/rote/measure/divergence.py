"""Divergence of a model from a distribution task: d_KL = E_t KL(pi_t || softmax logits(t)), in nats."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from rote.measure.matching import for_model
from rote.measure.streaming import stream_logits
from rote.models.model import Model
from rote.progress import SILENT, Progress
from rote.tasks import DistributionTask


@dataclass(frozen=True)
class Divergence:
    """Expected and largest divergence, beside what predicting the uniform distribution would give."""

    expected: float
    largest: float
    uniform: float


def divergence(model: Model, task: DistributionTask, progress: Progress = SILENT) -> Divergence:
    """Run the model on every context; the softmax is taken in float64 whatever the model's dtype."""
    task = for_model(task, model)
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
