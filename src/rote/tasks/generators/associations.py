"""Random look-up tables: uniformly random answers to distinct contexts."""

from __future__ import annotations

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from rote.errors import InputError
from rote.tasks.association import AssociationTask
from rote.tasks.generators.contexts import draw_contexts
from rote.tasks.grammar import checked, written
from rote.tasks.origin import Origin
from rote.tasks.vocabulary import Vocabulary


class LookUpOptions(BaseModel):
    """What every random look-up has."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    vocab: int = Field(ge=1, le=2**24)
    context: int = Field(ge=1, le=2**16)
    facts: int | None = Field(None, ge=1)
    """Random contexts to draw; all vocab^context of them when absent."""
    seed: int = Field(0, ge=0)

    @property
    def rows(self) -> int:
        """Facts; of all contexts that there are, no more than can be counted here."""
        return self.vocab ** min(64, self.context) if self.facts is None else self.facts

    @property
    def numbers(self) -> int:
        """Numbers in the task."""
        return self.rows * (self.context + 1) + self.vocab


class AssociationOptions(LookUpOptions):
    """A random look-up table with one answer per context."""

    answers: int | None = Field(None, ge=1)
    """Answers are drawn among the first this many tokens; the whole vocabulary when absent."""


def random_associations(
    vocab: int, context: int, facts: int | None = None, *, answers: int | None = None, seed: int = 0
) -> AssociationTask:
    """A look-up table with `facts` random contexts (all when absent), answers uniform on the first `answers` tokens."""
    given = {"vocab": vocab, "context": context, "facts": facts, "answers": answers, "seed": seed}
    options = checked(AssociationOptions, given, "random associations")
    return associations_from(options, Origin(source=written("random", options)))


def associations_from(options: AssociationOptions, origin: Origin) -> AssociationTask:
    rng = np.random.default_rng(options.seed)
    contexts = draw_contexts(options.vocab, options.context, options.facts, rng)
    return AssociationTask(
        contexts, draw_answers(options, len(contexts), rng), Vocabulary.numbered(options.vocab), origin
    )


def draw_answers(options: AssociationOptions, facts: int, rng: np.random.Generator) -> np.ndarray:
    choices = options.vocab if options.answers is None else options.answers
    if choices > options.vocab:
        raise InputError(
            f"answers={choices}: answers are tokens and vocab={options.vocab}; raise vocab or lower answers"
        )
    return rng.integers(choices, size=facts, dtype=np.int32)
