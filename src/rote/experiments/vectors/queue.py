"""Trials on vector tasks as the runner requests them: the next ones may depend on those that ended.

The pending trials are a pure function of the rows so far, evaluated whenever a worker is free: a grid requests all its
cells at once, a search one size at a time.

A trial's record includes how heads share the examples. A head is saturated on an example when one attention weight
exceeds 0.99 (Mahdavi et al. 2024). If heads specialize, two heads are saturated on the same example less often than
chance. overlap = P(both) / (P(a) P(b)): 1 if the heads are independent, 0 if they split the examples among them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import torch
from jaxtyping import Bool
from torch import Tensor

from rote.experiments.executor import in_threads
from rote.experiments.runner import Rows
from rote.experiments.trial import PendingTrials, TrialOutcome
from rote.experiments.vectors.trial import Results, VectorResult, VectorTrial
from rote.measure.matching import rows_at_once
from rote.models.forward.query_attention import embedded
from rote.models.model import Model
from rote.models.query_attention import QueryAttention
from rote.papers.kinds.vectors import SATURATED
from rote.progress import Progress
from rote.tasks import VectorTask
from rote.training.query_attention.train import VectorTrained, train_vectors


@torch.no_grad()
def saturated(model: Model, task: VectorTask, level: float = SATURATED) -> Bool[Tensor, "examples heads"]:
    """Whether each head puts more than `level` of its attention on one token of each example."""
    spec = model.spec
    if not isinstance(spec, QueryAttention):
        raise TypeError(f"saturation is measured of query attention, not of {spec.architecture}")
    marks = []
    step = rows_at_once(model)
    for start in range(0, task.facts, step):
        contexts, queries = (torch.tensor(part).to(model.dtype) for part in task.inputs(slice(start, start + step)))
        tokens, asked = embedded(spec, model.weights, (contexts, queries))
        heads = torch.einsum("hkd,bd->bhk", model.weights["query"], asked)
        scores = torch.einsum("bhk,hkd->bhd", heads, model.weights["key"]) @ tokens.mT
        if spec.scale_scores:
            scores = scores / math.sqrt(spec.dim)
        marks.append(scores.softmax(-1).amax(-1) > level)
    return torch.cat(marks)


def head_shares(model: Model, task: VectorTask) -> dict[str, Any]:
    """Shares of examples by head, by number of saturated heads, and the overlap of every pair of heads."""
    marks = saturated(model, task)
    own = marks.double().mean(0)
    count = marks.sum(1)
    overlaps = [
        float((marks[:, a] & marks[:, b]).double().mean() / (own[a] * own[b]))
        for a, b in combinations(range(marks.shape[1]), 2)
        if own[a] > 0 and own[b] > 0
    ]
    # With independent heads, the share of examples that some head is saturated on follows from the heads' own shares.
    return {
        "by_head": own.tolist(),
        "some_head": float((count > 0).double().mean()),
        "some_head_if_independent": float(1 - (1 - own).prod()),
        "heads_per_example": float(count.double().mean()),
        "overlaps": overlaps,
    }


CURVE_POINTS = 25
"""Points of a loss curve that the ledger keeps, about."""


def trained_record(trial: VectorTrial) -> dict[str, Any]:
    """Train, measure on every example, and give what is recorded."""
    task = trial.task()
    trained = train_vectors(task, trial.setting.spec, trial.seed, trial.protocol)
    heads = {"heads": head_shares(trained.model, task)} if trial.heads_measured and not trained.diverged else {}
    return {**_numbers(trained), **heads}


def _numbers(trained: VectorTrained) -> dict[str, Any]:
    stride = max(1, len(trained.curve) // CURVE_POINTS)
    curve = [[int(step), float(f"{loss:.5g}")] for step, loss in trained.curve[::stride].tolist()]
    return {**trained.summary(), "curve": curve}


@dataclass(frozen=True)
class VectorRun:
    """Trials on vector tasks, one thread per trial."""

    identity: dict[str, Any]
    """All that results depend on besides cell and seed: a folder with another identity is rejected."""
    next_trials: Callable[[Results], Sequence[VectorTrial]]
    """Trials to run next, most urgent first, given what ended ones recorded."""

    about: dict[str, Any] = field(default_factory=dict)
    adaptive = True

    @property
    def trainer(self) -> VectorRun:
        return replace(self, next_trials=_none)

    def pending(self, rows: Rows) -> Sequence[VectorTrial]:
        return self.next_trials({key: VectorResult.of(row.result) for key, row in rows.items()})

    def train(
        self, pending: PendingTrials[VectorTrial], workers: int | None, progress: Progress
    ) -> Iterator[TrialOutcome[VectorTrial, dict[str, Any]]]:
        return in_threads(
            pending, workers, progress, "training", lambda trials: [trained_record(trial) for trial in trials]
        )

    def finished(self, rows: Rows) -> Rows:
        """Figures share a run, and a search finds its trials itself: every row is given."""
        return rows


def _none(results: Results) -> list[VectorTrial]:
    return []
