"""Attention-only Transformers (AoT): Dana, Pydi and Chevaleyre 2025, equations (1) and (2).

    logits(t) = W_U ( x_S + sum_h W_O^h W_V^h sum_s a^h_s x_s ),   a^h = softmax_s( x_S^T W_Q^hT W_K^h x_s ),
    x_s = e(t_s) + pos_s.

Notation: `vocab` is N, `context` S, `dim` d, `head_dim` k (the paper's d_h), `heads` H.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from rote.models.spec import CACHED_FLOATS, Count, CountOrZero, Spec

Positions = Literal["stream", "every-layer", "attention"]
"""Where positions enter: see `Transformer.positions`."""


class Transformer(Spec, frozen=True):
    """Attention heads, with or without MLPs, between an embedding and an unembedding.

    The base class of `AttentionOnly` and `MlpTransformer`: whatever holds for one layer of heads and a residual stream
    (inspection, training, export to a language model's format) is written for it.
    """

    vocab: Count
    dim: Count
    head_dim: Count
    heads: CountOrZero
    """Heads per layer. With none, the residual stream alone answers: one answer per last token."""
    width: CountOrZero
    """Hidden neurons of each layer's MLP; 0 where there is none."""
    activation: Literal["gelu", "relu"] = "gelu"
    """Of the MLPs, where there are any."""
    layers: Count = 1
    positions: Positions = "stream"
    """`stream`: added once to the embedded tokens, as in the equation. `every-layer`: each layer after the first adds a
    table of its own to the stream as well (d S parameters more each). `attention`: what the released experiments run;
    every layer computes X <- X + attention(X + P) with one table P for all layers, so that attention reads positions
    and the stream never carries them. Behind a shared compression positions are always left out of the stream: they
    are added after compression, from one table in R^k for all layers with `attention`, else from one per layer."""
    wide_heads: bool = False
    """Permit head_dim > dim: redundant parameters, but published experiments train such models."""
    scale_scores: bool = False
    """Divide scores by sqrt(head_dim): not in the paper, done in its released experiments."""

    @property
    @abstractmethod
    def attention(self) -> AttentionOnly:
        """The same model without its MLPs."""


class AttentionOnly(Transformer, frozen=True):
    """One or more layers of multi-head attention with a skip connection, between an embedding and an unembedding.

    Parameters, one layer: d(S + 2N + 4kH), or d(S + 2N + 2(k + r)H) with query-key rank r (Remark 2: r = 1 suffices).
    Further layers add 2d(k + r)H each. Attention is causal: a position attends to itself and to those before it. One
    layer is the paper's equation, and several layers run as in a language model.

    Variant `shared` is what the paper's released experiments run when d != k: one compression d -> k and one
    decompression k -> d around all heads of all layers, positions in R^k, heads of k x k matrices:
    2dN + 2dk + L(kS + 2k(k + r)H) parameters. With d = k both variants are the paper's equation.

    `positions` says where positions enter. Whatever it is, queries, keys and values read them; what differs is whether
    the skip connection carries them on, and how many tables of them there are.

    >>> import rote
    >>> spec = rote.AttentionOnly(vocab=50, context=2, dim=10, head_dim=10, heads=20)
    >>> spec.parameters()
    9020
    """

    architecture: ClassVar[str] = "attention-only"

    width: Literal[0] = Field(default=0, exclude=True, repr=False)
    activation: Literal["gelu"] = Field(default="gelu", exclude=True, repr=False)
    variant: Literal["per-head", "shared"] = "per-head"
    query_key_rank: Count | None = None
    """Rank of W_Q^T W_K per head. Default: head_dim."""
    heads_apart: CountOrZero = 0
    """Last heads of one layer that are summed after all others. Heads that add exactly zero then leave every bit of the
    stream: the order in which more heads are summed would not."""

    @model_serializer(mode="wrap")
    def _stated(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Written only where there are such heads, so that all other models keep the configuration they had."""
        stated = handler(self)
        return {name: value for name, value in stated.items() if name != "heads_apart" or value}

    @property
    def attention(self) -> AttentionOnly:
        return self

    @property
    def rank(self) -> int:
        """Query-key rank r."""
        return self.head_dim if self.query_key_rank is None else self.query_key_rank

    @property
    def compressed(self) -> bool:
        """Whether heads work in R^k behind a shared compression."""
        return self.variant == "shared" and self.dim != self.head_dim

    @property
    def inner_dim(self) -> int:
        """Dimension the heads read and write: d, or k behind a shared compression."""
        return self.head_dim if self.compressed else self.dim

    def stream_positions(self, layer: int) -> str | None:
        """The table that is added to the stream before a layer, by name, where there is one."""
        if self.compressed or self.positions == "attention":
            return None
        if layer == 0:
            return "positions"
        return f"layers.{layer}.positions" if self.positions == "every-layer" else None

    def attention_positions(self, layer: int) -> str | None:
        """The table that a layer's attention reads beside the stream, by name, where there is one."""
        if self.positions == "attention":
            return "positions"
        return f"layers.{layer}.positions" if self.compressed else None

    def refusals(self) -> list[str]:
        refused = []
        if self.context < 2:
            refused.append(
                "`context=1`: a key of one token leaves attention nothing to do (it can only attend to itself); "
                "use keys of two or more tokens, spell keys in letters (`keys=letters`), or a linear memory"
            )
        if self.heads == 0 and self.compressed:
            refused.append(
                "`heads=0`: a shared compression without heads behind it has no effect; use `variant=per-head`"
            )
        if self.head_dim > self.dim and not self.wide_heads:
            refused.append(
                f"`head_dim` {self.head_dim} exceeds `dim` {self.dim}: a head cannot carry more dimensions than it "
                f"reads; lower `head_dim` to {self.dim} or add `heads`"
            )
        if self.query_key_rank is not None and self.query_key_rank > self.head_dim:
            refused.append(f"`query_key_rank` {self.query_key_rank} exceeds `head_dim` {self.head_dim}")
        if self.heads_apart and (self.heads_apart > self.heads or self.layers > 1):
            refused.append(f"`heads_apart` {self.heads_apart}: one layer of {self.heads} heads has at most so many")
        return refused

    def shapes(self) -> dict[str, tuple[int, ...]]:
        inner, rank, heads = self.inner_dim, self.rank, self.heads
        shapes: dict[str, tuple[int, ...]] = {"tokens": (self.vocab, self.dim)}
        if self.positions == "attention" or not self.compressed:
            shapes["positions"] = (self.context, inner)
        for layer in range(self.layers):
            name = f"layers.{layer}."
            if self.compressed and layer == 0:  # named and drawn once, for all layers
                shapes["compress"] = (inner, self.dim)
            if name + "positions" in (self.stream_positions(layer), self.attention_positions(layer)):
                shapes[name + "positions"] = (self.context, inner)
            if self.compressed and layer == 0:
                shapes["decompress"] = (self.dim, inner)
            shapes[name + "query"] = (heads, rank, inner)
            shapes[name + "key"] = (heads, rank, inner)
            shapes[name + "value"] = (heads, self.head_dim, inner)
            shapes[name + "output"] = (heads, inner, self.head_dim)
        shapes["unembed"] = (self.vocab, self.dim)
        return shapes

    def head_axes(self) -> dict[str, int]:
        return {name: 0 for name in self.shapes() if name.rsplit(".", 1)[-1] in ("query", "key", "value", "output")}

    def parameters(self) -> int:
        N, S, d, k, r, H, L = (
            self.vocab, self.context, self.dim, self.head_dim, self.rank, self.heads, self.layers,
        )  # fmt: skip
        if self.compressed:
            tables = 1 if self.positions == "attention" else L
            return 2 * d * (N + k) + tables * k * S + L * 2 * k * (k + r) * H
        tables = L if self.positions == "every-layer" else 1
        return d * (tables * S + 2 * N + 2 * (k + r) * H * L)

    def floats_per_input(self) -> int:
        per_position = self.heads * (self.rank + 2 * self.inner_dim + self.head_dim + self.context)
        positions = 1 if self.layers == 1 else self.context
        return positions * per_position + 3 * self.context * self.dim + 2 * self.vocab

    def floats_held(self, inputs: int) -> int:
        """A layer takes some heads at a time, the last one asks at the last position alone, and logits are made in
        parts (see the forward pass)."""
        asking = inputs if self.layers == 1 else inputs * self.context
        slab = min(self.heads, heads_at_once(asking * self.context, asking * self.dim))
        per_head = self.rank + 2 * self.inner_dim + self.head_dim + 3 * self.context
        return asking * slab * per_head + inputs * self.context * (4 * self.dim + 8)


def heads_at_once(scores: int, table: int) -> int:
    """Heads that one layer takes together, given the scores and the table entries (or values) of one head: few
    enough of either that temporaries stay in the cache."""
    return max(16, CACHED_FLOATS // max(scores, table, 1))
