"""Trials on associations and distributions as a plan: a list of trials, and how their tasks are made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from torch import Tensor

from rote.experiments.runner import Ask, Rows
from rote.experiments.trial import PlannedTrial
from rote.progress import Progress
from rote.tasks import AssociationTask, DistributionTask
from rote.tasks.generators import random_associations
from rote.training.result import Trained
from rote.training.trials import EngineName, Trial, run_trials

TaskT = TypeVar("TaskT", AssociationTask, DistributionTask)


def _random_start(trial: PlannedTrial, task: AssociationTask | DistributionTask) -> dict[str, Tensor] | None:
    return None


@dataclass(frozen=True)
class RunPlan(Generic[TaskT]):
    """What a run consists of. Nothing is made before it is needed: the tasks of trials that ended never are."""

    identity: dict[str, Any]
    """All that results depend on besides cell and seed: a folder that holds another identity is refused."""
    trials: Sequence[PlannedTrial]
    task_of: Callable[[PlannedTrial], TaskT]
    """Makes a trial's task. Trials that are given the same object share the work of preparing it."""
    recorded: Callable[[Trained, TaskT], dict[str, Any]]
    """What the ledger keeps of a model that was trained on this task; JSON."""
    start_of: Callable[[PlannedTrial, TaskT], dict[str, Tensor] | None] = _random_start
    """Weights that training starts from; nothing where they are drawn."""
    engine: EngineName = "auto"

    @property
    def about(self) -> dict[str, Any]:
        return {"trials": len({trial.key for trial in self.trials})}

    def wanted(self, rows: Rows) -> list[PlannedTrial]:
        """Trials that have not ended; those of equal content once."""
        return list({trial.key: trial for trial in self.trials if trial.key not in rows}.values())

    def train(
        self, ask: Ask[PlannedTrial], workers: int | None, progress: Progress
    ) -> Iterator[tuple[PlannedTrial, dict[str, Any], float]]:
        """All of them at once: the engine orders and stacks them."""
        planned = {trial.key: trial for trial in ask()}
        tasks = {key: self.task_of(trial) for key, trial in planned.items()}
        trials = [
            Trial(task, trial.spec, trial.protocol, trial.seed, key, self.start_of(trial, task))
            for key, task in tasks.items()
            for trial in (planned[key],)
        ]
        for trial, trained in run_trials(trials, workers=workers, engine=self.engine, progress=progress):
            yield planned[trial.key], self.recorded(trained, tasks[trial.key]), trained.seconds

    def own(self, rows: Rows) -> Rows:
        return {trial.key: rows[trial.key] for trial in self.trials}


class RandomTables:
    """Makes tasks: a trial of seed s trains on the random table of seed s that holds every context of its sizes.

    Trials of the same vocabulary, context and seed share a table.
    """

    def __init__(self) -> None:
        self._tables: dict[tuple[int, int, int], AssociationTask] = {}

    def __call__(self, trial: PlannedTrial) -> AssociationTask:
        sizes = (trial.spec.vocab, trial.spec.context, trial.seed)
        if sizes not in self._tables:
            self._tables[sizes] = random_associations(trial.spec.vocab, trial.spec.context, seed=trial.seed)
        return self._tables[sizes]


def training_record(trained: Trained) -> dict[str, Any]:
    """A trained model's numbers by the names that ledgers of format 1 keep them under."""
    return {
        "seed": trained.seed,
        "protocol": trained.protocol.name,
        "steps": trained.protocol.steps,
        "engine": trained.engine,
        "accuracy": trained.accuracy,
        "sampled_accuracy": trained.sampled_accuracy,
        "batch_accuracy": trained.batch_accuracy,
        "loss": trained.loss,
        "diverged_at": trained.diverged_at,
        "parameters": trained.model.parameters,
        "seconds": trained.seconds,
    }
