"""The search behind every capacity: the largest number of facts that are all recalled in models of one size.

Tasks are nested (the first T facts of one table), so that more facts are harder and bisection makes sense; still the
boundary is not sharp, and the result is what was recalled, never a claim that one more fact could not be.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rote.errors import InputError
from rote.models.attention_only import AttentionOnly
from rote.progress import Stage
from rote.tasks import AssociationTask
from rote.tasks.generators import random_associations

MOST_FACTS = 2**20
"""Facts that are tried at most, where contexts are not fewer."""


@dataclass(frozen=True)
class CapacityTry:
    """One try: how many facts, whether all were recalled, and the reason if not."""

    facts: int
    complete: bool
    seconds: float
    reason: str | None = None


@dataclass(frozen=True)
class Capacity:
    """The most facts of which every one was recalled."""

    method: str
    """Id of the construction, or `training`."""
    recalled: int
    refused: int | None
    """Fewest facts that were not all recalled; none when the table ran out first."""
    bits: float
    """Entropy of the recalled answers: so many facts of the table at its bits per fact."""
    parameters: int
    tries: tuple[CapacityTry, ...]

    @property
    def bits_per_parameter(self) -> float:
        return self.bits / self.parameters

    def summary(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "recalled": self.recalled,
            "refused": self.refused,
            "bits_per_parameter": self.bits_per_parameter,
            "tries": len(self.tries),
            "seconds": round(sum(attempt.seconds for attempt in self.tries), 2),
        }


def largest_recalled(
    attempt: Callable[[int], str | None], start: int, most: int, tolerance: float, stage: Stage
) -> tuple[int, int | None, list[CapacityTry]]:
    """The most facts for which `attempt` names no reason against, the fewest for which it does, and every try.

    From `start` facts the number grows or shrinks by halves until a success lies below a failure; the gap is then
    bisected until it is at most a share `tolerance` of the success.
    """
    low, high, tries = 0, most + 1, []
    facts = max(1, min(start, most))
    while high - low > max(1, tolerance * low):
        refusal = f"not {high})" if high <= most else "none refused)"
        stage.describe(f"trying {facts} facts (recalled {low}, {refusal}")
        began = time.perf_counter()
        reason = attempt(facts)
        tries.append(CapacityTry(facts, reason is None, round(time.perf_counter() - began, 3), reason))
        stage.advance()
        low, high = (low, facts) if reason is not None else (facts, high)
        if low == 0:
            facts = high // 2
            if facts == 0:
                break
        elif high > most:
            facts = min(most, low + max(1, low // 2))
        else:
            facts = (low + high) // 2
    return low, high if high <= most else None, tries


def table_for(spec: AttentionOnly, task: AssociationTask | None, seed: int) -> AssociationTask:
    """The table whose first facts are tried: a given one in a random order, else a random one of the model's sizes."""
    if task is None:
        contexts = spec.vocab**spec.context
        return random_associations(spec.vocab, spec.context, min(contexts, MOST_FACTS), seed=seed)
    task = task.majority()
    if (task.vocab, task.context) != (spec.vocab, spec.context):
        raise InputError(
            f"task: its vocabulary of {task.vocab} and context of {task.context} tokens differ from the model's "
            f"{spec.vocab} and {spec.context}"
        )
    return task.take(np.random.default_rng(seed).permutation(task.facts))
