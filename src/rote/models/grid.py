"""Grids: weights of a few levels, packed as integers with scales.

A weight on a grid of L levels is s (q - (L - 1) / 2) with a code q of 0, ..., L - 1 and a scale s in float16: whole
numbers times s, zero among them, for an odd L; halves of odd numbers for an even one. A scale is shared by all numbers
that its shape broadcasts to: a tensor, a row, one dimension of every head. Products of scale and code are exact in
float32, which is what a model on a grid computes in.

    Stored: `NAME.codes`, bytes, and `NAME.scales`, float16. Codes are digits of words in base L, as many digits as fit
    b bits with fewest bits per digit: 8 bits each at 255 levels, 4 at 15 or 16, 17 digits in 61 bits at 12 levels (3.59
    each), 29 in 46 at three (1.59). The first code is the lowest digit; words follow each other bit by bit, lowest bit
    first.

Bits of a model are those of its stored codes and scales, counted exactly.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

import numpy as np

from rote.errors import InputError

GridName = Literal["int8", "int6", "int4", "levels12", "int3", "ternary"]
"""Names of the precisions with few levels."""

LEVELS: dict[GridName, int] = {"int8": 255, "int6": 63, "int4": 16, "levels12": 12, "int3": 8, "ternary": 3}
"""Levels of most tensors at each precision."""
GRID_NAMES: tuple[GridName, ...] = get_args(GridName)
MOST_LEVELS = 256
WORD_BITS = 61
"""Bits of a word at most; digits of a word are taken apart in 64-bit integers."""


@dataclass(frozen=True, eq=False)
class TensorGrid:
    """The grid of one tensor: how many levels, and its scales."""

    levels: int
    scales: np.ndarray
    """float16; its shape broadcasts to the tensor's."""

    def __post_init__(self) -> None:
        if not 2 <= self.levels <= MOST_LEVELS:
            raise InputError(f"a grid of {self.levels} levels: there must be 2 to {MOST_LEVELS}")
        if self.scales.dtype != np.float16 or not np.isfinite(self.scales).all() or (self.scales < 0).any():
            raise InputError("scales of a grid are finite float16 numbers, none of them negative")

    @property
    def middle(self) -> float:
        """The code of zero, which is half an integer where zero is no level."""
        return (self.levels - 1) / 2

    def codes(self, values: np.ndarray) -> np.ndarray:
        """Codes of the nearest levels."""
        scale = self.scales.astype(np.float64)
        steps = np.divide(values, scale, out=np.zeros(values.shape), where=np.broadcast_to(scale > 0, values.shape))
        return np.clip(np.rint(steps + self.middle), 0, self.levels - 1).astype(np.uint8)

    def values(self, codes: np.ndarray) -> np.ndarray:
        """The numbers of these codes in float32, exactly."""
        return ((codes - self.middle) * self.scales.astype(np.float64)).astype(np.float32)

    def nearest(self, values: np.ndarray) -> np.ndarray:
        """Every number rounded to the nearest level."""
        return self.values(self.codes(values))

    def holds(self, values: np.ndarray) -> bool:
        """Whether every number is exactly a level."""
        return bool((self.nearest(values) == values).all())

    def bits(self, shape: tuple[int, ...]) -> int:
        """Bits of a stored tensor of this shape, scales included."""
        return 8 * packed_length(math.prod(shape), self.levels) + 16 * self.scales.size


@dataclass(frozen=True, eq=False)
class Precision:
    """The grids of all tensors of a model, under the name of their precision."""

    name: GridName
    grids: Mapping[str, TensorGrid]

    def bits(self, shapes: Mapping[str, tuple[int, ...]]) -> int:
        """Bits of all stored codes and scales."""
        return sum(self.grids[name].bits(shape) for name, shape in shapes.items())

    def misfits(self, arrays: Mapping[str, np.ndarray]) -> list[str]:
        """Every way in which these tensors are not on the grids."""
        if set(self.grids) != set(arrays):
            return [f"grids are given for {sorted(self.grids)}, but the parameters are {sorted(arrays)}"]
        wrong = []
        for name, array in arrays.items():
            grid = self.grids[name]
            if not broadcasts(grid.scales.shape, array.shape):
                wrong.append(f"tensor {name!r} has scales of shape {grid.scales.shape}, which do not fit {array.shape}")
            elif array.dtype != np.float32 or not grid.holds(array):
                wrong.append(f"tensor {name!r} is not on its grid of {grid.levels} levels")
        return wrong


