"""Where a task came from: enough to read the same facts again."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

Keys = Literal["words", "letters"]
"""A key cell is one token, or is spelled out in letters (padded on the left)."""


class Reading(BaseModel):
    """How a table's cells become tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: tuple[str, ...] | None = None
    """Key columns, in order; every column but the answer and the weight when absent."""
    answer: str | None = None
    """Answer column; the last one (the weight aside) when absent."""
    weight: str | None = None
    """Weight column; the one named `weight` when absent. Its presence makes a distribution task."""
    keys: Keys | None = None
    """Whole cells as tokens, or letters; words when absent, unless a named source says otherwise."""
    context: int | None = None
    """Pad letters to this many tokens instead of the longest key's."""
    contradictions: Literal["refuse", "keep"] = "refuse"
    """What to do with a key that has several answers and no weights: keeping them lowers the ceiling."""


class Origin(BaseModel):
    """Provenance of a task, written into every model folder made from it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: str = "in memory"
    """What was asked for: a path, a generator or a named source, as the user wrote it."""
    licence: str | None = None
    citation: str | None = None
    reading: Reading = Reading()
