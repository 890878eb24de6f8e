"""Random attention that reads a few dimensions of the stream: fixed before anything is fitted."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from rote.models.attention_only import AttentionOnly
from rote.models.model import Model
from rote.tasks import AssociationTask
from rote.tasks.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class Gates:
    """Weights of a model in float64, rounded to the dtype that is saved; the first dimensions of tokens and positions,
    queries and keys stay as they are, everything else is where a fit starts."""

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
        return cls(spec, count, {name: tensor.to(dtype).double() for name, tensor in drawn.items()})

    def patterns(self, task: AssociationTask) -> Float[Tensor, "facts heads context"]:
        """Attention of the last position, of every fact."""
        contexts = torch.from_numpy(task.contexts).long()
        entering = self.weights["tokens"][contexts] + self.weights["positions"]
        asked = entering[:, -1] @ self.weights["layers.0.query"][:, 0].T
        read = entering @ self.weights["layers.0.key"][:, 0].T
        return (asked[:, :, None] * read.transpose(1, 2)).softmax(-1)

    def model(self, fitted: dict[str, Tensor], dtype: torch.dtype, vocabulary: Vocabulary) -> Model:
        """The model with fitted weights in place of those that were drawn."""
        weights = {**self.weights, **fitted}
        return Model(self.spec, {name: tensor.to(dtype).contiguous() for name, tensor in weights.items()}, vocabulary)
