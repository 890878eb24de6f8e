"""Gated heads: threshold heads that see only contexts whose last token belongs to one group.

Coordinates of x: a gate part with one sign vector z_g per group g of last tokens, a free part, and the two that
threshold heads set aside. A head of group j has query-key rank two,

    score(s) = gate_j(t_S) 1{s = S} + beta q . x_s,    gate_j(u) = lambda (|z_j|^2 - z_j . z_g(u)),

where the gate is 0 when the last token is in group j and at least 2 lambda otherwise: then all attention stays on
position S, the head adds a multiple of x_S, and its centred feature vanishes. Signs and a power of two for lambda make
the gate exact in every float dtype.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Integer
from torch import Tensor

from rote.constructions.common.random_attention.draw import Embeddings, Heads, gaussian, orthonormal_rows
from rote.constructions.common.random_attention.features import Differences
from rote.constructions.common.saturation import CLOSED
from rote.constructions.dana2025.threshold_heads import (
    POOL,
    best_of_pool,
    draw_threshold_embeddings,
    with_thresholds,
)
from rote.models.attention_only import AttentionOnly


@dataclass(frozen=True)
class LastTokenGroups:
    """Last tokens in groups of about `target` facts, with the facts of each group."""

    of_last_token: Integer[Tensor, " last"]
    rows: list[Tensor]

    @property
    def gate_dim(self) -> int:
        """Sign coordinates that give each group its own vector, with one to spare for general position."""
        return max(1, math.ceil(math.log2(max(2, len(self.rows))))) + 1


def group_last_tokens(last_place: Integer[Tensor, " facts"], target: int) -> LastTokenGroups:
    """Common last tokens stand alone; rarer ones are gathered until a group has `target` facts."""
    counts = torch.bincount(last_place)
    group = torch.empty_like(counts)
    number, gathered = -1, target
    for token in counts.argsort(descending=True, stable=True).tolist():
        if gathered >= target:
            number, gathered = number + 1, 0
        group[token] = number
        gathered += int(counts[token])
    of_row = group[last_place]
    order = of_row.argsort(stable=True)
    rows = list(order.split(torch.bincount(of_row).tolist()))
    return LastTokenGroups(group, rows)


def draw_gated_embeddings(
    spec: AttentionOnly,
    groups: LastTokenGroups,
    last: Integer[Tensor, " last"],
    pad: int | None,
    dtype: torch.dtype,
    generator: torch.Generator,
) -> tuple[Embeddings, Float[Tensor, "groups gate"]]:
    """Embeddings as above, and every group's sign vector. `last` are the ids of the last tokens."""
    plain = draw_threshold_embeddings(spec, pad, dtype, generator)
    gate = groups.gate_dim
    codes = _distinct_signs(len(groups.rows), gate, generator)
    tokens = plain.tokens.clone()
    tokens[:, :gate] = torch.randint(0, 2, (spec.vocab, gate), generator=generator).to(dtype) * 2 - 1
    tokens[last, :gate] = codes[groups.of_last_token].to(dtype)
    return Embeddings(tokens, plain.positions), codes


def draw_gated_heads(
    count: int,
    code: Float[Tensor, " gate"],
    spec: AttentionOnly,
    score_std: float,
    differences: Differences,
    generator: torch.Generator,
    rows: Integer[Tensor, " rows"],
) -> Heads:
    """`count` heads of the group with this sign vector and these facts, the best of a pool."""
    drawn, gate, dim = POOL * count, len(code), spec.dim
    opening = (CLOSED + 20 * score_std) / 2
    scale = 2.0 ** math.ceil(math.log2(opening))
    query = torch.zeros(drawn, spec.rank, dim, dtype=torch.float64)
    key = torch.zeros(drawn, spec.rank, dim, dtype=torch.float64)
    query[:, 0, -1] = 1
    key[:, 0, -2] = 1
    # q . (x_s - x_S) sums d - 2 coordinates of variance 3: token and position against the last token.
    key[:, 0, :-2] = gaussian((drawn, dim - 2), generator) * (score_std / math.sqrt(3 * (dim - 2)))
    query[:, 1, :gate] = -scale * code
    query[:, 1, -1] = scale * gate
    key[:, 1, -1] = 1
    value = orthonormal_rows(drawn, spec.head_dim, dim, generator)
    dtype = differences.dtype
    pool = Heads(query.to(dtype), key.to(dtype), value.to(dtype))
    return best_of_pool(with_thresholds(pool, differences, generator, rows), count, differences, generator, rows)


def _distinct_signs(count: int, width: int, generator: torch.Generator) -> Float[Tensor, "count width"]:
    """Different sign vectors in random order: the binary digits of different numbers."""
    numbers = torch.randperm(2**width, generator=generator)[:count]
    return ((numbers[:, None] >> torch.arange(width)) & 1).double() * 2 - 1
