"""Forward pass of attention-only Transformers."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float, Integer
from torch import Tensor

from rote.models.attention_only import AttentionOnly


def logits(
    spec: AttentionOnly, weights: dict[str, Tensor], contexts: Integer[Tensor, "batch context"]
) -> Float[Tensor, "batch vocab"]:
    """Logits of the next token after each context."""
    return residual(spec, weights, contexts) @ weights["unembed"].T


def residual(
    spec: AttentionOnly, weights: dict[str, Tensor], contexts: Integer[Tensor, "batch context"]
) -> Float[Tensor, "batch dim"]:
    """The residual stream at the last position, before the unembedding."""
    stream = weights["tokens"][contexts]
    if not spec.compressed:
        stream = stream + weights["positions"]
    for layer in range(spec.layers):
        if layer == spec.layers - 1:
            return stream[:, -1] + _layer(spec, weights, layer, stream, last_only=True)[:, 0]
        stream = stream + _layer(spec, weights, layer, stream, last_only=False)
    return stream[:, -1]


def _layer(
    spec: AttentionOnly, weights: dict[str, Tensor], layer: int, stream: Tensor, last_only: bool
) -> Float[Tensor, "batch position dim"]:
    part = {name: weights[f"layers.{layer}.{name}"] for name in ("query", "key", "value", "output")}
    if spec.compressed:
        stream = stream @ weights[f"layers.{layer}.compress"].T + weights[f"layers.{layer}.positions"]
    scale = 1 / math.sqrt(spec.head_dim) if spec.scale_scores else 1.0
    mixed = heads_output(part, stream, last_only, scale)
    return mixed @ weights[f"layers.{layer}.decompress"].T if spec.compressed else mixed


def heads_output(
    part: dict[str, Tensor], x: Float[Tensor, "batch context dim"], last_only: bool, scale: float = 1.0
) -> Float[Tensor, "batch position dim"]:
    """sum_h W_O^h W_V^h A^h for the last position, or for every position with a causal mask."""
    queries = x[:, -1:] if last_only else x
    values = head_values(part, queries, x, scale)
    return values.flatten(2) @ part["output"].permute(0, 2, 1).reshape(-1, part["output"].shape[1])


def head_values(
    part: dict[str, Tensor],
    queries: Float[Tensor, "batch position dim"],
    x: Float[Tensor, "batch context dim"],
    scale: float = 1.0,
) -> Float[Tensor, "batch position heads head_dim"]:
    """W_V^h A^h of every head: what W_O reads.

    The key matrix is folded into the query (x_S^T W_Q^T W_K) so that nothing of size context x heads x dim is held.
    """
    heads, rank, dim = part["query"].shape
    batch, positions, _ = queries.shape
    asked = (queries @ part["query"].reshape(heads * rank, dim).T).view(batch, positions, heads, rank)
    asked = torch.einsum("bphr,hrd->bphd", asked, part["key"]).reshape(batch, positions * heads, dim)
    scores = (asked @ x.transpose(1, 2)).view(batch, positions, heads, -1) * scale
    if positions > 1:
        later = torch.ones(positions, x.shape[1], dtype=torch.bool, device=x.device).triu(1)
        scores = scores.masked_fill(later[None, :, None], -math.inf)
    attention = scores.softmax(-1)
    mixed = (attention.reshape(batch, positions * heads, -1) @ x).view(batch, positions, heads, dim)
    return torch.einsum("bphd,hkd->bphk", mixed, part["value"])
