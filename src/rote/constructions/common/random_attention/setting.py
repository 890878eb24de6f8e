"""Fixed random attention with its features on given contexts, waiting for W_O and W_U.

The shared ground of constructions that fit rather than solve: draw attention, compute the skip connection's and the
heads' features, and turn a fitted B (features x dim) and unembedding into a model that absorbs the skip connection.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from rote.constructions.common.random_attention.absorbed_skip import SkipBasis, output_maps, value_part
from rote.constructions.common.random_attention.draw import (
    Embeddings,
    Heads,
    draw_embeddings,
    draw_heads,
    model_weights,
)
from rote.constructions.common.random_attention.features import Differences
from rote.models.attention_only import AttentionOnly
from rote.models.model import Model
from rote.progress import SILENT, Progress
from rote.tasks import TokenTask


@dataclass(frozen=True, eq=False)
class AttentionSetting:
    """Attention and its features: skip columns first, then `width` columns for each head."""

    task: TokenTask
    spec: AttentionOnly
    embeddings: Embeddings
    heads: Heads
    skip: SkipBasis
    features: Float[Tensor, "contexts features"]
    width: int

    @classmethod
    def draw(
        cls,
        task: TokenTask,
        spec: AttentionOnly,
        dtype: torch.dtype,
        score_std: float,
        generator: torch.Generator,
        progress: Progress = SILENT,
    ) -> AttentionSetting:
        """Attention in the dtype that is saved; features in float64 from those rounded weights."""
        embeddings = draw_embeddings(spec, dtype, generator)
        heads = draw_heads(spec.heads, spec, score_std, dtype, generator)
        differences = Differences(embeddings, torch.from_numpy(task.contexts).long())
        skip = SkipBasis(differences.last_tokens)
        width = min(spec.head_dim, differences.rank())
        features = torch.empty(len(task.contexts), skip.columns + spec.heads * width, dtype=torch.float64)
        features[:, : skip.columns] = skip.features(differences.last_place)
        differences.features(heads, width, features[:, skip.columns :], progress=progress)
        return cls(task, spec, embeddings, heads, skip, features, width)

    def skip_map(self, solved: Float[Tensor, "features dim"]) -> Float[Tensor, "dim dim"]:
        """M, which must be invertible."""
        return self.skip.skip_map(solved[: self.skip.columns], value_part(self.heads, self._head_rows(solved)))

    def model(self, solved: Float[Tensor, "features dim"], unembed: Float[Tensor, "vocab dim"]) -> Model:
        """The model whose logits are features @ solved @ unembed^T, in the dtype attention was drawn in."""
        spec, skip_map = self.spec, self.skip_map(solved)
        output = output_maps((spec.heads, spec.dim, spec.head_dim), self._head_rows(solved), skip_map)
        weights = model_weights(self.embeddings, self.heads, output, unembed @ skip_map.T)
        return Model(spec, weights, self.task.vocabulary)

    def _head_rows(self, solved: Tensor) -> Float[Tensor, "heads width dim"]:
        return solved[self.skip.columns :].reshape(self.spec.heads, self.width, self.spec.dim)
