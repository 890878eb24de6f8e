"""Weights folded into tables, once per step.

With x the query and x_s the context's vectors, A and b the embedding, p the positions and B = [A | b + p_0] acting on
x+ = (x, 1), head h scores token s by

    x+^T B^T W_Q^hT W_K^h (A x_s + b + p_s) / sqrt(d).

In a shared context everything but x+ is the same for all examples: one table of (d + 1) x Hn gives all scores, and a
head's values are n numbers. With a fresh context each, x+ times one table gives U_h = x+^T B^T W_Q^hT W_K^h A, whose
products with the context's vectors are the scores, and another gives the scores' part from b + p_s. Either way no key
is projected, and the tables are exact in the parameters: autograd goes through them once per step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import torch
from jaxtyping import Float
from torch import Tensor

from rote.models.forward.query_attention import sinusoids
from rote.models.query_attention import QueryAttention


@dataclass(frozen=True, eq=False)
class SharedTables:
    """The tables for one context shared by all examples."""

    scores: Float[Tensor, "dim_and_one heads_tokens"]
    values: Float[Tensor, "heads context"]
    mix: Float[Tensor, "heads outputs"]
    """From the heads' values to the outputs: W_O and the readout in one."""
    bias: Float[Tensor, " outputs"]

    def tensors(self) -> list[Tensor]:
        return [self.scores, self.values, self.mix, self.bias]


@dataclass(frozen=True, eq=False)
class FreshTables:
    """The tables for one context per example."""

    asked: Float[Tensor, "dim_and_one heads_dim"]
    """x+ times this is U_h, side by side."""
    positions: Float[Tensor, "dim_and_one heads_tokens"]
    values: Float[Tensor, "heads dim"]
    position_values: Float[Tensor, "heads context"]
    mix: Float[Tensor, "heads outputs"]
    bias: Float[Tensor, " outputs"]

    def tensors(self) -> list[Tensor]:
        return [self.asked, self.positions, self.values, self.position_values, self.mix, self.bias]


Tables = SharedTables | FreshTables


@dataclass(frozen=True, eq=False)
class Embedding:
    """The affine map of context tokens and of the query, positions included."""

    matrix: Float[Tensor, "dim dim"]
    tokens: Float[Tensor, "context dim"]
    """b + p_s for every token s."""
    query: Float[Tensor, "dim dim_and_one"]
    """B = [A | b + p_0]."""

    @classmethod
    def of(cls, spec: QueryAttention, weights: dict[str, Tensor]) -> Embedding:
        some = weights["query"]
        matrix = weights["embed"] if spec.embed else torch.eye(spec.dim, dtype=some.dtype)
        bias = weights["embed_bias"] if spec.embed else some.new_zeros(spec.dim)
        offsets = bias.expand(spec.context + 1, -1)
        if spec.sinusoids:
            offsets = offsets + _positions(spec.context + 1, spec.dim, some.dtype)
        return cls(matrix, offsets[1:], torch.cat([matrix, offsets[0, :, None]], 1))

    def context(self, vectors: Float[Tensor, "context dim"]) -> Float[Tensor, "context dim"]:
        """One context as attention sees it."""
        return vectors @ self.matrix.T + self.tokens


@lru_cache(64)
def _positions(positions: int, dim: int, dtype: torch.dtype) -> Float[Tensor, "positions dim"]:
    return sinusoids(positions, dim).to(dtype)


def fold(spec: QueryAttention, weights: dict[str, Tensor], contexts: Float[Tensor, "some context dim"]) -> Tables:
    """The tables for these contexts: of the shared kind if there is only one."""
    embedding = Embedding.of(spec, weights)
    asked = weights["query"] @ embedding.query
    if spec.scale_scores:
        asked = asked / math.sqrt(spec.dim)
    values = weights["value"][:, 0]
    mix = weights["output"][:, :, 0] @ weights["readout"].T
    bias = weights["readout_bias"] if spec.readout_bias else mix.new_zeros(spec.outputs)
    if len(contexts) == 1:
        tokens = embedding.context(contexts[0])
        return SharedTables(_side_by_side(asked, weights["key"] @ tokens.T), values @ tokens.T, mix, bias)
    return FreshTables(
        _side_by_side(asked, weights["key"] @ embedding.matrix),
        _side_by_side(asked, weights["key"] @ embedding.tokens.T),
        values @ embedding.matrix,
        values @ embedding.tokens.T,
        mix,
        bias,
    )


def _side_by_side(
    asked: Float[Tensor, "heads head_dim dim_and_one"], keyed: Float[Tensor, "heads head_dim columns"]
) -> Float[Tensor, "dim_and_one heads_columns"]:
    """The heads' products, one after another in the columns."""
    return (asked.mT @ keyed).transpose(0, 1).flatten(1)
