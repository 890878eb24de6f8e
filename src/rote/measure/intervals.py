"""Intervals for a share that was counted."""

from __future__ import annotations

import math
from typing import NamedTuple

NORMAL_95 = 1.959964


class Interval(NamedTuple):
    low: float
    high: float


def wilson(successes: int, trials: int) -> Interval:
    """Wilson's 95 % interval for a share (Wilson 1927): sensible at 0 and 1, where the usual one has no width."""
    if trials == 0:
        return Interval(0.0, 1.0)
    share, z2 = successes / trials, NORMAL_95**2
    centre = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    half = NORMAL_95 * math.sqrt(share * (1 - share) / trials + z2 / (4 * trials**2)) / (1 + z2 / trials)
    # At 0 and 1 the ends are those exactly, which sums of rounded numbers miss by a last digit.
    return Interval(
        0.0 if successes == 0 else max(0.0, centre - half), 1.0 if successes == trials else min(1.0, centre + half)
    )


def clopper_pearson(successes: int, trials: int) -> Interval:
    """The exact 95 % interval for a share (Clopper and Pearson 1934): never less sure than it says."""
    from scipy.stats import beta

    low = 0.0 if successes == 0 else float(beta.ppf(0.025, successes, trials - successes + 1))
    high = 1.0 if successes == trials else float(beta.ppf(0.975, successes + 1, trials - successes))
    return Interval(low, high)
