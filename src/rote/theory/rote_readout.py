"""More facts than the features' rank: only the argmax matters, so W_O and W_U are fitted by cross-entropy.

Attention stays fixed at random. Measured in float64: N=50, d=k=10, H=20 (p=210) stored 857-898 facts, and N=100,
d=k=20, H=20 (p=420) stored 2945. The rule reads: the dp + Nd fitted numbers hold two bits each, at log2 N bits a fact.
"""

from __future__ import annotations

import math

from rote.models.attention_only import AttentionOnly
from rote.theory.bound import Refusal, Value, bound, not_one_layer
from rote.theory.rote_rank import rank_of

SMALLEST_DIM = 5
"""Below it the rule was not seen to hold."""


def readout_estimate(rank: int, dim: int, vocab: int) -> int:
    """2(dp + Nd)/log2 N facts, p the rank of the features."""
    return int(2 * dim * (rank + vocab) / math.log2(vocab))


@bound(
    "rote.readout",
    kind="estimate",
    source="rote; rule of thumb from measured capacities",
    statement="T ~ 2(dp + Nd)/log2 N, p the rank of the features, d >= 5",
)
def readout(spec: AttentionOnly) -> Value | Refusal:
    """What fixed random attention with a fitted W_O and W_U was seen to store."""
    other = not_one_layer(spec)
    if not other and spec.dim < SMALLEST_DIM:
        other = f"the rule was measured for dim >= {SMALLEST_DIM}, given {spec.dim}"
    if not other and spec.vocab < 2:
        other = "with one token there is only one answer"
    if other:
        return Refusal(other, spec.parameters())
    p = rank_of(spec)
    return Value(
        readout_estimate(p, spec.dim, spec.vocab),
        spec.parameters(),
        f"2 (d p + N d)/log2 N with p = {p}, when W_O and W_U are fitted and attention stays random",
    )
