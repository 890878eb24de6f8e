"""Every measure that makes sense for a task, taken together.

Recall where a row has one answer, divergence besides where it has a distribution, error where it has real targets.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch

from rote.errors import InputError
from rote.measure.divergence import Divergence, divergence
from rote.measure.matching import for_model, stream_logits
from rote.measure.recall import Recall, recall_of
from rote.models.model import Model
from rote.progress import SILENT, Progress
from rote.tasks import DistributionTask, Task, VectorTask

TOLERANCE = 1e-6
"""A target is memorized when every output is this close to it, relative to the largest target."""


@dataclass(frozen=True)
class Error:
    """How far outputs are from targets, and the examples that exceed the tolerance."""

    largest: float
    """Largest error over all examples, relative to the largest target."""
    mean_square: float
    """Mean of squared errors over examples and outputs, in the targets' own units: what regression minimises."""
    recalled: int
    missed: np.ndarray


def error(model: Model, task: VectorTask, progress: Progress = SILENT) -> Error:
    """Run the model on every example; outputs that are not numbers are infinitely wrong."""
    if task.targets is None:
        raise InputError("error needs real targets; this vector task has labels: measure its recall instead")
    task, targets = for_model(task, model), task.targets
    size = max(float(np.abs(targets).max()), np.finfo(np.float64).tiny)
    errors, squares = [], 0.0
    for rows, outputs in stream_logits(model, task, progress, "measuring error"):
        off = (outputs.double() - torch.from_numpy(targets[rows])).abs().nan_to_num(nan=math.inf, posinf=math.inf)
        errors.append((off.amax(1) / size).numpy())
        squares += float(off.square().sum())
    every = np.concatenate(errors)
    missed = np.flatnonzero(every > TOLERANCE)
    return Error(float(every.max()), squares / targets.size, task.facts - len(missed), missed)


@dataclass(frozen=True)
class Measures:
    """What was measured of a model on a task; either recall or error is present."""

    scored: Recall | Error
    """What was recalled: answers that are the strict maximum, or targets met within the tolerance."""
    divergence: Divergence | None = None

    @property
    def recall(self) -> Recall | None:
        return self.scored if isinstance(self.scored, Recall) else None

    @property
    def largest_error(self) -> float | None:
        return self.scored.largest if isinstance(self.scored, Error) else None

    @property
    def recalled(self) -> int:
        return self.scored.recalled

    @property
    def missed(self) -> np.ndarray:
        return self.scored.missed


def measures(model: Model, task: Task, progress: Progress = SILENT) -> Measures:
    """Run the model on every row, once for each measure."""
    if isinstance(task, VectorTask) and task.targets is not None:
        return Measures(error(model, task, progress))
    scored = recall_of(model, task, progress)
    if isinstance(task, DistributionTask):
        return Measures(scored, divergence(model, task, progress))
    return Measures(scored)
