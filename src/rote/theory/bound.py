"""Bounds as values: a number, its kind, whether it applies and why not, parameters, source. Never a bare float."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from pydantic import BaseModel, ConfigDict

from rote.models.attention_only import AttentionOnly

Kind = Literal["lower", "upper", "order", "estimate"]
"""`lower`: so many can be stored. `upper`: no more can. `order`: up to constants or logarithms. `estimate`: measured
in the literature, not proved."""


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


Evaluator = Callable[[AttentionOnly], Bound]
BOUNDS: dict[str, Evaluator] = {}


def bound(id: str) -> Callable[[Evaluator], Evaluator]:
    """Register an evaluator under a paper's id."""

    def register(evaluator: Evaluator) -> Evaluator:
        BOUNDS[id] = evaluator
        return evaluator

    return register


def at_most_contexts(associations: int, spec: AttentionOnly) -> int:
    """No more associations than there are contexts, N^S, which may be far too large a number to write out."""
    return min(associations, contexts_up_to(associations, spec))


def contexts_up_to(limit: int, spec: AttentionOnly) -> int:
    """min(N^S, something >= limit): exact when N^S is below the limit, and never a longer number than needed."""
    doublings = spec.vocab.bit_length() - 1  # 2^doublings <= N
    if doublings == 0:
        return 1
    if doublings * spec.context > limit.bit_length():
        return limit
    return spec.vocab**spec.context
