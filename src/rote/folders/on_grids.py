"""Weights on grids in a safetensors file: for every tensor NAME its `NAME.codes` and `NAME.scales` (`models.grid`).

Everything that is expected follows from the specification and the number of levels in `config.json`. It is compared
with the file's header before a number is read, so that a file unpacks to what its own size allows and no more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import cast

import torch
from torch import Tensor

from rote.errors import InputError, problems
from rote.folders.layout import FolderConfig
from rote.folders.tensors import TensorFile
from rote.models.grid import (
    MOST_LEVELS,
    GridName,
    Precision,
    TensorGrid,
    broadcasts,
    is_grid,
    packed_codes,
    packed_length,
    unpacked_codes,
)
from rote.models.spec import Spec

CODES, SCALES = ".codes", ".scales"


def levels_of(precision: Precision) -> dict[str, int]:
    """Levels of every tensor, as `config.json` has them."""
    return {name: precision.grids[name].levels for name in sorted(precision.grids)}


def stored_on_grids(weights: Mapping[str, Tensor], precision: Precision) -> dict[str, Tensor]:
    """The tensors of the file."""
    stored = {}
    for name, grid in precision.grids.items():
        codes = packed_codes(grid.codes(weights[name].double().numpy()), grid.levels)
        stored[name + CODES] = torch.from_numpy(codes)
        stored[name + SCALES] = torch.from_numpy(grid.scales.copy())
    return stored


def read_from_grids(file: TensorFile, spec: Spec, config: FolderConfig) -> tuple[dict[str, Tensor], Precision]:
    """Weights in float32 and the grids that they are on."""
    levels = config.levels or {}
    if not is_grid(config.dtype):
        raise InputError(f"{file.where}: the configuration has levels, but dtype {config.dtype} is no grid")
    shapes = _small_enough(file, spec)
    if wrong := _unlike(file, shapes, levels):
        raise problems(f"{file.where}: the packed tensors do not fit the specification", wrong)
    stored, weights, grids = file.numpy(), {}, {}
    for name, shape in shapes.items():
        try:
            grids[name] = TensorGrid(levels[name], stored[name + SCALES])
            codes = unpacked_codes(stored[name + CODES], shape, levels[name])
        except InputError as error:
            raise InputError(f"{file.where}: tensor {name!r}: {error}; build the model again") from None
        weights[name] = torch.from_numpy(grids[name].values(codes))
    return weights, Precision(cast(GridName, config.dtype), grids)


def _small_enough(file: TensorFile, spec: Spec) -> dict[str, tuple[int, ...]]:
    """The shapes of a specification that has no more parameters than the file has bits."""
    most = 8 * file.bytes
    for name in ("layers", "context"):
        size = getattr(spec, name, None)
        if isinstance(size, int) and size > most:
            raise InputError(f"{file.where}: the specification has {name} {size:,}, its tensors have {most:,} bits")
    if spec.parameters() > most:
        raise InputError(
            f"{file.where}: {most:,} bits hold as many parameters at most, but the specification has "
            f"{spec.parameters():,}; is the file whole?"
        )
    return spec.shapes()


def _unlike(file: TensorFile, shapes: Mapping[str, tuple[int, ...]], levels: Mapping[str, int]) -> list[str]:
    """Every difference between the header and what the specification and the levels ask for."""
    wrong = []
    if set(levels) != set(shapes):
        return [f"levels are given for {len(levels)} tensors, the specification has {len(shapes)} of other names"]
    for name, shape in shapes.items():
        if not 2 <= levels[name] <= MOST_LEVELS:
            wrong.append(f"tensor {name!r} has {levels[name]} levels, not 2 to {MOST_LEVELS}")
            continue
        codes, scales = file.entries.get(name + CODES), file.entries.get(name + SCALES)
        length = packed_length(math.prod(shape), levels[name])
        if codes is None or codes.dtype != "U8" or codes.shape != [length]:
            wrong.append(f"tensor {name + CODES!r} must be {length:,} bytes")
        if scales is None or scales.dtype != "F16" or not broadcasts(tuple(scales.shape), shape):
            wrong.append(f"tensor {name + SCALES!r} must be float16 numbers whose shape broadcasts to {shape}")
    known = {name + end for name in shapes for end in (CODES, SCALES)}
    return wrong + [f"tensor {name!r} does not belong here" for name in file.entries if name not in known]
