"""The schedule of trials on token tasks: a list of trials, and how their tasks are made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, TypeVar

from torch import Tensor

from rote.experiments.ledgers.ledger import TrialKey
from rote.experiments.runner import Rows, ended_seeds
from rote.experiments.trial import PendingTrials, TokenTrial, TrialOutcome
from rote.progress import Progress
from rote.tasks import AssociationTask, DistributionTask, random_associations
from rote.training.failure import Failed
from rote.training.protocol import EngineName
from rote.training.result import Trained
from rote.training.trials import TrainingTrial, attempt_trials

TaskT = TypeVar("TaskT", AssociationTask, DistributionTask)


def _random_start(trial: TokenTrial, task: AssociationTask | DistributionTask) -> dict[str, Tensor] | None:
    return None


@dataclass(frozen=True)
class TokenSchedule(Generic[TaskT]):
    """A list of models to train on token tasks. Tasks are made when needed: those of ended trials never are."""

    identity: dict[str, Any]
    """Everything that results depend on besides cell and seed. A folder with another identity is rejected."""
    trials: Sequence[TokenTrial]
    task_of: Callable[[TokenTrial], TaskT]
    """Returns a trial's task. Trials that get the same object share the work of preparing it."""
    recorded: Callable[[Trained, TaskT], dict[str, Any]]
    """Returns what the ledger stores of a model trained on this task, as JSON."""
    start_of: Callable[[TokenTrial, TaskT], dict[str, Tensor] | None] = _random_start
    """Returns the initial weights; None for a random initialization."""
    engine: EngineName = "auto"

    adaptive = False

    @property
    def about(self) -> dict[str, Any]:
        return {"trials": sum(map(len, self._by_cell.values()))}

    @property
    def trainer(self) -> TokenSchedule[TaskT]:
        return replace(self, trials=())

    @cached_property
    def _by_cell(self) -> dict[str, dict[int, TokenTrial]]:
        """Trials by the text of their cell and by seed, without duplicates."""
        # Few specifications and protocols, each one object, name all trials: their text is written once.
        texts: dict[tuple[int, int, str | None], str] = {}
        trials: dict[str, dict[int, TokenTrial]] = {}
        for trial in self.trials:
            content = (id(trial.spec), id(trial.protocol), trial.start)
            if content not in texts:
                texts[content] = trial.key.cell
            trials.setdefault(texts[content], {})[trial.seed] = trial
        return trials

    def pending(self, rows: Rows) -> list[TokenTrial]:
        ended = ended_seeds(rows)
        return [
            trial
            for cell, trials in self._by_cell.items()
            for done in (ended.get(cell, ()),)
            for seed, trial in trials.items()
            if seed not in done
        ]

    def train(
        self, pending: PendingTrials[TokenTrial], workers: int | None, progress: Progress
    ) -> Iterator[TrialOutcome[TokenTrial, dict[str, Any]]]:
        """Train all pending trials at once: the engine orders and stacks them."""
        planned = {trial.key: trial for trial in pending()}
        tasks = {key: self.task_of(trial) for key, trial in planned.items()}
        trials = [
            TrainingTrial(task, trial.spec, trial.protocol, trial.seed, key, self.start_of(trial, task))
            for key, task in tasks.items()
            for trial in (planned[key],)
        ]
        for trial, trained in attempt_trials(trials, workers=workers, engine=self.engine, progress=progress):
            if isinstance(trained, Failed):
                yield planned[trial.key], trained, 0.0
            else:
                yield planned[trial.key], self.recorded(trained, tasks[trial.key]), trained.seconds

    def finished(self, rows: Rows) -> Rows:
        keys = (TrialKey(cell, seed) for cell, trials in self._by_cell.items() for seed in trials)
        return {key: rows[key] for key in keys if key in rows}


class RandomTables:
    """Makes random tables: a trial of seed s trains on the table of seed s with every context of its sizes.

    Trials of the same vocabulary, context and seed share a table.
    """

    def __init__(self) -> None:
        self._tables: dict[tuple[int, int, int], AssociationTask] = {}

    def __call__(self, trial: TokenTrial) -> AssociationTask:
        sizes = (trial.spec.vocab, trial.spec.context, trial.seed)
        if sizes not in self._tables:
            self._tables[sizes] = random_associations(trial.spec.vocab, trial.spec.context, seed=trial.seed)
        return self._tables[sizes]


def training_record(trained: Trained) -> dict[str, Any]:
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
