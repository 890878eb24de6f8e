"""Trials about #blocks as the runner requests them: in stacks, one thread per stack.

Optuna's own record of a run is `studies.sqlite` beside the ledger, one study per point and #blocks. A run resumes from
the ledger; the studies are then brought up to date with it, and can be opened with Optuna's tools.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np

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
from rote.papers.kajitsuka2025.choices import ACCURACY, MEAN_SQUARE, STEPS, WEIGHT_DECAY
from rote.papers.kinds.blocks import RandomSequences, TextSequences
from rote.progress import Progress
from rote.tasks.labelled_text import LabelledSequences, Tokenisation
from rote.training.uniform_attention.network import BlockShape
from rote.training.uniform_attention.problem import SequenceProblem
from rote.training.uniform_attention.train import LearningSetting, Schedule, train_stack


def trained_records(trial: BlockTrial, texts: str, *, stops: bool) -> list[dict[str, Any]]:
    """Train the stack that a trial belongs to, and give what is recorded of each of its networks, in order."""
    problem, shape = problem_of(trial, texts)
    labelled = problem.labels is not None
    schedule = Schedule(
        STEPS, WEIGHT_DECAY, ACCURACY if stops and labelled else None, MEAN_SQUARE if stops and not labelled else None
    )
    seeds = [
        int(np.random.SeedSequence([trial.seed, trial.blocks, number]).generate_state(1)[0])
        for number in range(trial.first, trial.first + len(trial.stack))
    ]
    settings = [LearningSetting(*proposal) for proposal in trial.stack]
    return [
        {
            "learning_rate": proposal.learning_rate,
            "warm_up": proposal.warm_up,
            "accuracy": trained.accuracy,
            "loss": _number(trained.loss),
            "final_loss": _number(trained.final_loss),
            "steps": trained.steps,
            "tokens": shape.tokens,
            "parameters": shape.parameters,
            "block_parameters": shape.block_parameters,
            "seconds": trained.seconds,
            "curve": [[step, _number(loss), accuracy] for step, loss, accuracy in trained.curve],
        }
        for proposal, trained in zip(trial.stack, train_stack(problem, shape, settings, seeds, schedule), strict=True)
    ]


def _number(value: float) -> float:
    """Five digits; a loss that is no number is kept as one that is larger than any."""
    return float(f"{value:.5g}") if math.isfinite(value) else 1e30


def problem_of(trial: BlockTrial, texts: str) -> tuple[SequenceProblem, BlockShape]:
    """The sequences of a trial, and the shape of its networks."""
    kind = trial.kind
    if isinstance(kind, RandomSequences):
        problem = random_problem(kind, trial.sequences, trial.seed)
        return problem, BlockShape(trial.blocks, kind.width, kind.inner, 1, len(problem.shares), False)
    drawn = sequences_of(kind, texts, trial.sequences, trial.seed)
    table = None
    if kind.embedding == "fixed":
        table = np.random.default_rng([trial.seed, 1]).standard_normal((kind.width, len(drawn.tokens)))
    problem = SequenceProblem.of_tokens(drawn.sequences, len(drawn.tokens), drawn.labels, table=table)
    shape = BlockShape(
        trial.blocks, kind.width, kind.inner, kind.classes, len(drawn.tokens), kind.embedding == "trained"
    )
    return problem, shape


def sequences_of(kind: TextSequences, texts: str, count: int, seed: int) -> LabelledSequences:
    return LabelledSequences.draw(Tokenisation(texts, kind.classes, kind.context, kind.words), count, seed)


def random_problem(kind: RandomSequences, sequences: int, seed: int) -> SequenceProblem:
    """Random vectors, labels +1 and -1. Of each sequence only the first token and how often each other one occurs."""
    rng = np.random.default_rng(seed)
    table = rng.standard_normal((kind.width, sequences + kind.vectors))
    shares = np.zeros((sequences + kind.vectors, sequences))
    shares[np.arange(sequences), np.arange(sequences)] = 1
    chances = np.full(kind.vectors, 1 / kind.vectors)
    shares[sequences:] = rng.multinomial(kind.context - 1, chances, size=sequences).T
    targets = rng.choice([-1.0, 1.0], sequences)
    return SequenceProblem.of_shares(shares / kind.context, np.arange(sequences), targets=targets, table=table)


def built_record(trial: BuiltTrial, texts: str) -> dict[str, Any]:
    """What Theorem 4.1's construction needs for the same sequences: in exact arithmetic, and as a model of floats."""
    from rote.constructions.build import build
    from rote.constructions.kajitsuka2025.exact import exact_memorizer
    from rote.constructions.kajitsuka2025.transformer import account

    if not isinstance(trial.kind, TextSequences):
        raise TypeError("construction: sequences of texts are built from")
    started = time.thread_time()
    drawn = sequences_of(trial.kind, texts, trial.sequences, trial.seed)
    task = drawn.task()
    exact = exact_memorizer(task, "lean", ordered=False)
    built = build(task, method="kajitsuka2025.theorem4_1", ordered=False)
    return {
        "exact": {**account(exact.transformer, drawn.labels).summary(), "recalled": exact.recalled(task)},
        "float": {
            **built.certificate.measured,
            "recalled": built.certificate.recalled,
            "dtype": built.certificate.dtype,
        },
        "seconds": time.thread_time() - started,
    }


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
            return [built_record(first, self.texts)]
        records = trained_records(first, self.texts, stops=self.stops)
        return [records[trial.number - trial.first] for trial in trials if isinstance(trial, BlockTrial)]


@dataclass
class BlockRun:
    """The trials of a schedule, and Optuna's studies of them beside the ledger."""

    schedule: BlockSchedule
    studies: Studies = field(default_factory=lambda: Studies(None))

    about: dict[str, Any] = field(default_factory=dict)
    adaptive = True

    @classmethod
    def into(cls, schedule: BlockSchedule, folder: Path) -> BlockRun:
        return cls(schedule, Studies(folder))

    @property
    def identity(self) -> dict[str, Any]:
        return self.schedule.identity

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
    place = (trial.blocks, trial.first) if isinstance(trial, BlockTrial) else ("built",)
    return (trial.kind, trial.sequences, trial.seed, *place)
