"""Sizes for a fitted readout on fixed random attention (`rote.readout`): one choice for plans and for builds."""

from __future__ import annotations

import math

from rote.models.attention_only import AttentionOnly
from rote.tasks.shape import TaskShape
from rote.theory.sizes import COMFORTABLE_DIM, fewest_heads, task_rank, widest_head

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
