"""Error on vector tasks with real targets: how far outputs are from what was to be memorized."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from rote.errors import InputError
from rote.measure.streaming import stream_logits
from rote.models.model import Model
from rote.progress import SILENT, Progress
from rote.tasks import VectorTask

TOLERANCE = 1e-6
"""A target is memorized when every output is this close to it, relative to the largest target."""


@dataclass(frozen=True)
class Error:
    """Largest error over all examples, relative to the largest target, and the examples that exceed the tolerance."""

    largest: float
    memorized: int
    missed: np.ndarray


def error(model: Model, task: VectorTask, progress: Progress = SILENT) -> Error:
    """Run the model on every example."""
    if task.targets is None:
        raise InputError("error needs real targets; this vector task has labels: measure its recall instead")
    size = max(float(np.abs(task.targets).max()), np.finfo(np.float64).tiny)
    errors = []
    for rows, outputs in stream_logits(model, task, progress):
        off = (outputs.double() - torch.from_numpy(task.targets[rows])).abs().amax(1) / size
        errors.append(off.nan_to_num(nan=float("inf")).numpy())
    every = np.concatenate(errors)
    missed = np.flatnonzero(every > TOLERANCE)
    return Error(float(every.max()), task.facts - len(missed), missed)
