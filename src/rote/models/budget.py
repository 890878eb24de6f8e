"""Memory budgets of work that is done a few rows at a time, in one place.

Results do not depend on them, except for the rounding of sums.
"""

from __future__ import annotations

FORWARD_FLOATS = 2**27
"""Of a forward pass: 512 MiB in float32. With less, models with many answers would be run on so few contexts at once
that tables over their tokens do not pay, at up to ten times the cost."""

SOLVE_FLOATS = 2**23
"""Of a float64 solve or fit that is repeated many times: 64 MiB, little beside its data."""

FIT_FLOATS = 2**22
"""Of a fit in float32 or of a training step: 16 MiB, so that many facts with many answers fit, and fit the cache."""

CACHED_FLOATS = 2**20
"""Of one tensor that several passes go over in turn: 8 MiB in float64, so that it stays near the cache."""


def rows_within(floats: int, floats_per_row: int) -> int:
    """Rows that may be held at once; one at least."""
    return max(1, floats // floats_per_row)
