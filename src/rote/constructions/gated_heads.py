"""Gated heads: heads that see only contexts whose last token belongs to one group.

Coordinates of x: a gate part with one sign vector z_g per group g of last tokens, a free part, and an indicator of the
last position. A head of group j has query-key rank two,

    score(s) = gate_j(t_S) 1{s = S} + beta q . x_s,    gate_j(u) = lambda (|z_j|^2 - z_j . z_g(u)),

which is 0 when the last token is in group j and at least 2 lambda otherwise: then all attention stays on position S,
the head adds a multiple of x_S, and its centred feature vanishes. Signs and a power of two for lambda make the gate
exact in every float dtype.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Integer
from torch import Tensor

from rote.constructions.random_attention import Embeddings, Heads, gaussian, orthonormal_rows
from rote.models.attention_only import AttentionOnly

CLOSED = 40.0
"""A closed gate exceeds every score by this much: e^-40 of a feature is far below rounding."""


@dataclass(frozen=True)
class Groups:
    """Last tokens in groups of about `target` facts, with the facts of each group."""

    of_last_token: Integer[Tensor, " last"]
    rows: list[Integer[Tensor, " rows"]]

    @property
    def gate_dim(self) -> int:
        """Sign coordinates that give each group its own vector, with one to spare for general position."""
        return max(1, math.ceil(math.log2(max(2, len(self.rows))))) + 1


def group_last_tokens(place: Integer[Tensor, " facts"], target: int) -> Groups:
    """Common last tokens stand alone; rarer ones are gathered until a group has `target` facts."""
    counts = torch.bincount(place)
    group = torch.empty_like(counts)
    number, held = -1, target
    for token in counts.argsort(descending=True, stable=True).tolist():
        if held >= target:
            number, held = number + 1, 0
        group[token] = number
        held += int(counts[token])
    of_row = group[place]
    order = of_row.argsort(stable=True)
    rows = list(order.split(torch.bincount(of_row).tolist()))
    return Groups(group, rows)


def draw_gated_embeddings(
    spec: AttentionOnly,
    groups: Groups,
    last: Integer[Tensor, " last"],
    dtype: torch.dtype,
    generator: torch.Generator,
) -> tuple[Embeddings, Float[Tensor, "groups gate"]]:
    """Embeddings as above, and every group's sign vector. `last` are the ids of the last tokens."""
    signs = _signs(spec.vocab, groups.gate_dim, generator)
    codes = _distinct_signs(len(groups.rows), groups.gate_dim, generator)
    signs[last] = codes[groups.of_last_token]
    free = spec.dim - groups.gate_dim - 1
    tokens = torch.cat([signs, gaussian((spec.vocab, free), generator), torch.zeros(spec.vocab, 1)], 1)
    positions = gaussian((spec.context, spec.dim), generator)
    positions[:, -1] = 0
    positions[-1] = 0
    positions[-1, -1] = 1
    return Embeddings(tokens.to(dtype), positions.to(dtype)), codes


def draw_gated_heads(
    count: int,
    code: Float[Tensor, " gate"],
    spec: AttentionOnly,
    score_std: float,
    dtype: torch.dtype,
    generator: torch.Generator,
) -> Heads:
    """`count` heads of the group with this sign vector."""
    gate = len(code)
    opening = (CLOSED + 12 * score_std) / 2
    scale = 2.0 ** math.ceil(math.log2(opening))
    query = torch.zeros(count, spec.rank, spec.dim, dtype=torch.float64)
    key = torch.zeros(count, spec.rank, spec.dim, dtype=torch.float64)
    query[:, 0, :gate] = -scale * code
    query[:, 0, -1] = scale * gate
    key[:, 0, -1] = 1
    query[:, 1, -1] = 1
    # q . (x_s - x_S) sums d - 1 coordinates of variance 3: token and position against the last token.
    key[:, 1, :-1] = gaussian((count, spec.dim - 1), generator) * (score_std / math.sqrt(3 * (spec.dim - 1)))
    value = orthonormal_rows(count, spec.head_dim, spec.dim, generator)
    return Heads(query.to(dtype), key.to(dtype), value.to(dtype))


def _signs(rows: int, width: int, generator: torch.Generator) -> Tensor:
    return torch.randint(0, 2, (rows, width), generator=generator).double() * 2 - 1


def _distinct_signs(count: int, width: int, generator: torch.Generator) -> Float[Tensor, "count width"]:
    """Different sign vectors in random order: the binary digits of different numbers."""
    numbers = torch.randperm(2**width, generator=generator)[:count]
    return ((numbers[:, None] >> torch.arange(width)) & 1).double() * 2 - 1
