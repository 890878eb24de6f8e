"""More facts than the features' rank: only the argmax matters, so W_O and W_U are fitted by cross-entropy.

Attention stays fixed at random. Measured in float64: N=50, d=k=10, H=20 (p=210) stored 857-898 facts, and N=100,
d=k=20, H=20 (p=420) stored 2945. The rule reads: the dp + Nd fitted numbers hold two bits each, log2 N bits per fact.
"""

from __future__ import annotations

import math

from rote.errors import InputError
from rote.models.attention_only import AttentionOnly
from rote.tasks.shape import TaskShape
from rote.theory.bound import Refusal, Value
from rote.theory.contexts import not_one_layer
from rote.theory.result import result
from rote.theory.rote_rank import rank_of
from rote.theory.sizes import COMFORTABLE_DIM, fewest_heads, task_rank, widest_head
from rote.theory.smallest import SmallestModel

LOAD = 0.8
"""Share of the estimate that is filled when heads are chosen: fits near the estimate itself are slow."""


def estimate(shape: TaskShape, spec: AttentionOnly) -> int:
    """2(dp + md) / log2 m facts for m answers; dimensions beyond m - 1 change no argmax and are not counted."""
    return _estimate(shape, spec.dim, task_rank(shape, spec.dim, spec.head_dim, spec.heads))


def _estimate(shape: TaskShape, dim: int, rank: int) -> int:
    classes = max(2, shape.answers)
    return int(2 * min(dim, classes - 1) * (rank + classes) / math.log2(classes))


def holds(shape: TaskShape, dim: int, head_dim: int, heads: int) -> bool:
    """Whether the estimate, loaded to 80 %, covers the facts, or the features' rank does by itself."""
    rank = task_rank(shape, dim, head_dim, heads)
    return rank >= shape.associations or LOAD * _estimate(shape, dim, rank) >= shape.associations


def readout_spec(
    shape: TaskShape, dim: int | None = None, head_dim: int | None = None, heads: int | None = None
) -> AttentionOnly:
    """Sizes for a task: dim 20 unless given, and the fewest heads that hold the facts."""
    chosen = max(COMFORTABLE_DIM, head_dim or 0) if dim is None else dim
    width = min(chosen, widest_head(shape)) if head_dim is None else head_dim

    def at(number: int) -> AttentionOnly:
        return AttentionOnly(vocab=shape.vocab, context=shape.context, dim=chosen, head_dim=width, heads=number)

    if heads is not None:
        return at(heads)
    low, high = 0, fewest_heads(shape, chosen, width)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(shape, chosen, width, middle) else (middle, high)
    return at(high)


SMALLEST_DIM = 5
"""Below it the rule was not seen to hold."""

LARGEST_DIM = 32
"""The rule was measured at dims 10 and 20; it is not stretched much beyond."""


def readout_estimate(rank: int, dim: int, vocab: int) -> int:
    """2(dp + Nd)/log2 N facts, p the rank of the features."""
    return int(2 * dim * (rank + vocab) / math.log2(vocab))


def smallest_readout(shape: TaskShape) -> SmallestModel:
    """Fewest parameters over d = 5 .. 32 with k = d where the tokens allow, as `rote build` would choose heads."""
    if shape.vocab < 2:
        raise InputError("with one token there is only one answer")
    specs = [readout_spec(shape, dim) for dim in range(SMALLEST_DIM, LARGEST_DIM + 1)]
    return SmallestModel(
        f"fewest parameters over dims {SMALLEST_DIM} to {LARGEST_DIM}; an estimate, so a fit may need "
        "somewhat more heads",
        min(specs, key=lambda spec: (spec.parameters(), spec.dim)),
    )


@result(
    "rote.readout",
    where="a rule of thumb from measured capacities",
    kind="estimate",
    statement="T ~ 2(dp + Nd)/log2 N, p the rank of the features, d >= 5",
    smallest=(smallest_readout,),
)
def readout(spec: AttentionOnly) -> Value | Refusal:
    """What fixed random attention with a fitted W_O and W_U was seen to store."""
    broken = not_one_layer(spec)
    if not broken and spec.heads == 0:
        broken = "the rule was measured on models with heads"
    if not broken and spec.dim < SMALLEST_DIM:
        broken = f"the rule was measured for dim >= {SMALLEST_DIM}, given {spec.dim}"
    if not broken and spec.vocab < 2:
        broken = "with one token there is only one answer"
    if broken:
        return Refusal(broken, spec.parameters())
    p = rank_of(spec)
    return Value(
        readout_estimate(p, spec.dim, spec.vocab),
        spec.parameters(),
        f"2 (d p + N d)/log2 N with p = {p}, when W_O and W_U are fitted and attention stays random",
    )
