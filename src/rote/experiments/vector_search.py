"""Capacity by bisection over a fixed ladder of sizes.

Sizes are powers of 1.05, so that searches for different thresholds share their trials and capacity is known to within
5 %. A search is a pure function of the outcomes so far: it says which size to try next, or where it ended. A run that
was killed goes on by asking it again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

RATIO = 1.05
FIRST_STRIDE = 4
"""Rungs of the first move away from the start; doubled while the boundary is not crossed."""
LAST_RUNG = 290
"""About 1.4 million examples."""


def size(rung: int) -> int:
    """Examples at a rung of the ladder."""
    return max(1, round(RATIO**rung))


def rung_of(examples: float) -> int:
    """The rung nearest to a number of examples."""
    import math

    return max(0, min(LAST_RUNG, round(math.log(max(1.0, examples)) / math.log(RATIO))))


@dataclass(frozen=True)
class Bracket:
    """Where a search stands."""

    recalled: int | None
    """Rung at which the examples were memorized; none if not even one was."""
    refused: int | None
    """Rung at which they were not."""
    wanted: int | None
    """Rung to try next; none when the search has ended."""


def bisect(outcome: Callable[[int], bool | None], start: int) -> Bracket:
    """Replay a search from rung `start` with the outcomes that are known (none where a rung was not tried)."""
    low: int | None = None
    high: int | None = None
    rung, stride = start, FIRST_STRIDE
    while True:
        success = outcome(rung)
        if success is None:
            return Bracket(low, high, rung)
        low, high = (rung, high) if success else (low, rung)
        if low is None:
            if rung == 0:
                return Bracket(None, high, None)
            rung = max(0, rung - stride)
            stride *= 2
        elif high is None:
            if rung == LAST_RUNG:
                return Bracket(low, None, None)
            rung = min(LAST_RUNG, rung + stride)
            stride *= 2
        elif high - low <= 1:
            return Bracket(low, high, None)
        else:
            rung = (low + high) // 2
