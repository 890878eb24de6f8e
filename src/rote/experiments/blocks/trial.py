"""A planned trial of F2 . uniform attention . F1 (sequences, #blocks, number within its search) and its record.

The setting that a trial is trained with (learning rate, warm-up) is proposed by Optuna, one batch at a time, as a pure
function of the trials that ended and of a seed. So the number names the setting, and an interrupted run resumes with
the proposals that it would have made. Seed s draws the sequences; s, #blocks and the number draw the initial weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any, NamedTuple

from rote.errors import InputError
from rote.experiments.ledgers.ledger import TrialKey
from rote.experiments.trial import Trial, record_of
from rote.papers.kajitsuka2025.choices import ACCURACY, BATCH, LEARNING_RATES, MEAN_SQUARE, WARM_UPS
from rote.papers.kinds.blocks import RandomSequences, Sequences
from rote.version import pip_install


class Proposal(NamedTuple):
    """What a search chooses for one network."""

    learning_rate: float
    warm_up: int


class Tried(NamedTuple):
    """A proposal and what came of it: accuracy, or minus the error."""

    proposal: Proposal
    value: float


@cache
def proposals(earlier: tuple[Tried, ...], count: int, seed: int) -> tuple[Proposal, ...]:
    """So many settings, knowing what came of earlier ones; the first batch is random."""
    optuna = tuner()
    sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=BATCH, constant_liar=True)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    study.add_trials([frozen(tried) for tried in earlier])
    asked = [study.ask(distributions()).params for _ in range(count)]
    return tuple(Proposal(params["learning_rate"], params["warm_up"]) for params in asked)


def frozen(tried: Tried) -> Any:
    """A trial that ended, as Optuna keeps it."""
    return tuner().trial.create_trial(params=tried.proposal._asdict(), distributions=distributions(), value=tried.value)


def distributions() -> dict[str, Any]:
    """Where settings are looked for."""
    found = tuner().distributions
    return {
        "learning_rate": found.FloatDistribution(*LEARNING_RATES, log=True),
        "warm_up": found.IntDistribution(*WARM_UPS),
    }


def tuner() -> Any:
    """Optuna, silent: the run tells its own progress."""
    try:
        import optuna
    except ImportError:
        raise InputError(f"the package optuna is not installed; {pip_install('tune')}") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


@dataclass(frozen=True)
class BlockTrial(Trial):
    """One network of a stack that is trained at once. Trials of equal content are one trial."""

    kind: Sequences
    sequences: int
    blocks: int
    number: int
    seed: int
    stack: tuple[Proposal, ...] = field(default=(), compare=False)
    """Settings of all trials that are trained with it, from number `first` on."""
    first: int = field(default=0, compare=False)

    @property
    def cell(self) -> dict[str, Any]:
        return {
            "kind": {"name": type(self.kind).__name__, **asdict(self.kind)},
            "sequences": self.sequences,
            "blocks": self.blocks,
            "trial": self.number,
        }


@dataclass(frozen=True)
class BuiltTrial(Trial):
    """The constructions of Theorem 4.1 on the same sequences, weights computed and not trained."""

    kind: Sequences
    sequences: int
    seed: int

    @property
    def cell(self) -> dict[str, Any]:
        return {
            "kind": {"name": type(self.kind).__name__, **asdict(self.kind)},
            "sequences": self.sequences,
            "built": "kajitsuka2025.theorem4_1",
        }


AnyTrial = BlockTrial | BuiltTrial


@dataclass(frozen=True)
class BlockResult:
    learning_rate: float
    warm_up: int
    accuracy: float | None
    """The highest on the way; None for real targets."""
    loss: float
    """The least on the way."""
    parameters: int
    seconds: float
    """CPU time."""
    curve: tuple[tuple[int, float, float | None], ...]
    """(step, loss, accuracy)."""

    @classmethod
    def of(cls, result: Mapping[str, Any]) -> BlockResult:
        return record_of(cls, result, curve=tuple((step, loss, share) for step, loss, share in result["curve"]))

    def recalled(self, kind: Sequences) -> bool:
        """Whether the error fell below 0.01."""
        return self.loss < MEAN_SQUARE if isinstance(kind, RandomSequences) else self.score(kind) > ACCURACY

    def score(self, kind: Sequences) -> float:
        """Larger is better: the accuracy, or minus the error of real targets."""
        return -self.loss if isinstance(kind, RandomSequences) else self.accuracy or 0.0


@dataclass(frozen=True)
class BuiltResult:
    """The constructions on the same sequences: what each took, as the ledger keeps it."""

    accounts: dict[str, Any]


Results = Mapping[TrialKey, BlockResult | BuiltResult]
"""Ended trials by their key."""


def block_result(result: dict[str, Any]) -> BlockResult | BuiltResult:
    """The record of a ledger's row, of whichever kind it is."""
    return BuiltResult(result) if "exact" in result else BlockResult.of(result)


def trained_result(results: Results, trial: BlockTrial) -> BlockResult:
    found = results[trial.key]
    if not isinstance(found, BlockResult):
        raise TypeError("a trial about #blocks names no construction")
    return found
