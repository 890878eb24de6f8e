"""Results: what a paper states, its value for a specification, and the smallest model it gives for a task.

A result is registered once, in its paper's file, by `result` above its evaluator; the functions that turn it around
are given there too. So an id, a kind or a statement is said in one place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rote.models.attention_only import AttentionOnly
from rote.theory.bound import Bound, Kind, Refusal, Value
from rote.theory.contexts import at_most_contexts
from rote.theory.papers import PAPERS, Paper
from rote.theory.smallest import Smallest

Evaluator = Callable[[AttentionOnly], Value | Refusal]


@dataclass(frozen=True)
class Result:
    """A theorem, or a law that was measured."""

    id: str
    paper: Paper
    where: str
    """The place in the paper, such as "Theorem 1"; empty for the paper as a whole."""
    kind: Kind
    statement: str
    """In the notation N vocab, S context, d dim, k head_dim, H heads, T associations, P parameters."""
    evaluate: Evaluator
    smallest: tuple[Smallest, ...] = ()
    """The smallest models that hold a task's facts by this result; none where it cannot be turned around."""

    @property
    def source(self) -> str:
        """The paper and the place in it."""
        return self.paper.source(self.where)

    def bound(self, spec: AttentionOnly) -> Bound:
        """The result for one specification, with no more associations than there are contexts, N^S."""
        value = self.evaluate(spec)
        associations, bits, reason = None, None, value.reason
        if isinstance(value, Value):
            associations, bits = value.associations, value.bits
            if associations is not None and at_most_contexts(associations, spec) < associations:
                associations = at_most_contexts(associations, spec)
                reason += f"; no more than the {associations} contexts there are"
        return Bound(
            id=self.id,
            kind=self.kind,
            associations=associations,
            parameters=value.parameters,
            bits=bits,
            applies=isinstance(value, Value),
            reason=reason,
            source=self.source,
            statement=self.statement,
        )


RESULTS: dict[str, Result] = {}
"""Every result by its id, registered when `rote.theory` is imported."""


def result(
    id: str, *, kind: Kind, statement: str, where: str = "", smallest: tuple[Smallest, ...] = ()
) -> Callable[[Evaluator], Result]:
    """Register the evaluator below as a result; its id begins with that of its paper."""

    def register(evaluate: Evaluator) -> Result:
        paper = PAPERS.get(id.partition(".")[0])
        if paper is None:
            raise RuntimeError(f"result {id}: its id begins with no paper of rote.theory.papers")
        if id in RESULTS:
            raise RuntimeError(f"result {id} is registered twice")
        RESULTS[id] = Result(id, paper, where, kind, statement, evaluate, smallest)
        return RESULTS[id]

    return register
