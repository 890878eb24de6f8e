"""Trials about #blocks as the runner requests them: in stacks, one thread per stack.

Optuna's own record of a run is `studies.sqlite` beside the ledger, one study per point and #blocks. A run resumes from
the ledger; the studies are then brought up to date with it, and can be opened with Optuna's tools.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any

from rote.experiments.blocks import training as block_training
from rote.experiments.blocks.schedule import BlockSchedule
from rote.experiments.blocks.search import tried_as
from rote.experiments.blocks.trial import (
    AnyTrial,
    BlockTrial,
    BuiltTrial,
    Results,
    Tried,
    block_result,
    frozen,
    trained_result,
    tuner,
)
from rote.experiments.executor import in_threads
from rote.experiments.runner import Rows
from rote.experiments.trial import PendingTrials, TrialOutcome
from rote.progress import Progress

FILE = "studies.sqlite"


class Studies:
    """The studies of a run; in memory alone when there is no folder."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._kept: dict[str, int] = {}

    @cached_property
    def _storage(self) -> Any:
        storages = tuner().storages
        if self._folder is None:
            return storages.InMemoryStorage()
        self._folder.mkdir(parents=True, exist_ok=True)
        return storages.RDBStorage(f"sqlite:///{self._folder / FILE}")

    def keep(self, name: str, tried: Iterable[Tried]) -> None:
        """Add the trials that a study does not have yet; they are given in the order of their numbers."""
        tried = list(tried)
        if self._kept.get(name, 0) == len(tried):
            return
        study = tuner().create_study(study_name=name, storage=self._storage, direction="maximize", load_if_exists=True)
        study.add_trials([frozen(trial) for trial in tried[len(study.trials) :]])
        self._kept[name] = len(tried)


@dataclass(frozen=True)
class BlockTrainer:
    """Trains stacks of trials on given texts."""

    texts: str
    stops: bool
    """Whether a stack stops when one of its trials has recalled the sequences."""

    def train(
        self, pending: PendingTrials[AnyTrial], workers: int | None, progress: Progress
    ) -> Iterator[TrialOutcome[AnyTrial, dict[str, Any]]]:
        return in_threads(pending, workers, progress, "training", self._records, _stack)

    def _records(self, trials: list[AnyTrial]) -> list[dict[str, Any]]:
        """A record for each trial of a stack; it is always trained whole, also where some of it was recorded before."""
        first = trials[0]
        if isinstance(first, BuiltTrial):
            return [block_training.built_record(first, self.texts)]
        records = block_training.trained_records(first, self.texts, stops=self.stops)
        return [records[trial.number - trial.first] for trial in trials if isinstance(trial, BlockTrial)]


@dataclass
class BlockRun:
    """The trials of a schedule, and Optuna's studies of them beside the ledger."""

    schedule: BlockSchedule
    studies: Studies = field(default_factory=lambda: Studies(None))

    adaptive = True

    @classmethod
    def into(cls, schedule: BlockSchedule, folder: Path) -> BlockRun:
        return cls(schedule, Studies(folder))

    @property
    def identity(self) -> dict[str, Any]:
        return self.schedule.identity

    @property
    def about(self) -> dict[str, Any]:
        return {}

    @property
    def trainer(self) -> BlockTrainer:
        return BlockTrainer(self.schedule.texts, stops=not self.schedule.whole)

    def pending(self, rows: Rows) -> Sequence[AnyTrial]:
        results = {key: block_result(row.result) for key, row in rows.items()}
        self._keep(results)
        return self.schedule.wanted(results)

    def finished(self, rows: Rows) -> Rows:
        return rows

    def _keep(self, results: Results) -> None:
        """Bring Optuna's studies level with the ledger."""
        for seed in range(self.schedule.repeats):
            for kind, sequences, blocks in self.schedule.rungs():
                numbers = range(self.schedule.figure.trials)
                named = (BlockTrial(kind, sequences, blocks, number, seed) for number in numbers)
                ended = [
                    trained_result(results, trial) for trial in takewhile(lambda trial: trial.key in results, named)
                ]
                name = f"{kind.in_words}, n = {kind.context}, N = {sequences}, {blocks} blocks, seed {seed}"
                self.studies.keep(name, [tried_as(kind, result) for result in ended])


def _stack(trial: AnyTrial) -> tuple[Any, ...]:
    """Names the stack that a trial is trained in."""
    place = (trial.blocks, trial.first) if isinstance(trial, BlockTrial) else ("built",)
    return (trial.kind, trial.sequences, trial.seed, *place)
