"""Error on vector tasks with real targets: how far outputs are from what was to be memorized."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch

from rote.errors import InputError
from rote.measure.matching import for_model
from rote.measure.streaming import stream_logits
from rote.models.model import Model
from rote.progress import SILENT, Progress
from rote.tasks import VectorTask

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
