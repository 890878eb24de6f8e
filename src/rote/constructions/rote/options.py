"""Settings of `rote.readout`."""

from __future__ import annotations

from pydantic import Field

from rote.constructions.construction import Options

SAFETY = 4.0
"""Every margin must exceed this many times the largest rounding error of a logit in the saved dtype."""


class ReadoutOptions(Options):
    """Settings of the fit."""

    steps: int = Field(default=3000, ge=1)
    """L-BFGS steps at most; the fit ends as soon as the saved model recalls every fact."""
    score_std: float | None = Field(default=None, gt=0)
    """Standard deviation of attention scores. Default: 5, 10 and 2.5 are tried until heads are independent."""
    growths: int = Field(default=4, ge=0)
    """How often heads are added if a fit fails and `heads` was not given."""
