"""Random look-up tables: uniformly random answers to distinct contexts, to all of them or to a given number."""

from __future__ import annotations

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from rote.errors import InputError
from rote.tasks.association import AssociationTask
from rote.tasks.grammar import checked, written
from rote.tasks.origin import Origin
from rote.tasks.rows import distinct_rows
from rote.tasks.vocabulary import Vocabulary

MOST_FACTS = 2**24
"""Most contexts that a generator makes; a task is held in memory."""


def draw_contexts(vocab: int, context: int, facts: int | None, rng: np.random.Generator) -> np.ndarray:
    """Every context in lexicographic order, or `facts` of them drawn uniformly without replacement.

    Contexts are drawn one after the other and repeats are dropped, which is the same as drawing without replacement.
    They are enumerated only if at least half of all contexts are wanted.
    """
    every = vocab**context
    wanted = every if facts is None else facts
    if wanted > MOST_FACTS:
        raise InputError(
            f"vocab={vocab}, context={context}: {'all contexts are' if facts is None else 'facts ='} {wanted:.4g}, "
            f"more than the {MOST_FACTS:,} a task may hold; give facts=N for N random ones"
        )
    if wanted > every:
        raise InputError(
            f"facts={facts}: only {every} different contexts exist with vocab={vocab}, context={context}; "
            "lower facts, or raise vocab or context"
        )
    if 2 * wanted >= every:
        chosen = np.arange(every) if facts is None else rng.permutation(every)[:wanted]
        return np.stack(np.unravel_index(chosen, (vocab,) * context), axis=1).astype(np.int32)
    drawn = np.empty((0, context), dtype=np.int32)
    while len(drawn) < wanted:
        more = rng.integers(vocab, size=(wanted - len(drawn), context), dtype=np.int32)
        drawn = np.concatenate([drawn, more])
        drawn = drawn[np.sort(distinct_rows(drawn, vocab)[0])]
    return drawn


class LookUpOptions(BaseModel):
    """What every random look-up has."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    vocab: int = Field(ge=1, le=2**24)
    context: int = Field(ge=1, le=2**16)
    facts: int | None = Field(None, ge=1)
    """Random contexts to draw. Default: all vocab^context."""
    seed: int = Field(0, ge=0)

    @property
    def rows(self) -> int:
        """Number of facts; at most the number of contexts."""
        return self.vocab ** min(64, self.context) if self.facts is None else self.facts

    @property
    def numbers(self) -> int:
        return self.rows * (self.context + 1) + self.vocab


class AssociationOptions(LookUpOptions):
    """A random look-up table with one answer per context."""

    answers: int | None = Field(None, ge=1)
    """Answers are drawn from the first this many tokens. Default: the complete vocabulary."""


def random_associations(
    vocab: int, context: int, facts: int | None = None, *, answers: int | None = None, seed: int = 0
) -> AssociationTask:
    """A look-up table with `facts` random contexts (default: all), answers uniform on the first `answers` tokens."""
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
