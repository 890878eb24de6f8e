"""Real-valued tokens: a projection to one number, then a ReLU floor block, gives each token vector a whole number.

Kajitsuka and Sato 2025 ask for token-wise (r, delta)-separated data: vectors of norm at most r, any two of them equal
or at least delta apart. A random direction keeps V vectors apart by about delta / (V^2 sqrt(d)) (Vardi, Yehudai and
Shamir 2022, Lemma A.1), so whole numbers of about log2(r V^2 sqrt(d) / delta) bits suffice; the best of several
directions needs fewer.

The floor is exact where no fractional part lies in the last 1/slope: the shift puts the widest gap between fractional
parts there, with half of it as room for rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rote.constructions.kajitsuka2025.model import Entrance
from rote.constructions.kajitsuka2025.transformer import floor
from rote.constructions.vardi2022.memorizer import WordsTooLong
from rote.constructions.vardi2022.network import Builder
from rote.errors import InputError

DIRECTIONS = 40
"""Random directions tried; the one with the smallest whole numbers is kept."""


@dataclass(frozen=True)
class Projection:
    """x = <direction, vector> + shift, whose floor is different for all token vectors."""

    direction: np.ndarray
    shift: float
    bits: int
    """Of the largest floor."""
    slope: int
    """Of the floor's thresholds, a power of two."""

    def of(self, vectors: np.ndarray) -> np.ndarray:
        return vectors @ self.direction + self.shift

    def enter(self, builder: Builder) -> None:
        floor(builder, self.bits, self.slope)


@dataclass(frozen=True)
class TokenSeparation:
    tokens: int
    radius: float
    """r, the largest norm."""
    distance: float
    """delta, the smallest distance between different tokens."""


def separation(vectors: np.ndarray) -> TokenSeparation:
    """(r, delta) of distinct token vectors."""
    from scipy.spatial import KDTree

    nearest = KDTree(vectors).query(vectors, k=2)[0][:, 1] if len(vectors) > 1 else np.array([np.inf])
    return TokenSeparation(len(vectors), float(np.linalg.norm(vectors, axis=1).max()), float(nearest.min()))


def project(vectors: np.ndarray, mantissa_bits: int, seed: int = 0) -> Projection:
    """A projection under which distinct vectors have distinct floors, robustly in a dtype of so many bits."""
    rng = np.random.default_rng(seed)
    candidates: list[Projection] = []
    for _ in range(DIRECTIONS):
        direction = rng.standard_normal(vectors.shape[1])
        direction /= np.linalg.norm(direction)
        candidate = _scaled(direction, vectors, mantissa_bits)
        if candidate is not None:
            candidates.append(candidate)
    if not candidates:
        raise WordsTooLong(
            f"tokens: no projection tells {len(vectors)} vectors apart in {mantissa_bits} bits; "
            "use `dtype=float64`, or tokens that are farther apart"
        )
    return min(candidates, key=lambda candidate: (candidate.bits + candidate.slope.bit_length(), candidate.bits))


def _scaled(direction: np.ndarray, vectors: np.ndarray, mantissa_bits: int) -> Projection | None:
    """The smallest power-of-two scale whose floors are distinct with room for rounding, if there is one."""
    projected = vectors @ direction
    projected -= projected.min()
    gaps = np.diff(np.sort(projected))
    if len(gaps) and gaps.min() == 0:
        return None
    # Terms of a dot product are rounded, and so is their sum.
    size = float(np.abs(vectors * direction).sum(1).max()) * (vectors.shape[1] + 2)
    start = int(np.floor(np.log2(len(vectors) / max(float(projected.max()), 1e-300))))
    for power in range(start, start + mantissa_bits):
        scale = 2.0**power
        noise = 2 * size * scale * 2.0**-mantissa_bits
        shift, gap = _widest_gap(projected * scale)
        slope = 1 << max(1, int(np.ceil(np.log2(4 / gap))))
        placed = projected * scale + shift
        bits = max(1, int(placed.max()).bit_length())
        if bits + slope.bit_length() > mantissa_bits or noise > 1 / (2 * slope):
            return None
        if len(np.unique(np.floor(placed))) == len(placed):
            offset = float(shift - (vectors @ direction).min() * scale)
            return Projection(direction * scale, offset, bits, slope)
    return None


def _widest_gap(values: np.ndarray) -> tuple[float, float]:
    """A shift (from 1 to 2) that puts the widest gap between fractional parts around whole numbers, and its width.

    A quarter of the gap lies after the whole number and three quarters before it.
    """
    parts = np.sort(values % 1)
    widths = np.diff(np.append(parts, parts[0] + 1))
    widest = int(widths.argmax())
    whole_at = parts[widest] + 0.75 * widths[widest]
    return float(1 + (-whole_at) % 1), float(widths[widest])


def entrance(
    projection: Projection, vectors: np.ndarray, values: np.ndarray, context: int, labels: int
) -> tuple[Entrance, Callable[[Builder], None]]:
    """How vectors enter a model: the projection as its weights, and the floor block before F1."""
    fields = {"input": "vectors", "ordered": False, "dim": vectors.shape[1], "vocab": labels, "context": context}
    weights = {"project": projection.direction, "shift": np.array([projection.shift])}
    order = np.argsort(values)
    return Entrance(fields, weights, 2 * projection.bits, projection.of(vectors)[order]), projection.enter


def whole_values(projection: Projection, vectors: np.ndarray) -> np.ndarray:
    """The whole number of each token vector."""
    values = np.floor(projection.of(vectors)).astype(np.int64)
    if len(np.unique(values)) != len(values) or values.min() < 1:
        raise InputError("tokens: the projection does not tell all token vectors apart")
    return values
