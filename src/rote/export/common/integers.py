"""Weights on a grid as signed integers and scales: what ONNX's DequantizeLinear reads and a checkpoint can store.

A grid of odd levels is whole numbers times its scale. A grid of even levels is odd numbers times half of it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rote.errors import InputError
from rote.models.grid import TensorGrid
from rote.models.model import Model

LARGEST = {"int8": 127, "int4": 7}
"""Largest integer of each format. The smallest is its negative."""


class Integers(NamedTuple):
    """A tensor as integers times scales that broadcast to it: exactly its numbers in float32."""

    codes: np.ndarray
    """int8."""
    scales: np.ndarray
    """float32."""


def integers_of(grid: TensorGrid, values: np.ndarray) -> Integers:
    """The integers of a tensor on its grid."""
    double = 2 - grid.levels % 2
    codes = (double * (grid.codes(values) - grid.middle)).astype(np.int8)
    return Integers(codes, grid.scales.astype(np.float32) / double)


def integer_weights(model: Model) -> dict[str, Integers]:
    """The integers of every tensor of a model on grids."""
    if model.precision is None:
        raise InputError(f"the weights are {model.dtype_name}, not on a grid; build with `dtype=int8`")
    return {name: integers_of(model.precision.grids[name], tensor.numpy()) for name, tensor in model.weights.items()}


def refuse_integers(model: Model, format: str | None) -> list[str]:
    """Why the weights are no integers of this format."""
    if format is None:
        return []
    precision = model.precision
    if precision is None:
        return [
            f"`format={format}`: the weights are {model.dtype_name}, and rounding them loses facts; build with "
            f"`dtype={format}`, which solves for the rounded weights"
        ]
    most = {name: (2 - grid.levels % 2) * grid.middle for name, grid in precision.grids.items()}
    wide = [name for name, largest in most.items() if largest > LARGEST[format]]
    if not wide:
        return []
    if format == "int8":
        return [f"`format=int8`: {', '.join(wide)} have an even number of levels above 128; leave the format out"]
    return [
        f"`format={format}`: {precision.name} needs integers up to {int(max(most.values()))} in {', '.join(wide)}, and "
        f"{format} has {LARGEST[format]} at most; give `format=int8`"
    ]
