"""Trials about #blocks as the runner asks for them: in stacks, one thread per stack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

from rote.experiments.blocks import training as block_training
from rote.experiments.blocks.result import Results, block_result, trained_result
from rote.experiments.blocks.schedule import BlockSchedule
from rote.experiments.blocks.search import tried_as
from rote.experiments.blocks.studies import Studies
from rote.experiments.blocks.trial import AnyTrial, BlockTrial, BuiltTrial
from rote.experiments.pool import in_threads
from rote.experiments.runner import Rows
from rote.experiments.trainer import PendingTrials, TrialOutcome
from rote.progress import Progress


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
