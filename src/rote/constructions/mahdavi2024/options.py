"""Settings of `mahdavi2024.theorem1`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rote.constructions.construction import Options

ID = "mahdavi2024.theorem1"


class TheoremOptions(Options):
    route: Literal["random", "proof"] = "random"
    """How attention is chosen: at random, or head by head as in the proof."""
    score_std: Annotated[float, Field(gt=0)] = 3.0
    """Standard deviation of scores on route `random`."""
    draws: Annotated[int, Field(ge=1)] = 5
    """Samples of attention at most; the best-conditioned is kept."""
    value_dim: Annotated[int, Field(ge=1)] | None = None
    """d_v: dimensions of the class codes. A real target needs as many as it has independent outputs."""
