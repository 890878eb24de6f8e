"""Forward pass of attention-only Transformers."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import torch
from jaxtyping import Float, Integer
from torch import Tensor

from rote.models.attention_only import AttentionOnly, heads_at_once
from rote.models.forward.architecture import Tap
from rote.models.forward.leading_run import leading_runs, split_by_run
from rote.models.forward.token_tables import table_pays, tabled_heads_output

After = Callable[[int, Tensor], Tensor]
"""What a layer does to the stream after attention, given its number: the MLP of an MLP-based Transformer."""


def logits(
    spec: AttentionOnly, weights: dict[str, Tensor], contexts: Integer[Tensor, "batch context"]
) -> Float[Tensor, "batch vocab"]:
    """Logits of the next token after each context."""
    return stream(spec, weights, contexts) @ weights["unembed"].T


def stream(
    spec: AttentionOnly, weights: dict[str, Tensor], contexts: Integer[Tensor, "batch context"], tap: Tap | None = None
) -> Float[Tensor, "batch dim"]:
    """The residual stream at the last position, before the unembedding."""
    return residual(spec, weights, contexts, tap=tap)


def residual(
    spec: AttentionOnly,
    weights: dict[str, Tensor],
    contexts: Integer[Tensor, "batch context"],
    after: After | None = None,
    tap: Tap | None = None,
) -> Float[Tensor, "batch dim"]:
    """The same, with `after` applied to the stream after each layer's attention."""
    if tap is not None:  # tables have no patterns to show
        return _layer_by_layer(spec, weights, contexts, after, tap)
    # Tables depend on the contexts at hand, which a traced graph must not.
    if spec.layers == 1 and not torch.compiler.is_exporting() and len(contexts) > 1:
        parts = split_by_run(leading_runs(contexts)[1], contexts.shape[1])
        if len(parts) > 1:
            stream = weights["tokens"].new_empty(len(contexts), spec.dim)
            for rows, run in parts:
                stream[rows] = _alike(spec, weights, contexts[rows], after, run)
            return stream
        return _alike(spec, weights, contexts, after, parts[0][1])
    return _alike(spec, weights, contexts, after)


def _alike(
    spec: AttentionOnly,
    weights: dict[str, Tensor],
    contexts: Integer[Tensor, "batch context"],
    after: After | None,
    run: int = 0,
) -> Float[Tensor, "batch dim"]:
    """The residual stream of contexts whose first `run` tokens are the same, from tables where that pays."""
    if spec.layers == 1 and spec.heads and not torch.compiler.is_exporting() and table_pays(contexts, run):
        stream = _one_layer_from_tables(spec, weights, contexts, run)
        return stream if after is None else after(0, stream)
    return _layer_by_layer(spec, weights, contexts, after)


def _layer_by_layer(
    spec: AttentionOnly,
    weights: dict[str, Tensor],
    contexts: Integer[Tensor, "batch context"],
    after: After | None,
    tap: Tap | None = None,
) -> Float[Tensor, "batch dim"]:
    """The residual stream, every position of every context computed."""
    stream = weights["tokens"][contexts]
    for layer in range(spec.layers):
        if (positions := stream_positions(spec, weights, layer)) is not None:
            stream = stream + positions
        last = layer == spec.layers - 1
        read = layer_input(spec, weights, layer, stream)
        seen = None if tap is None else partial(tap, f"layers.{layer}.attention")
        mixed = heads_output(layer_heads(weights, layer), read, last, score_scale(spec), seen)
        stream = (stream[:, -1:] if last else stream) + layer_output(spec, weights, layer, mixed)
        stream = stream if after is None else after(layer, stream)
        stream = stream if tap is None else tap(f"layers.{layer}.stream", stream)
    return stream[:, 0]


def layer_heads(weights: dict[str, Tensor], layer: int) -> dict[str, Tensor]:
    """A layer's query, key, value and output matrices, one slice per head."""
    return {name: weights[f"layers.{layer}.{name}"] for name in ("query", "key", "value", "output")}


def score_scale(spec: AttentionOnly) -> float:
    return 1 / math.sqrt(spec.head_dim) if spec.scale_scores else 1.0


