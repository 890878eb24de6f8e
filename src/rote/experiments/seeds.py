"""Seeds of one task and specification as trials, so that they run wherever trials do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rote.errors import InputError
from rote.experiments.executor import HERE, executor
from rote.experiments.trainer import PendingTrials, ResultT, Trainer, TrialOutcome
from rote.experiments.trial import Trial
from rote.models.spec import Spec
from rote.progress import Progress
from rote.tasks import TokenTask, VectorTask
from rote.training.failure import Failed
from rote.training.protocol import Protocol
from rote.training.query_attention.protocol import VectorProtocol
from rote.training.query_attention.result import VectorTrained
from rote.training.query_attention.train import train_vectors
from rote.training.result import Trained
from rote.training.trials import EngineName, TrainingTrial, attempt_trials


@dataclass(frozen=True)
class SeedTrial(Trial):
    """A trial that only its seed tells from the others."""

    seed: int

    @property
    def cell(self) -> dict[str, Any]:
        return {}


@dataclass(frozen=True)
class SeedTrainer:
    """Trains a model on tokens from each seed."""

    task: TokenTask
    spec: Spec
    protocol: Protocol
    engine: EngineName = "auto"
    device: str = "cpu"

    def train(
        self, pending: PendingTrials[SeedTrial], workers: int | None, progress: Progress
    ) -> Iterator[TrialOutcome[SeedTrial, Trained]]:
        trials = [TrainingTrial(self.task, self.spec, self.protocol, trial.seed, key=trial) for trial in pending()]
        ended = attempt_trials(trials, workers=workers, engine=self.engine, device=self.device, progress=progress)
        for trial, trained in ended:
            yield trial.key, trained, 0.0 if isinstance(trained, Failed) else trained.seconds


@dataclass(frozen=True)
class VectorSeedTrainer:
    """Trains query attention on vectors from each seed, one after another."""

    task: VectorTask
    spec: Spec
    protocol: VectorProtocol

    def train(
        self, pending: PendingTrials[SeedTrial], workers: int | None, progress: Progress
    ) -> Iterator[TrialOutcome[SeedTrial, VectorTrained]]:
        trials = pending()
        with progress.stage(f"training {len(trials)} models", len(trials)) as stage:
            for trial in trials:
                trained = train_vectors(self.task, self.spec, trial.seed, self.protocol)
                stage.advance()
                yield trial, trained, trained.seconds


def train_seeds(
    trainer: Trainer[SeedTrial, ResultT],
    seeds: Sequence[int],
    *,
    on: str = HERE,
    workers: int | None = None,
    on_end: Callable[[ResultT], object] | None = None,
    progress: Progress,
) -> dict[int, ResultT]:
    """A model for each seed; what one fails of, all would, and it is raised. `on_end` is told of each as it ends."""
    if on != HERE and getattr(trainer, "device", "cpu") != "cpu":
        raise InputError("`device`: models that are trained on Ray are trained on processors; leave it or `on` out")
    models: dict[int, ResultT] = {}

    def missing() -> list[SeedTrial]:
        return [SeedTrial(seed) for seed in seeds if seed not in models]

    for trial, trained, _ in executor(on, workers).run(trainer, missing, False, progress):
        if isinstance(trained, Failed):
            raise trained.error
        models[trial.seed] = trained
        if on_end is not None:
            on_end(trained)
    return models
