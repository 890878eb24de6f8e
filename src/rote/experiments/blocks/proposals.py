"""Settings to try, proposed by Optuna: learning rate and warm-up, a batch at a time.

What is proposed is a pure function of the trials that ended and of a seed, so that a run that was killed goes on with
the proposals that it would have made.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from rote.errors import InputError
from rote.papers.kajitsuka2025.choices import BATCH, LEARNING_RATES, WARM_UPS
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
