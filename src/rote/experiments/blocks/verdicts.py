"""Verdicts: each rule of `rote.papers.kinds.blocks` applied to what was measured for a figure about #blocks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

from rote.experiments.blocks.schedule import BlockSchedule
from rote.experiments.findings import Verdict
from rote.experiments.power_law import Exponent, log_log_exponent, power_outcome
from rote.papers.claims import GrowsAs, Outcome, Rule
from rote.papers.kinds.blocks import (
    BlockFigure,
    BlocksDoNotGrow,
    MoreBlocksRecallMore,
    NoMoreThanPublished,
    SmallestBlocksFigure,
)


@dataclass(frozen=True)
class BlockPoint:
    x: int
    smallest: tuple[int | None, ...]
    """Smallest #blocks; none where no rung of the ladder sufficed."""
    tried: tuple[tuple[tuple[int, float], ...], ...]
    """For each seed (#blocks, best accuracy or least error) on every rung."""
    trials: int
    seconds: float
    parameters: tuple[int | None, ...] = ()
    """Everything trained in the smallest networks, embedding included."""
    built: dict[str, Any] | None = None
    """What Theorem 4.1's construction needs for the sequences of the first seed."""

    @property
    def in_words(self) -> str:
        return blocks_in_words(self.smallest, self.tried)


def blocks_in_words(smallest: Sequence[int | None], tried: Sequence[Sequence[Sequence[float]]]) -> str:
    """Every seed's smallest #blocks, or more than the last that was tried."""
    return ", ".join(
        f"> {rungs[-1][0]}" if blocks is None else str(blocks) for blocks, rungs in zip(smallest, tried, strict=True)
    )


@dataclass(frozen=True)
class BlockSeries:
    name: str
    points: tuple[BlockPoint, ...]


@dataclass(frozen=True)
class BlockCurve:
    """Trials of one #blocks, best first."""

    blocks: int
    accuracies: tuple[float, ...]
    losses: tuple[float, ...]
    curves: tuple[tuple[tuple[int, float, float], ...], ...]
    """(step, loss, accuracy) of each trial."""
    settings: tuple[tuple[float, int], ...]
    """Learning rate and warm-up of each trial."""
    seconds: float


@dataclass(frozen=True)
class BlockPoints:
    """The points of a figure by series, or its curves: what verdicts are based on."""

    schedule: BlockSchedule
    series: tuple[BlockSeries, ...]
    curves: tuple[BlockCurve, ...]
    missing: int
    """Points that have not been run to their end."""

    @property
    def published(self) -> dict[int, int]:
        return dict(self.schedule.figure.published)

    @property
    def most_built(self) -> BlockSeries:
        """The series with the most points on which the construction was built."""
        return max(self.series, key=lambda series: sum(point.built is not None for point in series.points))


@singledispatch
def decide_on_blocks(rule: Rule, measured: BlockPoints) -> Verdict:
    raise TypeError(f"no verdict is defined for the rule {type(rule).__name__}")


@dataclass(frozen=True)
class BlockExponent(Exponent):
    """Of b N^e: what a fit says, where there are points enough, and what whole numbers alone say.

    `at_least` is the steepest of all pairs of points, each #blocks taken to be anything above one less.
    """

    constant: bool = False

    @property
    def in_words(self) -> str:
        if self.constant:
            return "the same #blocks at every N"
        fit = "too few points above one block for a fit"
        if self.fitted is not None and self.interval is not None:
            fit = f"exponent {super().in_words}"
        return fit if self.at_least is None else f"{fit}, at least {self.at_least:.2f} between two points"


def exponent_of(values: dict[int, list[int | None]], largest: int) -> BlockExponent:
    """The exponent of N -> #blocks of each seed; none is more than `largest`.

    One block is the least there is: of the N at which it suffices only the largest tells how #blocks grow.
    """
    full = largest + 1
    numbers = {N: [full if blocks is None else blocks for blocks in seeds] for N, seeds in sorted(values.items())}
    flat = {blocks for seeds in numbers.values() for blocks in seeds}
    if len(flat) == 1 and full not in flat:
        return BlockExponent(None, None, constant=True)
    ones = [N for N, seeds in numbers.items() if all(blocks == 1 for blocks in seeds)]
    kept = {float(N): list(map(float, seeds)) for N, seeds in numbers.items() if max(ones, default=0) <= N}
    fit = log_log_exponent(kept, full) or Exponent(None, None)
    pairs = [
        math.log((min(after) - 1) / max(before)) / math.log(N / M)
        for M, before in numbers.items()
        for N, after in numbers.items()
        if N > M and min(after) > 1 and max(before) < full
    ]
    return BlockExponent(fit.fitted, fit.interval, max(pairs, default=None))


