"""Bounds: one result evaluated for one specification. Never a bare number, but what it counts and why it applies.

An evaluator returns a `Value` where the conditions of its result hold and a `Refusal` where one does not;
`rote.theory.result.Result.bound` makes a `Bound` of either.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, computed_field

Kind = Literal["lower", "upper", "order", "estimate"]
"""`lower`: so many can be stored. `upper`: no more can. `order`: up to constants or logarithms, here taken as one.
`estimate`: measured, not proved."""

SAYS: dict[Kind, str] = {"lower": "at least", "upper": "at most", "order": "up to constants", "estimate": "measured"}

Section = Literal["guaranteed", "impossible", "other architectures", "orders and estimates", "does not apply"]
"""`guaranteed` and `impossible` speak of the model given; `other architectures` of another one with matched sizes."""

SECTIONS: tuple[Section, ...] = get_args(Section)


class Bound(BaseModel):
    """One result, evaluated for one specification.

    >>> import rote
    >>> bound = rote.bounds(rote.AttentionOnly(vocab=50, context=2, dim=10, head_dim=10, heads=20))[-1]
    >>> bound.applies, bound.associations
    (False, None)
    """

    model_config = ConfigDict(frozen=True)

    id: str
    kind: Kind
    associations: int | None
    """How many associations; none where the result does not apply or gives no number."""
    parameters: int | None
    """Parameters of the model the result speaks of."""
    about: str
    """The architecture that the result is about, by its name in `config.json`, in words where rote has none of the
    kind, or "any"."""
    matched: bool = False
    """Whether the numbers are those of another model than the one given: of the architecture in `about`, with matched
    sizes. Never read them as a bound on the model given."""
    bits: float | None = None
    """Bits those parameters take, where the result fixes a precision."""
    applies: bool
    reason: str
    """Why it applies, or why not and what does."""
    source: str
    statement: str
    """What the result says, in the notation N vocab, S context, d dim, k head_dim, H heads, T associations."""
    capped: bool = False
    """Whether the result gives more than the number of contexts there are, which `associations` then has."""

    @computed_field
    @property
    def section(self) -> Section:
        """What the result says about the model given: guaranteed, impossible, or neither."""
        if not self.applies:
            return "does not apply"
        if self.kind in ("order", "estimate"):
            return "orders and estimates"
        if self.matched:
            return "other architectures"
        return "guaranteed" if self.kind == "lower" else "impossible"

    @property
    def says(self) -> str:
        """The kind in words: at least, at most, up to constants, measured."""
        return SAYS[self.kind]


@dataclass(frozen=True)
class Value:
    """What a result says where its conditions hold; a bound cuts `associations` to N^S, the number of contexts."""

    associations: int | None
    parameters: int | None
    reason: str
    bits: float | None = None


@dataclass(frozen=True)
class Refusal:
    """Why a result's conditions do not hold; `parameters` where its model can be named all the same."""

    reason: str
    parameters: int | None = None
