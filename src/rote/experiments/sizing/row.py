"""A row of a plan: one way to hold the facts, and what it takes."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

NO_METHOD = "none"
"""The method of a row without a model, or without a construction."""

Section = Literal["builds", "starts", "orders", "refused", "no model"]
"""What a row is worth: the size that a build ends in; none, since only building tells; what theory says without a
construction; why there is none; what the facts take without a model."""


class PlanRow(BaseModel):
    """One way to hold the facts, and what it takes.

    >>> import rote
    >>> rows = rote.plan("random:vocab=12,context=2,facts=40,seed=1")
    >>> all(row.bytes is None for row in rows if row.section == "orders")
    True
    """

    model_config = ConfigDict(frozen=True)

    id: str
    """The method or the result that gives the size; `table.fixed`, `table.entropy` or `zip` where there is no model."""
    kind: str
    """As of the result it keeps; `exact` where there is no model, `limit` for what none can beat."""
    section: Section
    possible: bool
    model: str
    """The architecture and its sizes in words."""
    spec: dict[str, Any] | None = None
    """The specification, where rote has the architecture."""
    parameters: int | None = None
    bits: float | None = None
    bytes: int | None = None
    """Of the tensors in the file of weights."""
    construction: str = NO_METHOD
    """The method that builds it."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of the method for this row."""
    reason: str
    """What the size rests on, or why there is none."""
    note: str = ""
    """What to know before choosing it: facts that it may miss, or misses."""
    source: str
