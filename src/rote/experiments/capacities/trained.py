"""Capacity by training: the most facts that a trained model of one size recalls in full.

The tables are nested as in `rote.experiments.capacities.built`. The result is a lower estimate: longer training or more
seeds may recall more.
"""

from __future__ import annotations

from typing import Any

from rote.experiments.capacities.search import Capacity, largest_recalled, table_for
from rote.experiments.executor import HERE
from rote.experiments.seeds import SeedTrainer, train_seeds
from rote.experiments.sizing.theory import theorem1_guarantee
from rote.models.attention_only import AttentionOnly
from rote.progress import SILENT, Progress
from rote.tasks import AssociationTask
from rote.training.protocol import EngineName
from rote.training.train import protocol_of, scores_scaled

STEPS = 4000
"""Steps per model. Fewer than the 10,000 of the protocol `best`, since a search trains a dozen models."""
POLISH = 300
"""L-BFGS iterations after the last step."""


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
    engine: EngineName = "auto",
    on: str = HERE,
    progress: Progress = SILENT,
    **changes: Any,
) -> Capacity:
    """The largest T, within `tolerance`, such that the best of `seeds` models recalls the first T facts of the task.

    Each attempt takes 4000 steps of the protocol and 300 iterations of L-BFGS unless `changes` (fields of the protocol,
    as in `rote.train`) say otherwise. `on` names the executor of the models of one attempt; attempts run in sequence.
    The same arguments give the same result.
    """
    table = table_for(spec, task, seed)
    model = scores_scaled(spec)
    settings = {"steps": STEPS, "polish": POLISH, **changes} if protocol != "paper" else changes

    def attempt(facts: int) -> str | None:
        part = table.take(slice(0, facts))
        trainer = SeedTrainer(part, model, protocol_of(protocol, model, part, **settings), engine)
        trained = train_seeds(trainer, range(seed, seed + seeds), on=on, workers=workers, progress=SILENT)
        accuracies = [model.accuracy for model in trained.models]
        recalled = [round(accuracy * facts) for accuracy in accuracies if accuracy is not None]
        if not recalled:
            return f"training diverged in all of {seeds} seeds"
        most = max(recalled)
        return None if most == facts else f"the best of {seeds} models recalls {most} of {facts} facts"

    start = start or theorem1_guarantee(spec) or 1
    with progress.stage("capacity by training") as stage:
        recalled, refused, tries = largest_recalled(attempt, start, table.facts, tolerance, stage)
    bits = table.take(slice(0, recalled)).entropy_bits if recalled else 0.0
    return Capacity("training", recalled, refused, bits, spec.parameters(), tuple(tries))