def _one_layer_from_tables(
    spec: AttentionOnly, weights: dict[str, Tensor], contexts: Integer[Tensor, "batch context"], run: int = 0
) -> Float[Tensor, "batch dim"]:
    positions = stream_positions(spec, weights, 0)

    def stream_at(position: int, tokens: Tensor) -> Tensor:
        embedded = weights["tokens"][tokens]
        return embedded if positions is None else embedded + positions[position]

    def read_at(position: int, tokens: Tensor) -> Tensor:
        return layer_input(spec, weights, 0, stream_at(position, tokens), slice(position, position + 1))

    mixed = tabled_heads_output(layer_heads(weights, 0), contexts, read_at, score_scale(spec), run)
    return stream_at(-1, contexts[:, -1]) + layer_output(spec, weights, 0, mixed)


def stream_positions(spec: AttentionOnly, weights: dict[str, Tensor], layer: int) -> Tensor | None:
    """Positions that enter the residual stream before a layer, if any."""
    name = spec.stream_positions(layer)
    return None if name is None else weights[name]


def layer_input(
    spec: AttentionOnly, weights: dict[str, Tensor], layer: int, stream: Tensor, places: slice = slice(None)
) -> Tensor:
    """What a layer's heads read: the stream or its shared compression, with the positions that it does not carry."""
    read = stream @ weights["compress"].T if spec.compressed else stream
    name = spec.attention_positions(layer)
    return read if name is None else read + weights[name][places]


def layer_output(spec: AttentionOnly, weights: dict[str, Tensor], layer: int, mixed: Tensor) -> Tensor:
    """What a layer adds to the stream."""
    return mixed @ weights["decompress"].T if spec.compressed else mixed


def heads_output(
    part: dict[str, Tensor],
    x: Float[Tensor, "batch context dim"],
    last_only: bool,
    scale: float = 1.0,
    seen: Callable[[Tensor], Tensor] | None = None,
) -> Float[Tensor, "batch position dim"]:
    """sum_h W_O^h W_V^h A^h for the last position, or for every position with a causal mask.

    `seen` is given the patterns of all heads and gives back those to use.
    """
    queries = x[:, -1:] if last_only else x
    together = len(part["query"])
    if seen is None and not torch.compiler.is_exporting():
        together = heads_at_once(queries.shape[1] * x.shape[0] * x.shape[1], queries.numel())
    mixed = torch.zeros_like(queries)
    for slab in zip(*(tensor.split(together) for tensor in part.values()), strict=True):
        some = dict(zip(part, slab, strict=True))
        values = head_values(some, queries, x, scale, seen).flatten(2)
        mixed = mixed + values @ some["output"].permute(0, 2, 1).reshape(values.shape[2], x.shape[2])
    return mixed


def head_values(
    part: dict[str, Tensor],
    queries: Float[Tensor, "batch position dim"],
    x: Float[Tensor, "batch context dim"],
    scale: float = 1.0,
    seen: Callable[[Tensor], Tensor] | None = None,
) -> Float[Tensor, "batch position heads head_dim"]:
    """W_V^h A^h of every head: what W_O reads."""
    heads, (batch, positions, dim) = len(part["query"]), queries.shape
    attention = attention_of(part, queries, x, scale)
    if seen is not None:
        attention = seen(attention.transpose(1, 2)).transpose(1, 2)
    mixed = (attention.reshape(batch, positions * heads, x.shape[1]) @ x).view(batch, positions, heads, dim)
    return torch.einsum("bphd,hkd->bphk", mixed, part["value"])


def attention_of(
    part: dict[str, Tensor],
    queries: Float[Tensor, "batch position dim"],
    x: Float[Tensor, "batch context dim"],
    scale: float = 1.0,
) -> Float[Tensor, "batch position heads context"]:
    """a^h of every head: how much each position attends to each, causal where all positions ask.

    The key matrix is folded into the query (x_S^T W_Q^T W_K) so that nothing of size context x heads x dim is held.
    """
    heads, rank, dim = part["query"].shape
    batch, positions, _ = queries.shape
    asked = (queries @ part["query"].reshape(heads * rank, dim).T).view(batch, positions, heads, rank)
    asked = torch.einsum("bphr,hrd->bphd", asked, part["key"]).reshape(batch, positions * heads, dim)
    scores = (asked @ x.transpose(1, 2)).view(batch, positions, heads, x.shape[1]) * scale
    if positions > 1:
        later = torch.ones(positions, x.shape[1], dtype=torch.bool, device=x.device).triu(1)
        scores = scores.masked_fill(later[None, :, None], -math.inf)
    return scores.softmax(-1)
