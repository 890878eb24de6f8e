"""Forward pass of many models of one shape at once: every tensor has a leading axis of models.

One layer works from tables: queries, keys and values depend only on a token and its position, so they are computed
once per token and once per position, and contexts pick them. Over all pairs of tokens nothing is picked at all
(`grid_logits`): the softmax over two positions is a sigmoid of a score difference, and sum_h a_h W_O^h W_V^h x is one
batched product per first token and one per last token.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float, Integer
from torch import Tensor
from torch.nn import functional

from rote.models.attention_only import AttentionOnly, Transformer
from rote.models.forward.attention_only import score_scale

Weights = dict[str, Tensor]


def stacked_logits(
    spec: Transformer, weights: Weights, contexts: Integer[Tensor, "models batch context"]
) -> Float[Tensor, "models batch vocab"]:
    """Logits of each model after its own contexts."""
    attention = spec.attention
    tokens = weights["tokens"]
    if attention.layers == 1:
        read, positions = _tables(attention, weights)
        stream = _picked(tokens, contexts[..., -1])
        if (added := _stream_positions(attention, weights, 0)) is not None:
            stream = stream + added[:, None, -1]
        stream = stream + _write(attention, weights, 0, _one_layer(attention, weights, read, positions, contexts))
        return _after(spec, weights, 0, stream) @ weights["unembed"].mT
    stream = _picked(tokens, contexts)
    for layer in range(attention.layers):
        if (positions := _stream_positions(attention, weights, layer)) is not None:
            stream = stream + positions[:, None]
        last = layer == attention.layers - 1
        mixed = _layer(attention, weights, layer, stream, last)
        stream = (stream[:, :, -1:] if last else stream) + _write(attention, weights, layer, mixed)
        stream = _after(spec, weights, layer, stream)
    return stream[:, :, 0] @ weights["unembed"].mT


def grid_logits(spec: Transformer, weights: Weights) -> Float[Tensor, "models pairs vocab"]:
    """Logits after every pair of tokens, the first token varying slowest, for one-layer models of two positions."""
    attention = spec.attention
    read, positions = _tables(attention, weights)
    part = {name: weights[f"layers.0.{name}"] for name in ("query", "key", "value", "output")}
    first, last = read + positions[:, :1], read + positions[:, 1:]

    def per_head(x: Tensor, name: str) -> Tensor:  # (models, heads, tokens, rows)
        return x[:, None] @ part[name].mT

    queries = per_head(last, "query") * score_scale(attention)
    own_scores = (queries * per_head(last, "key")).sum(-1)
    share = torch.sigmoid(queries @ per_head(first, "key").mT - own_scores[..., None])
    written_first = per_head(first, "value") @ part["output"].mT
    written_last = per_head(last, "value") @ part["output"].mT
    # share is (models, heads, last, first): the weight of the first token's value.
    by_first = share.permute(0, 3, 2, 1) @ written_first.transpose(1, 2)
    by_last = share.permute(0, 2, 3, 1) @ written_last.transpose(1, 2)
    mixed = by_first - by_last.transpose(1, 2) + written_last.sum(1)[:, None]
    stream = weights["tokens"]
    if (added := _stream_positions(attention, weights, 0)) is not None:
        stream = stream + added[:, 1:]
    stream = stream[:, None] + _write(attention, weights, 0, mixed)
    return (_after(spec, weights, 0, stream) @ weights["unembed"].mT[:, None]).flatten(1, 2)


def _tables(spec: AttentionOnly, weights: Weights) -> tuple[Tensor, Tensor]:
    """Inputs of the heads of the first layer: one term per token (models, vocab, dim) and one per position."""
    tokens = weights["tokens"]
    read = tokens @ weights["compress"].mT if spec.compressed else tokens
    return read, weights[spec.attention_positions(0) or "positions"]


def _picked(table: Float[Tensor, "models vocab columns"], index: Integer[Tensor, "models ..."]) -> Tensor:
    """Rows of each model's table. One flat embedding look-up, whose gradient is far cheaper than indexing's."""
    models, rows, columns = table.shape
    offset = torch.arange(models, device=index.device).view(-1, *[1] * (index.ndim - 1)) * rows
    return functional.embedding(index + offset, table.reshape(models * rows, columns))


def _one_layer(
    spec: AttentionOnly, weights: Weights, read: Tensor, positions: Tensor, contexts: Tensor
) -> Float[Tensor, "models batch inner"]:
    models, batch, context = contexts.shape
    part = {name: weights[f"layers.0.{name}"] for name in ("query", "key", "value", "output")}

    def projected(name: str) -> Tensor:  # (models, inner, heads * rows)
        return part[name].flatten(1, 2).mT

    queries = _picked(read @ projected("query"), contexts[..., -1]) + (positions[:, -1:] @ projected("query"))
    keys = _picked(read @ projected("key"), contexts) + (positions @ projected("key"))[:, None]
    values = _picked(read @ projected("value"), contexts) + (positions @ projected("value"))[:, None]
    queries = queries.view(models, batch, 1, spec.heads, spec.rank) * score_scale(spec)
    scores = (queries * keys.view(models, batch, context, spec.heads, spec.rank)).sum(-1)
    attention = scores.softmax(2)
    mixed = (attention[..., None] * values.view(models, batch, context, spec.heads, spec.head_dim)).sum(2)
    return mixed.flatten(2) @ part["output"].transpose(2, 3).flatten(1, 2)


def _layer(
    spec: AttentionOnly, weights: Weights, layer: int, stream: Float[Tensor, "models batch context dim"], last: bool
) -> Float[Tensor, "models batch position inner"]:
    """sum_h W_O^h W_V^h A^h at the last position, or at every position under a causal mask."""
    part = {name: weights[f"layers.{layer}.{name}"] for name in ("query", "key", "value", "output")}
    if spec.compressed:
        stream = stream @ weights["compress"].mT[:, None]
    if (read_beside := spec.attention_positions(layer)) is not None:
        stream = stream + weights[read_beside][:, None]
    asking = stream[:, :, -1:] if last else stream

    def per_head(x: Tensor, name: str) -> Tensor:  # (models, batch, heads, positions, rows)
        rows = x @ part[name].flatten(1, 2).mT[:, None]
        return rows.unflatten(-1, part[name].shape[1:3]).transpose(2, 3)

    scores = per_head(asking, "query") @ per_head(stream, "key").mT * score_scale(spec)
    if not last:
        later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
        scores = scores.masked_fill(later, -math.inf)
    mixed = scores.softmax(-1) @ per_head(stream, "value")
    return mixed.transpose(2, 3).flatten(3) @ part["output"].transpose(2, 3).flatten(1, 2)[:, None]


def _stream_positions(spec: AttentionOnly, weights: Weights, layer: int) -> Tensor | None:
    name = spec.stream_positions(layer)
    return None if name is None else weights[name]


def _write(spec: AttentionOnly, weights: Weights, layer: int, mixed: Tensor) -> Tensor:
    """The output of a layer, added to the residual stream."""
    if not spec.compressed:
        return mixed
    return mixed @ _aligned(weights["decompress"].mT, mixed)


def _after(spec: Transformer, weights: Weights, layer: int, stream: Tensor) -> Tensor:
    """The residual stream after the MLP of a layer."""
    if not spec.width:
        return stream
    inner, outer = weights[f"layers.{layer}.mlp_in"].mT, weights[f"layers.{layer}.mlp_out"].mT
    before = stream @ _aligned(inner, stream) + _aligned(weights[f"layers.{layer}.mlp_bias"][:, None], stream)
    neurons = functional.gelu(before) if spec.activation == "gelu" else before.relu()
    return stream + neurons @ _aligned(outer, stream)


def _aligned(matrix: Float[Tensor, "models rows columns"], stream: Tensor) -> Tensor:
    """A matrix per model, with axes of one so that it multiplies a stream with any number of axes."""
    models, rows, columns = matrix.shape
    return matrix.view(models, *[1] * (stream.ndim - 3), rows, columns) if stream.ndim > 3 else matrix
