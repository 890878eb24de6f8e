"""The row of a plan: one way to store the facts, and its size."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

NO_METHOD = "none"
"""The method of a row without a model, or without a construction."""

Section = Literal["builds", "estimates", "orders", "rejected", "no model"]
"""Kind of a row: the size that a build ends in (`builds`); an estimate of it, where only building tells (`estimates`);
theory without a construction (`orders`); a rejected construction (`rejected`); storage without a model (`no model`)."""


BITS: dict[str, int] = {"float16": 16, "bfloat16": 16, "float32": 32, "float64": 64}


class PlanRow(BaseModel):
    """One way to store the facts, and its size.

    >>> import rote
    >>> rows = rote.plan("random:vocab=12,context=2,facts=40,seed=1")
    >>> all(row.bytes is None for row in rows if row.section == "orders")
    True
    """

    model_config = ConfigDict(frozen=True)

    id: str
    """Id of the method or result that gives the size; `entropy`, `retrieval`, `trie`, `sqlite`, `xz` or `zip` without a
    model."""
    kind: str
    """Kind of the result that it meets; `exact` without a model, `limit` for a lower bound on every model."""
    section: Section
    possible: bool
    model: str
    """The architecture and its sizes in words."""
    spec: dict[str, Any] | None = None
    """The specification, if rote has the architecture."""
    parameters: int | None = None
    weights: int | None = None
    """Bytes of the tensors in the file of weights."""
    bytes: int | None = None
    """Bytes of the complete model folder (weights, words, stored keys, configuration, certificate), or of all that is
    stored without a model. By theory alone, without a table: those of the weights."""
    construction: str = NO_METHOD
    """The method that builds it."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of the method for this row."""
    reason: str
    """The basis of the size, or why there is none."""
    note: str = ""
    """A caveat: facts that it misses or may miss."""
    source: str
