"""Capacity by training: the largest number of facts that some trained model of one size recalls, every one.

As in `rote.experiments.capacity` the tables are nested and what is returned was stored: training for longer, or with
more seeds, may store more.
"""

from __future__ import annotations

from typing import Any

from rote.experiments.capacity import Capacity, largest_stored, random_table, shuffled
from rote.models.attention_only import AttentionOnly
from rote.progress import SILENT, Progress
from rote.tasks import AssociationTask
from rote.theory.dana2025 import promised
from rote.training.train import train

STEPS = 4000
POLISH = 300


def trained_capacity(
    spec: AttentionOnly,
    *,
    task: AssociationTask | None = None,
    start: int | None = None,
    tolerance: float = 0.02,
    seed: int = 0,
    seeds: int = 2,
    protocol: str = "best",
    workers: int | None = None,
    progress: Progress = SILENT,
    **changes: Any,
) -> Capacity:
    """The largest T, within `tolerance`, such that the best of `seeds` models recalls the first T facts of the task.

    Each try takes 4000 steps of the protocol and 300 iterations of L-BFGS unless `changes` say otherwise (its fields,
    as in `rote.train`). The same arguments give the same result.
    """
    table = random_table(spec, seed) if task is None else shuffled(task, spec, seed)
    # Scaling the scores stores nothing: it could be absorbed into the queries. Training starts better with it.
    trained_spec = spec.model_copy(update={"scale_scores": True})
    settings = {"steps": STEPS, "polish": POLISH, **changes} if protocol != "paper" else changes

    def attempt(facts: int) -> str | None:
        part = table.take(slice(0, facts))
        ended = train(part, trained_spec, range(seed, seed + seeds), protocol, workers=workers, **settings)
        recalled = [round(one.accuracy * facts) for one in ended if one.accuracy is not None]
        if not recalled:
            return f"training diverged in all of {seeds} seeds"
        return (
            None if max(recalled) == facts else f"the best of {seeds} models recalls {max(recalled)} of {facts} facts"
        )

    with progress.stage("capacity by training") as stage:
        stored, refused, trials = largest_stored(attempt, start or promised(spec), table.facts, tolerance, stage)
    held = table.take(slice(0, stored)).entropy_bits if stored else 0.0
    return Capacity("training", stored, refused, held, spec.parameters(), tuple(trials))
