"""Capacity: the largest number of facts that a construction stores, all recalled, in models of one size.

Tasks are nested (the first T facts of one table), so that more facts are harder and bisection makes sense; still the
boundary of a fit is not sharp, and the result is what was stored, never a claim that one more fact could not be.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rote.errors import InputError, RoteError
from rote.models.attention_only import AttentionOnly
from rote.progress import SILENT, Progress, Stage
from rote.tasks import AssociationTask
from rote.theory.dana2025 import promised

MOST_FACTS = 2**20
"""Facts that are tried at most, where contexts are not fewer."""


@dataclass(frozen=True)
class CapacityTry:
    """One build: how many facts, whether all were recalled, and the reason if not."""

    facts: int
    complete: bool
    seconds: float
    reason: str | None = None


@dataclass(frozen=True)
class Capacity:
    """The most facts found to be recalled, all of them; `refused` were not, or nothing was refused."""

    method: str
    recalled: int
    refused: int | None
    """Fewest facts that could not be stored; none when the table ran out first."""
    bits: float
    """Entropy of the stored answers: `stored` facts of the table at its bits per fact."""
    parameters: int
    trials: tuple[CapacityTry, ...]

    @property
    def bits_per_parameter(self) -> float:
        return self.bits / self.parameters


def capacity(
    spec: AttentionOnly,
    method: str,
    *,
    task: AssociationTask | None = None,
    start: int | None = None,
    tolerance: float = 0.02,
    dtype: str = "float32",
    seed: int = 0,
    progress: Progress = SILENT,
    **options: Any,
) -> Capacity:
    """The largest T, within `tolerance`, such that `rote.build` stores the first T facts of the task, all recalled.

    `task` is a random look-up table of the specification's sizes when absent. The search starts at `start` facts (what
    Theorem 1 promises when absent), grows or shrinks by halves until it has a success below a failure, then bisects.
    """
    from rote.constructions.build import build

    table = random_table(spec, seed) if task is None else shuffled(task, spec, seed)

    def attempt(facts: int) -> str | None:
        try:
            build(
                table.take(slice(0, facts)), method,
                dim=spec.dim, head_dim=spec.head_dim, heads=spec.heads,
                dtype=dtype, seed=seed, **options,
            )  # fmt: skip
        except RoteError as error:
            return str(error)
        return None

    with progress.stage(f"capacity of {method}") as stage:
        stored, refused, trials = largest_stored(attempt, start or promised(spec), table.facts, tolerance, stage)
    if not stored:
        raise InputError(f"{method} does not store a single fact in this model. {trials[-1].reason}")
    held = table.take(slice(0, stored))
    return Capacity(method, stored, refused, held.entropy_bits, spec.parameters(), tuple(trials))


def largest_stored(
    attempt: Callable[[int], str | None], start: int, most: int, tolerance: float, stage: Stage
) -> tuple[int, int | None, list[CapacityTry]]:
    low, high, trials = 0, most + 1, []
    facts = max(1, min(start, most))
    while high - low > max(1, tolerance * low):
        stage.describe(f"trying {facts} facts (stored {low}, " + (f"not {high})" if high <= most else "none refused)"))
        began = time.perf_counter()
        reason = attempt(facts)
        trials.append(CapacityTry(facts, reason is None, round(time.perf_counter() - began, 3), reason))
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
    return low, high if high <= most else None, trials


def random_table(spec: AttentionOnly, seed: int) -> AssociationTask:
    from rote.tasks.generators import random_associations

    every = spec.vocab**spec.context
    return random_associations(spec.vocab, spec.context, min(every, MOST_FACTS), seed=seed)


def shuffled(task: AssociationTask, spec: AttentionOnly, seed: int) -> AssociationTask:
    """The table in a random order, so that its first facts are a sample of it."""
    import numpy as np

    task = task.majority()
    if (task.vocab, task.context) != (spec.vocab, spec.context):
        raise InputError(
            f"task: its vocabulary of {task.vocab} and context of {task.context} tokens differ from the model's "
            f"{spec.vocab} and {spec.context}"
        )
    return task.take(np.random.default_rng(seed).permutation(task.facts))
