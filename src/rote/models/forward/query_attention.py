"""Forward pass of query attention."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor

from rote.models.query_attention import QueryAttention


def logits(
    spec: QueryAttention,
    weights: dict[str, Tensor],
    inputs: tuple[Float[Tensor, "batch context dim"], Float[Tensor, "batch dim"]],
) -> Float[Tensor, "batch outputs"]:
    """Classes' logits or real outputs for each (context, query)."""
    values = head_values(spec, weights, inputs)
    output = weights["output"].permute(0, 2, 1).reshape(-1, spec.dim)
    outputs = values.flatten(1) @ output @ weights["readout"].T
    return outputs + weights["readout_bias"] if spec.readout_bias else outputs


def head_values(
    spec: QueryAttention,
    weights: dict[str, Tensor],
    inputs: tuple[Float[Tensor, "batch context dim"], Float[Tensor, "batch dim"]],
) -> Float[Tensor, "batch heads value_dim"]:
    """W_V^h z_h of every head: what W_O reads."""
    return torch.einsum("bhd,hvd->bhv", mixtures(spec, weights, inputs), weights["value"])


def mixtures(
    spec: QueryAttention,
    weights: dict[str, Tensor],
    inputs: tuple[Float[Tensor, "batch context dim"], Float[Tensor, "batch dim"]],
) -> Float[Tensor, "batch heads dim"]:
    """z_h = E^T softmax(E W_K^hT W_Q^h e) of every head, with E and e as embedded."""
    contexts, queries = embedded(spec, weights, inputs)
    heads, head_dim, dim = weights["query"].shape
    asked = (queries @ weights["query"].reshape(heads * head_dim, dim).T).view(-1, heads, head_dim)
    asked = torch.einsum("bhk,hkd->bhd", asked, weights["key"])
    scores = asked @ contexts.transpose(1, 2)
    if spec.scale_scores:
        scores = scores / math.sqrt(spec.dim)
    return scores.softmax(-1) @ contexts


def embedded(
    spec: QueryAttention,
    weights: dict[str, Tensor],
    inputs: tuple[Float[Tensor, "batch context dim"], Float[Tensor, "batch dim"]],
) -> tuple[Float[Tensor, "_ context dim"], Float[Tensor, "batch dim"]]:
    """Contexts and queries as attention sees them. A context that all examples share is embedded once."""
    contexts, queries = inputs
    if contexts.stride(0) == 0:
        contexts = contexts[:1]
    if spec.embed:
        contexts = contexts @ weights["embed"].T + weights["embed_bias"]
        queries = queries @ weights["embed"].T + weights["embed_bias"]
    if spec.sinusoids:
        positions = sinusoids(spec.context + 1, spec.dim).to(queries)
        contexts, queries = contexts + positions[1:], queries + positions[0]
    return contexts, queries


def sinusoids(positions: int, dim: int) -> Float[Tensor, "positions dim"]:
    """sin and cos of position / 10000^(2i/dim) in turn (Vaswani et al. 2017), in float64."""
    rates = 10_000.0 ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    angles = torch.arange(positions, dtype=torch.float64)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], 2).flatten(1)[:, :dim]
