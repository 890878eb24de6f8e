"""Bounds as values: a number, its kind, whether it applies and why not, parameters, source. Never a bare float.

An evaluator takes a specification and returns a `Value`, or a `Refusal` where a condition does not hold; `bound`
registers it under its id and turns either into a `Bound`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Literal

from pydantic import BaseModel, ConfigDict

from rote.models.attention_only import AttentionOnly

Kind = Literal["lower", "upper", "order", "estimate"]
"""`lower`: so many can be stored. `upper`: no more can. `order`: up to constants or logarithms, here taken as one.
`estimate`: measured, not proved."""


class Bound(BaseModel):
    """One result, evaluated for one specification."""

    model_config = ConfigDict(frozen=True)

    id: str
    kind: Kind
    associations: int | None
    """How many associations; none where the result does not apply or gives no number."""
    parameters: int | None
    """Parameters of the model the result speaks of."""
    bits: float | None = None
    """Bits those parameters take, where the result fixes a precision."""
    applies: bool
    reason: str
    """Why it applies, or why not and what does."""
    source: str
    statement: str
    """What the result says, in the notation N vocab, S context, d dim, k head_dim, H heads, T associations."""


@dataclass(frozen=True)
class Value:
    """A result whose conditions hold; `associations` is cut to the number of contexts, N^S, on registration."""

    associations: int | None
    parameters: int | None
    reason: str
    bits: float | None = None


@dataclass(frozen=True)
class Refusal:
    """A result whose conditions do not hold, and why; `parameters` where its model can be named all the same."""

    reason: str
    parameters: int | None = None


@dataclass(frozen=True)
class Result:
    """What is known of a result before any specification is given."""

    id: str
    kind: Kind
    source: str
    statement: str


Evaluator = Callable[[AttentionOnly], Bound]
BOUNDS: dict[str, Evaluator] = {}
RESULTS: dict[str, Result] = {}


def bound(
    id: str, *, kind: Kind, source: str, statement: str
) -> Callable[[Callable[[AttentionOnly], Value | Refusal]], Evaluator]:
    """Register an evaluator under a paper's id."""

    def register(evaluate: Callable[[AttentionOnly], Value | Refusal]) -> Evaluator:
        @wraps(evaluate)
        def evaluator(spec: AttentionOnly) -> Bound:
            found = evaluate(spec)
            number, bits, reason = None, None, found.reason
            if isinstance(found, Value):
                number, bits = found.associations, found.bits
                if number is not None and at_most_contexts(number, spec) < number:
                    number = at_most_contexts(number, spec)
                    reason += f"; no more than the {number} contexts there are"
            return Bound(
                id=id,
                kind=kind,
                associations=number,
                parameters=found.parameters,
                bits=bits,
                applies=isinstance(found, Value),
                reason=reason,
                source=source,
                statement=statement,
            )

        # The wrapper returns another type than what it wraps, and says so.
        evaluator.__annotations__ = {"spec": AttentionOnly, "return": Bound}
        BOUNDS[id] = evaluator
        RESULTS[id] = Result(id, kind, source, statement)
        return evaluator

    return register


def at_most_contexts(associations: int, spec: AttentionOnly) -> int:
    """No more associations than there are contexts, N^S."""
    return min(associations, contexts_up_to(associations, spec))


def contexts_up_to(limit: int, spec: AttentionOnly) -> int:
    """N^S where that is at most `limit`, else some number above it: N^S may be far too long to write out."""
    doublings = spec.vocab.bit_length() - 1  # 2^doublings <= N
    if doublings == 0:
        return 1
    if doublings * spec.context > limit.bit_length():
        return limit + 1
    return spec.vocab**spec.context


def not_one_layer(spec: AttentionOnly) -> str | None:
    """Why a result about one layer of equation (2) says nothing about this specification, if so."""
    if spec.layers != 1:
        return f"the result is about one layer, given {spec.layers}"
    if spec.compressed:
        return (
            "the result is about heads that read all of R^d, variant per-head; given variant shared, whose heads sit "
            f"behind one compression to {spec.head_dim} dimensions"
        )
    return None


def largest(holds: Callable[[int], bool], most: int) -> int:
    """Largest whole number in 1..most for which a monotone condition holds; one when it holds for none."""
    low, high = 1, most + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
