"""The published sweeps as they are: accuracy (labels) or error (targets) at given numbers of examples.

Six seeds, d = 64, k = 64, n = 32 and H = 20 where they are fixed; the sweep in k has H = 30 and at least 300,000 steps.
Names say what varies, `fit` where a real target is fitted in place of labels, and `fresh` where every example has a
context of its own. The authors count about 20 GPU-days in all. The laptop preset
leaves them out: the capacities of `mahdavi2024.capacity` answer the same claims.
"""

from __future__ import annotations

from dataclasses import replace

from rote.papers.claims import Claim
from rote.papers.kinds.vectors import (
    DecreasesWithSize,
    GridFigure,
    HeadsSplitExamples,
    IncreasesWithSize,
    NothingBeyond,
    SaturatesWithTraining,
    SaturationFigure,
    Size,
    VectorSetting,
)
from rote.papers.mahdavi2024.capacity import NO_GAIN_BEYOND

CONTEXTS = (1, 5, 10, 20, 30, 40, 50, 60)
HEADS = (1, 5, 10, 20, 30, 40, 50, 60)
HEAD_DIMS = (10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 64)

RISES = Claim("rises", "More is recalled at every next size", IncreasesWithSize())
FALLS = Claim("falls", "The error is smaller at every next size", DecreasesWithSize())
FLAT = Claim("nothing-beyond-context", "Nothing is gained by k > n", NothingBeyond(35, within=0.05), NO_GAIN_BEYOND)


def _grid(
    id: str, size: Size, values: tuple[int, ...], fixed: VectorSetting, examples: range, claim: Claim,
    fewest_steps: int = 0,
) -> GridFigure:  # fmt: skip
    asked = "accuracy" if fixed.classes else "error"
    return GridFigure(
        f"mahdavi2024.{id}",
        f"{asked.capitalize()} against {size.replace('_', ' ')}, {fixed.in_words}",
        size,
        tuple((replace(fixed, **{size: value}), count) for count in examples for value in values),
        (claim,),
        fewest_steps=fewest_steps,
    )


FRESH, SHARED = VectorSetting(20, 32, shared=False), VectorSetting(20, 32)
FRESH_TARGETS, SHARED_TARGETS = replace(FRESH, classes=None), replace(SHARED, classes=None)

GRIDS = (
    _grid("n-fit-fresh", "context", CONTEXTS, FRESH_TARGETS, range(10_000, 90_001, 20_000), FALLS),
    _grid("n-fit", "context", CONTEXTS, SHARED_TARGETS, range(10_000, 25_001, 5_000), FALLS),
    _grid("h-fit-fresh", "heads", HEADS, FRESH_TARGETS, range(10_000, 90_001, 20_000), FALLS),
    _grid("h-fit", "heads", HEADS, SHARED_TARGETS, range(10_000, 30_001, 5_000), FALLS),
    _grid("h-fresh", "heads", HEADS, FRESH, range(30_000, 130_001, 20_000), RISES),
    _grid("h", "heads", HEADS, SHARED, range(10_000, 40_001, 10_000), RISES),
    _grid("n-fresh", "context", CONTEXTS, FRESH, range(20_000, 60_001, 10_000), RISES),
    _grid("n", "context", CONTEXTS, SHARED, range(6_000, 18_001, 4_000), RISES),
    _grid(
        "k", "head_dim", HEAD_DIMS, replace(SHARED, heads=30), range(10_000, 20_001, 5_000), FLAT, fewest_steps=300_000,
    ),
)  # fmt: skip


SATURATION = SaturationFigure(
    "mahdavi2024.saturated",
    "Heads with more than 0.99 of their attention on one token, against training length",
    ((VectorSetting(4, 32), 550), (VectorSetting(8, 32), 1300)),
    (
        Claim("saturates", "Heads are saturated on more examples the longer training lasts", SaturatesWithTraining()),
        Claim("specialises", "Heads specialise on different examples, beyond independence", HeadsSplitExamples()),
    ),
    lengths=(300, 1200, 4800),
    quick_lengths=(1200, 4800),
)
