"""Trials about #blocks as a plan of the runner: stacks of trials, one thread a stack."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

from rote.errors import InputError
from rote.experiments.blocks import training as block_training
from rote.experiments.blocks.plan import BlockPlan
from rote.experiments.blocks.search import tried_as
from rote.experiments.blocks.studies import Studies
from rote.experiments.blocks.trial import AnyTrial, BlockTrial, BuiltTrial, Results
from rote.experiments.runner import Rows
from rote.experiments.where import Ask, Outcome
from rote.progress import Progress
from rote.training.failure import FAILURES, Failed


@dataclass(frozen=True)
class BlockTrainer:
    """Trains stacks of trials on given texts."""

    texts: str
    stops: bool
    """Whether a stack stops when one of its trials has recalled the sequences."""

    def train(
        self, ask: Ask[AnyTrial], workers: int | None, progress: Progress
    ) -> Iterator[Outcome[AnyTrial, dict[str, Any]]]:
        workers = os.cpu_count() or 1 if workers is None else workers
        if workers < 1:
            raise InputError(f"workers: {workers} must be at least 1")
        with ThreadPoolExecutor(workers, "rote-blocks") as pool, progress.stage("training") as stage:
            running: dict[Future[list[dict[str, Any]]], list[AnyTrial]] = {}
            ended = 0
            try:
                while True:
                    busy = {_stack(trials[0]) for trials in running.values()}
                    waiting: dict[tuple[Any, ...], list[AnyTrial]] = {}
                    for trial in ask():
                        if (name := _stack(trial)) not in busy:
                            waiting.setdefault(name, []).append(trial)
                    for trials in list(waiting.values())[: workers - len(running)]:
                        running[pool.submit(self._records, trials[0])] = trials
                    if not running:
                        return
                    stage.describe(f"training: {ended} trials ended, {len(waiting)} stacks known to be wanted")
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        for trial, record in _outcomes(running.pop(future), future):
                            ended += 1
                            stage.advance()
                            yield trial, record, 0.0 if isinstance(record, Failed) else record["seconds"]
            finally:
                pool.shutdown(wait=False, cancel_futures=True)

    def _records(self, trial: AnyTrial) -> list[dict[str, Any]]:
        if isinstance(trial, BuiltTrial):
            return [block_training.built_record(trial, self.texts)]
        return block_training.trained_records(trial, self.texts, stops=self.stops)


@dataclass
class BlockRun:
    """The trials of a plan, and Optuna's studies of them beside the ledger."""

    plan: BlockPlan
    studies: Studies = field(default_factory=lambda: Studies(None))

    adaptive = True

    @classmethod
    def into(cls, plan: BlockPlan, folder: Path) -> BlockRun:
        return cls(plan, Studies(folder))

    @property
    def identity(self) -> dict[str, Any]:
        return self.plan.identity

    @property
    def about(self) -> dict[str, Any]:
        return {}

    @property
    def trainer(self) -> BlockTrainer:
        return BlockTrainer(self.plan.texts, stops=not self.plan.whole)

    def train(
        self, ask: Ask[AnyTrial], workers: int | None, progress: Progress
    ) -> Iterator[Outcome[AnyTrial, dict[str, Any]]]:
        return self.trainer.train(ask, workers, progress)

    def wanted(self, rows: Rows) -> Sequence[AnyTrial]:
        results = {key: row.result for key, row in rows.items()}
        self._keep(results)
        return self.plan.wanted(results)

    def own(self, rows: Rows) -> Rows:
        return rows

    def _keep(self, results: Results) -> None:
        """Bring Optuna's studies level with the ledger."""
        for seed in range(self.plan.repeats):
            for kind, sequences, blocks in self.plan.rungs():
                named = (BlockTrial(kind, sequences, blocks, number, seed) for number in range(self.plan.figure.trials))
                ended = [results[trial.key] for trial in takewhile(lambda trial: trial.key in results, named)]
                name = f"{kind.in_words}, n = {kind.context}, N = {sequences}, {blocks} blocks, seed {seed}"
                self.studies.keep(name, [tried_as(kind, result) for result in ended])


def _stack(trial: AnyTrial) -> tuple[Any, ...]:
    """Names the stack that a trial is trained in."""
    place = (trial.blocks, trial.first) if isinstance(trial, BlockTrial) else ("built",)
    return (trial.kind, trial.sequences, trial.seed, *place)


def _outcomes(
    trials: list[AnyTrial], future: Future[list[dict[str, Any]]]
) -> list[tuple[AnyTrial, dict[str, Any] | Failed]]:
    """What became of each trial that was asked for.

    A stack is always trained whole: of one that was recorded in part, the rest is given.
    """
    try:
        records = future.result()
    except FAILURES as error:
        return [(trial, Failed(error)) for trial in trials]
    return [(trial, records[trial.number - trial.first if isinstance(trial, BlockTrial) else 0]) for trial in trials]
