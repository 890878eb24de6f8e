"""The seeds of one task and specification as a run: one model per seed, on any executor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from rote.errors import CheckFailed, InputError
from rote.experiments.executor import HERE
from rote.experiments.ledgers.ledger import FailedTrial
from rote.experiments.runner import TrialList, run, run_ledger
from rote.experiments.trial import PendingTrials, Trainer, Trial, TrialOutcome
from rote.folders import write_folder
from rote.measure.certificate import Certificate
from rote.models.spec import Spec
from rote.progress import Progress
from rote.tasks import Origin, TokenTask, VectorTask
from rote.training.failure import FAILURES, Failed
from rote.training.protocol import EngineName, Protocol
from rote.training.query_attention.protocol import VectorProtocol
from rote.training.query_attention.train import VectorTrained, train_vectors
from rote.training.result import Trained
from rote.training.trials import TrainingTrial, attempt_trials

ModelT = TypeVar("ModelT", Trained, VectorTrained)


@dataclass(frozen=True)
class SeedTrial(Trial):
    """A trial named by its seed alone."""

    seed: int

    @property
    def cell(self) -> dict[str, Any]:
        return {}


@dataclass(frozen=True)
class SeedTrainer:
    """Trains one model on tokens per seed."""

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
    """Trains query attention on vectors, one seed after another."""

    task: VectorTask
    spec: Spec
    protocol: VectorProtocol

    def train(
        self, pending: PendingTrials[SeedTrial], workers: int | None, progress: Progress
    ) -> Iterator[TrialOutcome[SeedTrial, VectorTrained]]:
        trials = pending()
        with progress.stage(f"training {len(trials)} models", len(trials)) as stage:
            for trial in trials:
                try:
                    trained = train_vectors(self.task, self.spec, trial.seed, self.protocol)
                except FAILURES as error:
                    yield trial, Failed(error), 0.0
                else:
                    yield trial, trained, trained.seconds
                stage.advance()


@dataclass(frozen=True)
class SeedModels(Generic[ModelT]):
    models: tuple[ModelT, ...]
    """One per seed that ended, in the order of the seeds."""
    failed: tuple[FailedTrial, ...]
    """Seeds whose training failed, with the reasons."""

    def best(self) -> ModelT:
        """The one that recalls most; ties are broken by the smaller loss, then by the smaller seed."""
        ended = [trained for trained in self.models if not trained.diverged]
        if not ended:
            steps = ", ".join(f"seed {trained.seed} at step {trained.diverged_at}" for trained in self.models)
            raise CheckFailed(
                f"training diverged in every seed ({steps}); nothing was written. "
                f"Lower the learning rate (`peak`, now {self.models[0].protocol.peak:g}), or add `steps`"
            )
        return min(ended, key=lambda trained: (-(trained.accuracy or 0.0), trained.loss, trained.seed))


@dataclass(frozen=True)
class BestModel(Generic[ModelT]):
    """Trained models of one task and specification, and the certificate of the best."""

    models: tuple[ModelT, ...]
    """One per seed that ended, in the order of the seeds."""
    best: ModelT
    certificate: Certificate
    origin: Origin
    seconds: float
    """Wall-clock time of training."""

    @property
    def diverged(self) -> int:
        return sum(trained.diverged for trained in self.models)

    @property
    def provenance(self) -> dict[str, Any]:
        return {
            "method": "training",
            "protocol": self.best.protocol.model_dump(mode="json"),
            "seed": self.best.seed,
            "seeds": len(self.models),
            "engine": self.best.engine,
        }

    def save(self, folder: str | Path, overwrite: bool = False) -> Path:
        """Write the best model as a model folder with its certificate."""
        return write_folder(
            Path(folder), self.best.model, self.origin, self.provenance, self.certificate, overwrite=overwrite
        )


def train_seeds(
    trainer: Trainer[SeedTrial, ModelT],
    seeds: Sequence[int],
    *,
    ended: Mapping[int, ModelT] | None = None,
    on: str = HERE,
    workers: int | None = None,
    on_end: Callable[[ModelT], object] | None = None,
    progress: Progress,
) -> SeedModels[ModelT]:
    """Train one model per seed that has not `ended` before; `on_end` is called with each as soon as it ends.

    A seed that fails leaves the others; if none ends, the run fails with the first reason.
    """
    if on != HERE and getattr(trainer, "device", "cpu") != "cpu":
        raise InputError("`device`: models trained on Ray use its CPU cores; leave out `device` or `on`")
    models: dict[int, ModelT] = dict(ended or {})

    def record(trained: ModelT) -> dict[str, Any]:
        models[trained.seed] = trained
        if on_end is not None:
            on_end(trained)
        return trained.summary()

    with run_ledger(None) as ledger:
        for seed, trained in models.items():
            ledger.record(SeedTrial(seed).cell, seed, trained.summary(), trained.seconds)
        schedule = TrialList([SeedTrial(seed) for seed in seeds], trainer)
        ran = run(schedule, ledger, workers=workers, on=on, progress=progress, record=record)
    return SeedModels(tuple(models[seed] for seed in seeds if seed in models), ran.failed)
