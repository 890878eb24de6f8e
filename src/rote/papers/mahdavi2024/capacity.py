"""Capacity at full recall against H, n and k: what the published sweeps ask, found by bisection.

Sizes are those of the published sweeps up to what one core can search in minutes; n = 32 and k = 64 where they are
held, as published, and H = 5 where the published sweeps hold H = 20 or 30 (2 for targets with fresh contexts, whose
searches take minutes a head).
"""

from __future__ import annotations

from dataclasses import replace

from rote.papers.claims import Claim, GrowsAs
from rote.papers.kinds.vectors import (
    CapacityFigure,
    IncreasesWithSize,
    MeetsPromise,
    NoMoreThanRank,
    NothingBeyond,
    QuickSearch,
    VectorSetting,
)
from rote.papers.texts import review

MEETS_PROMISE = Claim(
    "meets-promise", "Training recalls at least the H(min(n, k) - 1) + 1 examples of Theorem 1", MeetsPromise()
)
TIGHT = Claim("tight", "The bound is tight: training recalls no more than H(n - 1) + 1 examples", NoMoreThanRank())

NO_GAIN_BEYOND = review(
    "When fixing d, n, increasing dh only helps up to dh < n, and there is no memorization gain beyond that",
    "a reviewer, quoting a conclusion of the paper",
)

HEADS, FRESH_TARGET_HEADS = 5, 2
"""Heads of the sweeps in n and k. Fewer than five would not do for labels: the values of two heads are a point in a
plane, where training tells about a hundred labels apart whatever n and k."""


def kinds(setting: VectorSetting, target_heads: int) -> tuple[VectorSetting, ...]:
    """The setting with labels and with targets, in one shared context and in fresh ones (targets then with so many
    heads)."""
    fresh = replace(setting, shared=False)
    return (
        replace(setting, classes=100),
        replace(setting, classes=None),
        replace(fresh, classes=100),
        replace(fresh, heads=target_heads, classes=None),
    )


BY_HEADS = CapacityFigure(
    "mahdavi2024.heads",
    "Capacity against heads, n = 32, k = 64",
    "heads",
    tuple(kind for heads in (1, 2, 5, 10, 20) for kind in kinds(VectorSetting(heads, 32), heads)),
    (
        Claim("linear-in-heads", "Memorized examples grow linearly in the number of heads", GrowsAs(0.9, 1.1)),
        MEETS_PROMISE,
        TIGHT,
    ),
    QuickSearch((1, 2, 5, 10), fresh=False),
)

BY_CONTEXT = CapacityFigure(
    "mahdavi2024.context",
    "Capacity against context length, H = 5 (targets in fresh contexts 2), k = 64",
    "context",
    tuple(kind for context in (1, 5, 10, 32, 60) for kind in kinds(VectorSetting(HEADS, context), FRESH_TARGET_HEADS)),
    (
        Claim("grows-with-context", "Memorized examples grow with the context length", IncreasesWithSize()),
        MEETS_PROMISE,
        TIGHT,
    ),
    QuickSearch((1, 5, 10, 32), fresh=False),
)

BY_HEAD_DIM = CapacityFigure(
    "mahdavi2024.head_dim",
    "Capacity against head dimension, H = 5 (targets in fresh contexts 2), n = 32",
    "head_dim",
    tuple(
        kind for head_dim in (10, 31, 32, 64) for kind in kinds(VectorSetting(HEADS, 32, head_dim), FRESH_TARGET_HEADS)
    ),
    (
        Claim("nothing-beyond-context", "Nothing is gained by k > n", NothingBeyond(32), NO_GAIN_BEYOND),
        MEETS_PROMISE,
        TIGHT,
    ),
    QuickSearch((10, 32, 64), fresh=False),
    note="In one context k = n - 1 expresses every attention that a larger k does (see `narrowed`).",
)
