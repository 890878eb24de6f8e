"""Capacity by a search over a fixed ladder of sizes.

Sizes are powers of 1.05, so that searches for different thresholds share their trials. A search ends when the largest
recalled size and the smallest failed one lie at most two rungs apart: capacity is then known to within 10 %, and both
ends are given. A search is a pure function of the scores so far: it returns the next size to try, or where it ended,
so an interrupted run resumes by evaluating it again.

Two guesses make it short: where it starts, and how far away the boundary seems to be. They decide only how many trials
a search takes; where it ends is measured. Their constants were read off the searches behind docs/mahdavi2024.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass

from rote.experiments.vectors.trial import VectorResult, VectorTrial
from rote.papers.kinds.vectors import Threshold, VectorSetting

PER_TARGET = 0.8
"""Targets fitted for each free number of the score tables."""
PER_LABEL = 0.36
"""Labels recalled for each, with many heads."""
HEADS_FOR_LABELS = 20
"""Square of the number of heads with which half as many labels are recalled for each free number: H values of dimension
one have to separate a hundred classes."""
RUNGS_PER_DECADE = 4
"""Of a target's error near its capacity."""


def free_numbers(setting: VectorSetting) -> int:
    """Numbers that decide the scores: per head a (d + 1) x (n - 1) table in one context (a constant for all tokens
    changes nothing), a (d + 1) x d one with fresh contexts, of rank at most k."""
    rows = setting.dim + 1
    columns = setting.context - 1 if setting.shared else min(setting.dim, 6 * setting.context)
    rank = min(setting.head_dim, columns)
    return setting.heads * (rank * (rows + columns - rank) + columns) + 1


def expected_capacity(setting: VectorSetting) -> int:
    """About how many examples training recalls."""
    if setting.classes is None:
        return max(1, round(PER_TARGET * free_numbers(setting)))
    separated = setting.heads**2 / (setting.heads**2 + HEADS_FOR_LABELS)
    return max(1, round(PER_LABEL * separated * free_numbers(setting)))


def rungs_above(trial: VectorTrial, result: VectorResult, threshold: Threshold) -> float:
    """About how many rungs of the ladder of sizes a threshold's boundary lies above a trial; negative where it was not
    met."""
    met = result.meets(threshold)
    if threshold.mean_square is not None:
        error = result.mean_square
        decades = -10.0 if error is None else math.log10(threshold.mean_square / max(error, 1e-20))
        rungs = RUNGS_PER_DECADE * decades
        return max(rungs, 0.0) if met else min(rungs, -0.5)
    accuracy = result.accuracy or 0.0
    spare = 1 - result.steps / trial.protocol.steps
    if threshold.accuracy == 1:
        missed = round((1 - accuracy) * trial.examples)
        return 1 + 10 * spare if met else -1 - 2 * math.log2(max(1, missed))
    if accuracy == 1:
        return 3 + 20 * spare
    off = _logit(accuracy) - _logit(threshold.accuracy or 0.5)
    return off if met else -(off**2)


def _logit(share: float) -> float:
    share = min(max(share, 1e-3), 1 - 1e-6)
    return math.log(share / (1 - share))


RATIO = 1.05
GAP = 2
"""Rungs between the two ends of a search that has ended, at most."""
SHORTEST_STRIDE, LONGEST_STRIDE = 2, 40
"""Rungs of the first move away from the start; later ones at least double while the boundary is not crossed."""
LAST_RUNG = 290
"""About 1.4 million examples."""


def size(rung: int) -> int:
    """Examples at a rung of the ladder."""
    return max(1, round(RATIO**rung))


def rung_of(examples: float) -> int:
    """The rung nearest to a number of examples."""
    return max(0, min(LAST_RUNG, round(math.log(max(1.0, examples)) / math.log(RATIO))))


@dataclass(frozen=True)
class Bracket:
    recalled: int | None
    """Rung at which the examples were recalled; none if not even one was."""
    too_many: int | None
    """Rung at which they were not."""
    wanted: int | None
    """Rung to try next; none when the search has ended."""
    tried: tuple[int, ...] = ()
    """Rungs that the search passed, in order."""

    @property
    def middle(self) -> int:
        """Where another seed's search may start."""
        ends = [rung for rung in (self.recalled, self.too_many) if rung is not None]
        return sum(ends) // len(ends)


def search(score: Callable[[int], float | None], start: int, known: Collection[int] = ()) -> Bracket:
    """Replay a search from rung `start` with the scores that are known (none where a rung was not tried).

    A score says about how many rungs the boundary lies above; a threshold is met when it is not negative. `known` are
    rungs that another search has tried already: this one does not jump over them.
    """
    low: int | None = None
    high: int | None = None
    above = below = 0.0
    rung, stride = start, 0
    tried: list[int] = []
    while True:
        value = score(rung)
        if value is None:
            return Bracket(low, high, rung, tuple(tried))
        tried.append(rung)
        if value >= 0:
            low, above = rung, value
        else:
            high, below = rung, value
        if low is not None and high is not None:
            if high - low <= GAP or size(high) - size(low) <= 1:
                return Bracket(low, high, None, tuple(tried))
            rung = _between(low, high, above, below)
            continue
        if rung == (LAST_RUNG if high is None else 0):
            return Bracket(low, high, None, tuple(tried))
        stride = max(2 * stride, min(LONGEST_STRIDE, max(SHORTEST_STRIDE, round(abs(value)))))
        if high is None:
            rung = min([LAST_RUNG, rung + stride, *(other for other in known if other > rung)])
        else:
            rung = max([0, rung - stride, *(other for other in known if other < rung)])


def _between(low: int, high: int, above: float, below: float) -> int:
    """Where the scores put the boundary, but never in the outer quarters, so that every try narrows the search."""
    gap = high - low
    crossing = low + gap * above / (above - below)
    quarter = max(1.0, gap / 4)
    return round(min(high - quarter, max(low + quarter, crossing)))
