"""The bisection behind every capacity: the largest number of facts that models of one size recall in full.

Tasks are nested (the first T facts of one table), so that more facts are harder and bisection makes sense. The boundary
is not sharp: the result was recalled, which does not mean that one more fact could not be.
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
"""Largest number of facts tried, if there are as many contexts."""


@dataclass(frozen=True)
class CapacityTry:
    """One attempt: the number of facts, whether all were recalled, and the reason if not."""

    facts: int
    complete: bool
    seconds: float
    reason: str | None = None


@dataclass(frozen=True)
class Capacity:
    """The largest number of facts that was recalled in full."""

    method: str
    """Id of the construction, or `training`."""
    recalled: int
    rejected: int | None
    """Smallest number of facts that was not recalled in full; None if the table was exhausted first."""
    bits: float
    """Entropy of the recalled answers."""
    parameters: int
    tries: tuple[CapacityTry, ...]

    @property
    def bits_per_parameter(self) -> float:
        return self.bits / self.parameters

    def summary(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "recalled": self.recalled,
            "rejected": self.rejected,
            "bits_per_parameter": self.bits_per_parameter,
            "tries": len(self.tries),
            "seconds": round(sum(attempt.seconds for attempt in self.tries), 2),
        }


def largest_recalled(
    attempt: Callable[[int], str | None], start: int, most: int, tolerance: float, stage: Stage
) -> tuple[int, int | None, list[CapacityTry]]:
    """The largest number of facts for which `attempt` succeeds, the smallest for which it fails, and every attempt.

    `attempt` returns a reason if it fails. From `start` facts the number grows or shrinks by halves until a success
    lies below a failure. The gap is then bisected until it is at most a fraction `tolerance` of the success.
    """
    low, high, tries = 0, most + 1, []
    facts = max(1, min(start, most))
    while high - low > max(1, tolerance * low):
        failure = f"not {high})" if high <= most else "no failure)"
        stage.describe(f"trying {facts} facts (recalled {low}, {failure}")
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
    """The table whose first facts are tried: the given one in random order, or a random one of the model's sizes."""
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
