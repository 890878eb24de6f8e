"""Results: what a paper states, its value for a specification, and the smallest model it gives for a task.

A result is registered once, in its paper's file, by `result` above its evaluator; the functions that turn it around
are given there too. So an id, a kind or a statement is said in one place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from rote.errors import InputError
from rote.models.attention_only import AttentionOnly
from rote.models.spec import Spec, in_words
from rote.theory.bound import Bound, Kind, Refusal, Value
from rote.theory.contexts import contexts_up_to, sequences_up_to
from rote.theory.matched import matched
from rote.theory.papers import PAPERS, Paper
from rote.theory.smallest import Smallest

SpecT = TypeVar("SpecT", bound=Spec)

Evaluator = Callable[[Any], Value | Refusal]
"""The value of a result for a specification of the class that the result is about."""

ANY = "any"
"""The subject of a result that holds for every architecture."""


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
    about: type[Spec]
    """What the evaluator takes. `Spec`: any specification, of which it reads the sizes that all of them have."""
    subject: str
    """What the result is about: an architecture's name, words for one that rote has none of, or "any"."""
    evaluate: Evaluator
    smallest: tuple[Smallest, ...] = ()
    """The smallest models that hold a task's facts by this result; none where it cannot be turned around."""

    @property
    def source(self) -> str:
        """The paper and the place in it."""
        return self.paper.source(self.where)

    def bound(self, spec: Spec) -> Bound:
        """The result for one specification, with no more associations than the model can tell contexts apart.

        A result about another architecture is evaluated for a model of that one with matched sizes, and says so.
        """
        subject = spec if isinstance(spec, self.about) else matched(spec, self.about)
        value = subject if isinstance(subject, Refusal) else self.evaluate(subject)
        other = subject is not spec or self.subject not in (ANY, spec.architecture)
        associations, bits, reason, capped = None, None, value.reason, False
        if isinstance(subject, Spec) and subject is not spec:
            reason = f"{in_words(subject)}: {reason}"
        if isinstance(value, Value) and isinstance(subject, Spec):
            associations, bits = value.associations, value.bits
            contexts = sequences_up_to if other else contexts_up_to
            if associations is not None and contexts(associations, spec) < associations:
                associations, capped = contexts(associations, spec), True
                reason += f"; no more than the {associations} contexts there are"
        return Bound(
            id=self.id,
            kind=self.kind,
            associations=associations,
            parameters=value.parameters,
            about=self.subject,
            matched=other,
            bits=bits,
            applies=isinstance(value, Value),
            reason=reason,
            source=self.source,
            statement=self.statement,
            capped=capped,
        )


RESULTS: dict[str, Result] = {}
"""Every result by its id, registered when `rote.theory` is imported."""


def result(
    id: str,
    *,
    kind: Kind,
    statement: str,
    about: type[SpecT] = AttentionOnly,
    subject: str | None = None,
    where: str = "",
    smallest: tuple[Smallest, ...] = (),
) -> Callable[[Callable[[SpecT], Value | Refusal]], Result]:
    """Register the evaluator below as a result; its id begins with that of its paper.

    `about` is the class of specification that the evaluator takes. Other architectures are matched with it first
    (`rote.theory.matched`). `subject` names what the result is about where that is not `about`: an evaluator that takes
    any `Spec` as a budget may speak of a network that rote has no class for.
    """

    def register(evaluate: Callable[[SpecT], Value | Refusal]) -> Result:
        paper = PAPERS.get(id.partition(".")[0])
        if paper is None:
            raise InputError(f"result {id}: {id.partition('.')[0]!r} is no known paper; register it first")
        if id in RESULTS:
            raise InputError(f"result {id}: this id is registered already; give another")
        named = subject or getattr(about, "architecture", ANY)
        RESULTS[id] = Result(id, paper, where, kind, statement, about, named, evaluate, smallest)
        return RESULTS[id]

    return register
