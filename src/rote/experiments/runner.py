"""The one loop over a ledger: run what is missing of a plan, record each trial when it ends, give back the rows.

Figures, the search for the densest shape and the benchmarks are plans; what they do with the rows is their own. A run
that was killed has lost only the trials that had not ended, and the same plan with the same folder goes on from there.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from torch import Tensor

from rote import __version__
from rote.experiments.ledger import Ledger, TrialKey, TrialRow
from rote.experiments.trial import PlannedTrial
from rote.progress import SILENT, Progress
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


@dataclass(frozen=True)
class RunRows:
    """What a plan's trials gave."""

    rows: dict[TrialKey, TrialRow]
    """The plan's trials, in the plan's order; others that the folder holds are left aside."""
    trained: int
    """Trials that ran now; the others were in the ledger."""


def run(
    plan: RunPlan[TaskT],
    folder: str | Path | None = None,
    *,
    workers: int | None = None,
    engine: EngineName = "auto",
    progress: Progress = SILENT,
) -> RunRows:
    """Train what the ledger in `folder` does not hold yet and return every row; without a folder nothing is kept."""
    planned = {trial.key: trial for trial in plan.trials}
    versions = {"rote": __version__, "machine": platform.machine(), "python": platform.python_version()}
    about = {**versions, "trials": len(planned)}
    with Ledger.open(folder, plan.identity, about) as ledger:
        missing = planned.keys() - ledger.done()
        tasks = {key: plan.task_of(trial) for key, trial in planned.items() if key in missing}
        trials = [
            Trial(task, trial.spec, trial.protocol, trial.seed, key, plan.start_of(trial, task))
            for key, task in tasks.items()
            for trial in (planned[key],)
        ]
        for trial, trained in run_trials(trials, workers=workers, engine=engine, progress=progress):
            result = plan.recorded(trained, tasks[trial.key])
            ledger.record(planned[trial.key].cell, trial.seed, result, trained.seconds)
        rows = {row.key: row for row in ledger.rows()}
    return RunRows({key: rows[key] for key in planned}, len(missing))


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
