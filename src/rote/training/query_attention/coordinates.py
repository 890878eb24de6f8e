"""Coordinates in which vectors have mean zero and variance one.

Uniform vectors in [0, 1)^d have nearly the same direction, which slows training. An affine embedding absorbs a shift
and a scale of its inputs exactly, so that training may run on x' = (x - shift) / scale and the trained weights can be
converted back to x: A x + b = A' x' + b' with A' = scale A and b' = b + shift A 1.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from rote.models.query_attention import QueryAttention
from rote.tasks import VectorTask


@dataclass(frozen=True)
class Coordinates:
    """x' = (x - shift) / scale, the same for every coordinate of every vector."""

    shift: float = 0.0
    scale: float = 1.0

    @classmethod
    def of(cls, task: VectorTask, spec: QueryAttention) -> Coordinates:
        """Mean and standard deviation of the queries' coordinates; the identity without an embedding to absorb them."""
        spread = float(task.queries.std())
        return cls(float(task.queries.mean()), spread) if spec.embed and spread > 0 else cls()

    def vectors(self, raw: Tensor) -> Tensor:
        return (raw - self.shift) / self.scale

    def inside(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        """Weights for x' of the model that has these weights for x."""
        return self._changed(weights, self.scale, self.shift)

    def outside(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        """Weights for x of the model that has these weights for x'."""
        return self._changed(weights, 1 / self.scale, -self.shift / self.scale)

    def _changed(self, weights: dict[str, Tensor], scale: float, shift: float) -> dict[str, Tensor]:
        if "embed" not in weights or (scale, shift) == (1.0, 0.0):
            return dict(weights)
        embed = weights["embed"].double()
        bias = weights["embed_bias"].double() + shift * embed.sum(1)
        kind = weights["embed"].dtype
        return weights | {"embed": (scale * embed).to(kind), "embed_bias": bias.to(kind)}
