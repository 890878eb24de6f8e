"""Settings and fixed sizes of `huben2023`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from rote.constructions.construction import Options

ID = "huben2023"
FLAGS = 2
"""Coordinates of the residual stream that mark a position as the last, or as one between the first and the last."""


class MemoryOptions(Options):
    score_std: Annotated[float, Field(gt=0)] = 1.0
    """Standard deviation of the first layer's scores."""
    draws: Annotated[int, Field(ge=1)] = 5
    """Samples of the neurons at most; the best-conditioned is kept."""