def series_exponent(series: BlockSeries, largest: int) -> BlockExponent:
    return exponent_of({point.x: list(point.smallest) for point in series.points}, largest)


@decide_on_blocks.register
def _(rule: GrowsAs, measured: BlockPoints) -> Verdict:
    largest = max(measured.schedule.ladder, default=1)
    exponents = {series.name: series_exponent(series, largest) for series in measured.series}
    if not exponents:
        return Verdict("undecided", "nothing was run")
    why = "; ".join(f"{name}: {exponent.in_words}" for name, exponent in exponents.items())
    why += _built_in_words(measured)
    numbers = {
        name: {"exponent": exponent.fitted, "interval": exponent.interval, "at_least": exponent.at_least}
        for name, exponent in exponents.items()
    }
    return Verdict(power_outcome(rule, exponents), why, numbers)


def on_published(rule: Rule, figure: BlockFigure) -> Verdict | None:
    """A rule of growth on the #blocks that were read off a published figure; None if there are none."""
    if not isinstance(figure, SmallestBlocksFigure) or not figure.published:
        return None
    if isinstance(rule, BlocksDoNotGrow):
        why = ", ".join(f"{blocks} at {x:,}" for x, blocks in figure.published)
        return _without_growth(rule, {x: [blocks] for x, blocks in figure.published}, f"read off the figure: {why}")
    if isinstance(rule, GrowsAs):
        exponents = {"published": exponent_of({N: [blocks] for N, blocks in figure.published}, max(figure.ladder))}
        return Verdict(power_outcome(rule, exponents), f"read off the figure: {exponents['published'].in_words}")
    return None


def _without_growth(rule: BlocksDoNotGrow, smallest: Mapping[int, Sequence[int]], why: str) -> Verdict:
    """By length: the smallest #blocks of each seed."""
    every = [blocks for seeds in smallest.values() for blocks in seeds]
    if max(every) - min(every) <= rule.within:
        return Verdict("supported", why)
    grown = min(smallest[max(smallest)]) - max(smallest[min(smallest)]) > rule.within
    return Verdict("not supported" if grown else "undecided", why)


def _built_in_words(measured: BlockPoints) -> str:
    """How the construction's weights grow on the same sequences, in exact arithmetic."""
    series = measured.most_built
    built = {float(point.x): [float(point.built["exact"]["nonzeros"])] for point in series.points if point.built}
    exponent = log_log_exponent(built)
    if exponent is None:  # nothing was built, or too little
        return ""
    return f"; the construction's weights ({series.name}): exponent {exponent.in_words}"


@decide_on_blocks.register
def _(rule: BlocksDoNotGrow, measured: BlockPoints) -> Verdict:
    points = [point for series in measured.series for point in series.points]
    if len({point.x for point in points}) < 2:
        return Verdict("undecided", "too few lengths were run")
    why = ", ".join(f"{point.in_words} at {point.x:,}" for point in sorted(points, key=lambda point: point.x))
    known: dict[int, list[int]] = {}
    for point in points:
        known.setdefault(point.x, []).extend(blocks for blocks in point.smallest if blocks is not None)
    if any(blocks is None for point in points for blocks in point.smallest):
        return Verdict("not supported", why)
    return _without_growth(rule, known, why)


@decide_on_blocks.register
def _(rule: NoMoreThanPublished, measured: BlockPoints) -> Verdict:
    above, compared = [], 0
    for series in measured.series:
        for point in series.points:
            published = measured.published.get(point.x)
            if published is None:
                continue
            compared += 1
            if any(blocks is None or blocks > published for blocks in point.smallest):
                above.append(f"{series.name} at {point.x:,}: {point.in_words}, published {published}")
    if not compared:
        return Verdict("undecided", "no published value for these points")
    why = f"at {compared - len(above)} of {compared} points" + (f"; above: {'; '.join(above)}" if above else "")
    return Verdict("not supported" if above else "supported", why, {"points": compared, "above": above})


@decide_on_blocks.register
def _(rule: MoreBlocksRecallMore, measured: BlockPoints) -> Verdict:
    best = {curve.blocks: max(curve.accuracies) for curve in measured.curves}
    deeper = {blocks: accuracy for blocks, accuracy in best.items() if blocks > 1}
    if 1 not in best or not deeper:
        return Verdict("undecided", "one block and more than one were not both run")
    more = [blocks for blocks, accuracy in deeper.items() if accuracy >= best[1] + rule.by]
    why = f"{best[1]:.3f} with 1, " + ", ".join(f"{accuracy:.3f} with {blocks}" for blocks, accuracy in deeper.items())
    outcome: Outcome = "supported" if len(more) == len(deeper) else "undecided" if more else "not supported"
    return Verdict(outcome, why, {"best": best})
