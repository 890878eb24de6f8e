"""Random attention that reads a few dimensions of the stream: fixed before anything is fitted."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from rote.models.attention_only import AttentionOnly
from rote.models.model import Model
from rote.tasks.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class Gates:
    """Weights of a model in float64, rounded to the dtype that is saved, at most float32.

    The first dimensions of tokens and positions, queries and keys stay as they are; a fit starts at everything else.
    """

    spec: AttentionOnly
    count: int
    """Gate dimensions."""
    weights: dict[str, Tensor]

    @classmethod
    def draw(
        cls, spec: AttentionOnly, count: int, score_std: float, dtype: torch.dtype, generator: torch.Generator
    ) -> Gates:
        """Gaussian gates whose scores have about this standard deviation; orthonormal rows of W_V."""

        def normal(*shape: int) -> Tensor:
            return torch.randn(*shape, generator=generator, dtype=torch.float64)

        heads, dim, head_dim = spec.heads, spec.dim, spec.head_dim
        positions = torch.zeros(spec.context, dim, dtype=torch.float64)
        positions[:, :count] = normal(spec.context, count)
        sharp = math.sqrt(score_std / (2 * count))
        query, key = (torch.zeros(heads, 1, dim, dtype=torch.float64) for _ in range(2))
        query[:, 0, :count], key[:, 0, :count] = sharp * normal(heads, count), sharp * normal(heads, count)
        drawn = {
            "tokens": normal(spec.vocab, dim),
            "positions": positions,
            "layers.0.query": query,
            "layers.0.key": key,
            "layers.0.value": torch.linalg.qr(normal(heads, dim, head_dim))[0].transpose(1, 2).contiguous(),
            "layers.0.output": normal(heads, dim, head_dim) * (0.3 / math.sqrt(heads * head_dim)),
            "unembed": normal(spec.vocab, dim) / math.sqrt(dim),
        }
        dtype = torch.float32 if dtype == torch.float64 else dtype  # engines compute in float32
        return cls(spec, count, {name: tensor.to(dtype).double() for name, tensor in drawn.items()})

    def free(self) -> dict[str, Tensor]:
        """One for every number that is fitted, zero for the gates."""
        free = {name: torch.ones(shape) for name, shape in self.spec.shapes().items()}
        for name in ("layers.0.query", "layers.0.key"):
            free[name].zero_()
        for name in ("tokens", "positions"):
            free[name][:, : self.count] = 0
        return free

    def model(self, fitted: dict[str, Tensor], dtype: torch.dtype, vocabulary: Vocabulary) -> Model:
        """The model with fitted weights; gates are exactly those that were drawn."""
        free = self.free()
        weights = {
            name: torch.where(free[name] > 0, fitted[name].double(), drawn) for name, drawn in self.weights.items()
        }
        return Model(self.spec, {name: tensor.to(dtype).contiguous() for name, tensor in weights.items()}, vocabulary)
