"""Capacity by a search over a fixed ladder of sizes.

Sizes are powers of 1.05, so that searches for different thresholds share their trials; a search ends when what was
recalled and what was not lie two rungs apart or fewer: capacity is then known to within 10 %, and both ends are given.
A search is a pure function of the scores so far: it says which size to try next, or where it ended. A run that was
killed goes on by asking it again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass

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
    """Where a search stands."""

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