def is_grid(name: str) -> bool:
    """Whether a precision is one of few levels, such as int8."""
    return name in GRID_NAMES


def broadcasts(scales: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Whether scales of this shape fit a tensor: as many axes, each of length 1 or the tensor's."""
    return len(scales) == len(shape) and all(a in (1, b) for a, b in zip(scales, shape, strict=True))


def least_squares_grid(values: np.ndarray, levels: int, shared: tuple[int, ...] | None = None) -> TensorGrid:
    """The scales of least squared rounding error, found by a scan; one is shared over the axes `shared` (all).

    Scales of numbers that are all zero are zero.
    """
    axes = tuple(range(values.ndim)) if shared is None else shared
    largest = np.abs(values).max(axis=axes, keepdims=True)
    best, error = np.zeros_like(largest), np.full(largest.shape, np.inf)
    for share in np.linspace(0.25, 1.0, 31):
        scales = _half(share * largest * 2 / (levels - 1))
        lost = np.square(TensorGrid(levels, scales).nearest(values) - values).sum(axis=axes, keepdims=True)
        better = lost < error
        best, error = np.where(better, scales, best), np.where(better, lost, error)
    return TensorGrid(levels, _half(np.where(largest > 0, best, 0)))


def grid_up_to(largest: float, levels: int, axes: int) -> TensorGrid:
    """The grid of one scale whose largest value is `largest`, up to the rounding of the scale."""
    return TensorGrid(levels, _half(np.full((1,) * axes, largest * 2 / (levels - 1))))


def _half(scales: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return np.minimum(scales, 65504.0).astype(np.float16)


@cache
def word_of(levels: int) -> tuple[int, int]:
    """Digits and bits of a word: fewest bits per digit, and of equal ones the shortest word."""
    words = ((math.ceil(digits * math.log2(levels) - 1e-12), digits) for digits in range(1, WORD_BITS + 1))
    bits, digits = min(
        (word for word in words if word[0] <= WORD_BITS), key=lambda word: (round(word[0] / word[1], 9), word[1])
    )
    return digits, bits


def packed_length(count: int, levels: int) -> int:
    """Bytes of so many packed codes."""
    digits, bits = word_of(levels)
    return -(-(-(-count // digits) * bits) // 8)


def packed_codes(codes: np.ndarray, levels: int) -> np.ndarray:
    """Codes as bytes (`word_of`)."""
    digits, bits = word_of(levels)
    flat = codes.reshape(-1).astype(np.uint64)
    words = np.zeros(-(-len(flat) // digits) * digits, dtype=np.uint64)
    words[: len(flat)] = flat
    powers = np.array([levels**place for place in range(digits)], dtype=np.uint64)
    numbers = (words.reshape(-1, digits) * powers).sum(axis=1, dtype=np.uint64)
    apart = np.unpackbits(numbers.astype("<u8").view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")[:, :bits]
    return np.packbits(apart.reshape(-1), bitorder="little")


def unpacked_codes(data: np.ndarray, shape: tuple[int, ...], levels: int) -> np.ndarray:
    """Codes of a tensor of this shape; bytes that no codes have are an error."""
    digits, bits = word_of(levels)
    count = math.prod(shape)
    if data.dtype != np.uint8 or data.shape != (packed_length(count, levels),):
        raise InputError(f"{count:,} codes of {levels} levels take {packed_length(count, levels):,} bytes")
    words = -(-count // digits)
    apart = np.unpackbits(data, count=words * bits, bitorder="little").reshape(words, bits)
    whole = np.packbits(np.pad(apart, ((0, 0), (0, 64 - bits))), axis=1, bitorder="little")
    numbers = np.ascontiguousarray(whole).view("<u8").reshape(-1)
    codes = np.empty((words, digits), dtype=np.uint8)
    for place in range(digits):
        codes[:, place] = numbers % np.uint64(levels)
        numbers = numbers // np.uint64(levels)
    if numbers.any() or codes.reshape(-1)[count:].any():
        raise InputError(f"codes of {levels} levels hold a number beyond the last level")
    return codes.reshape(-1)[:count].reshape(shape)
