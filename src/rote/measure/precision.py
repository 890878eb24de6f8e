"""Recall against precision: what a model still holds when its weights keep fewer bits.

A weight keeps its exponent and b bits of its significand, rounded to nearest, so that b = 23 is float32 and b = 7 is
bfloat16's. Arithmetic stays in the model's own dtype: what is measured is the cost of storing coarser numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from rote.measure.recall import recall
from rote.models.grid import LEVELS, GridName, Precision, least_squares_grid
from rote.models.model import Model
from rote.progress import SILENT, Progress
from rote.tasks import Task

OWN = {"float64": 52, "float32": 23, "bfloat16": 7, "float16": 10}
"""Bits of the significand that each dtype stores."""
NAMES = {23: "float32's 23 bits", 10: "float16's 10 bits", 7: "bfloat16's 7 bits"}
BITS = (23, 16, 13, 10, 8, 7, 6, 5, 4, 3, 2)


@dataclass(frozen=True)
class PrecisionPoint:
    """What is recalled with so many bits."""

    bits: int
    recalled: int
    recall: float
    min_margin: float

    @property
    def name(self) -> str:
        return NAMES.get(self.bits, f"{self.bits} bits")


def recall_by_precision(
    model: Model, task: Task, bits: Sequence[int] = BITS, progress: Progress = SILENT
) -> list[PrecisionPoint]:
    """Recall at each number of bits that is not above the model's own."""
    points = []
    for kept in bits:
        if kept > OWN[model.dtype_name]:
            continue
        seen = recall(rounded(model, kept), task, progress)
        points.append(PrecisionPoint(kept, seen.recalled, seen.recall, seen.min_margin))
    return points


def rounded(model: Model, bits: int) -> Model:
    """The model with `bits` bits of every weight's significand kept."""
    if bits >= OWN[model.dtype_name]:
        return model
    kept = {
        name: _rounded(tensor, bits) if tensor.is_floating_point() else tensor for name, tensor in model.weights.items()
    }
    return replace(model, weights=kept, precision=None)


def on_grid(model: Model, name: GridName) -> Model:
    """The model with every weight rounded to the nearest level, one scale per row; nothing is solved again."""
    if model.precision is not None and model.precision.name == name:
        return model
    grids, weights = {}, dict(model.weights)
    for tensor in model.spec.shapes():
        values = model.weights[tensor].double().numpy()
        levels = LEVELS[name] - (LEVELS[name] % 2 == 0)
        grids[tensor] = least_squares_grid(values, levels, shared=(values.ndim - 1,))
        weights[tensor] = torch.from_numpy(grids[tensor].nearest(values))
    return replace(model, weights=weights, precision=Precision(name, grids))


def _rounded(tensor: Tensor, bits: int) -> Tensor:
    # frexp gives a significand in [1/2, 1), whose first bit is the one that floating point leaves out.
    significand, exponent = torch.frexp(tensor)
    return torch.ldexp((significand * 2.0 ** (bits + 1)).round() / 2.0 ** (bits + 1), exponent)
