"""The meter as a run: dataset sizes around the plateau, seeds, a search for the rate, more steps, one ledger.

A module holds what it is offered until it is full, so held bits against offered bits rise along the diagonal, bend, and
fall under overload. The reading is the largest mean over seeds (`strings`), or what models that recall everything hold
(`facts`). Its interval comes from how much seeds differ at all loads; three lengths of training at the best load say
what still more steps would add.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from rote import __version__
from rote.arguments import typed
from rote.errors import CheckFailed, InputError
from rote.experiments.ledger import Ledger
from rote.experiments.meter_points import PointTrainer, PointTrial
from rote.experiments.where import HERE, Where, where
from rote.lm.language_model import ParameterCount, count_parameters
from rote.lm.meter.point import Point
from rote.lm.meter.strings import StringShape
from rote.lm.meter.subjects import Sizes, Subject, check_causal, subject
from rote.progress import SILENT, Progress
from rote.training.failure import Failed

MeterProtocol = Literal["strings", "facts"]
FORMAT = 1
"""Raised when points of the same name would come out otherwise."""
RATES = (0.025, 0.05, 0.1, 0.2, 0.4)
SEARCH_STEPS = 0.1
"""Steps of the search for the rate, as a share."""
LOADS: dict[MeterProtocol, tuple[float, ...]] = {
    "strings": (2.3, 2.9, 3.4),
    "facts": (1.0, 1.5, 2.0, 2.5),
}
"""Bits offered per parameter."""
CONVERGED = 0.02
"""Training is called converged when twice the steps add less than this share."""


@dataclass(frozen=True)
class Reading:
    """What the meter says of a subject."""

    name: str
    protocol: MeterProtocol
    shape: StringShape
    parameters: ParameterCount
    points: tuple[Point, ...]
    """The points of full training, all loads and seeds."""
    shorter: tuple[Point, ...]
    """Points at the best load after half and a quarter of the steps."""
    rate: float
    trained: int
    """Points trained now; the others were in the ledger."""

    def at(self, strings: int) -> list[Point]:
        return [point for point in self.points if point.strings == strings]

    @property
    def sizes(self) -> list[int]:
        return sorted({point.strings for point in self.points})

    def mean(self, strings: int) -> float:
        """Mean bits held per parameter at one size."""
        return fmean(point.held for point in self.at(strings)) / self.parameters.total

    @property
    def best(self) -> int | None:
        """The size at which most is held; for facts, the largest at which every seed recalls everything."""
        if self.protocol == "strings":
            return max(self.sizes, key=self.mean)
        whole = [size for size in self.sizes if all(point.complete for point in self.at(size))]
        return max(whole) if whole else None

    @property
    def bits_per_parameter(self) -> float | None:
        return None if self.best is None else self.mean(self.best)

    @property
    def without_embeddings(self) -> float | None:
        held = self.bits_per_parameter
        return None if held is None else held * self.parameters.total / self.parameters.rest

    @property
    def half_width(self) -> float:
        """Half of the 95 % interval of the mean: seeds' variance pooled over the sizes, by Student's t."""
        from scipy.stats import t

        squares, freedom = 0.0, 0
        for size in self.sizes:
            held = [point.held / self.parameters.total for point in self.at(size)]
            squares += sum((value - fmean(held)) ** 2 for value in held)
            freedom += len(held) - 1
        if freedom == 0 or self.best is None:
            return math.nan
        seeds = len(self.at(self.best))
        return float(t.ppf(0.975, freedom)) * math.sqrt(squares / freedom / seeds)

    @property
    def by_steps(self) -> list[tuple[int, float]]:
        """Bits per parameter at the best size after each length of training, over the seeds that had all lengths."""
        if self.best is None or not self.shorter:
            return []
        seeds = {point.seed for point in self.shorter}
        chosen = [*self.shorter, *(point for point in self.at(self.best) if point.seed in seeds)]
        return [
            (steps, fmean(point.held for point in chosen if point.steps == steps) / self.parameters.total)
            for steps in sorted({point.steps for point in chosen})
        ]

    @property
    def gain_of_twice(self) -> float:
        """What the last doubling of the steps added, as a share."""
        by_steps = self.by_steps
        return by_steps[-1][1] / by_steps[-2][1] - 1 if len(by_steps) > 1 and by_steps[-2][1] else math.nan

    @property
    def extrapolated(self) -> float:
        """Bits per parameter after endless steps, if every doubling adds the same share of what the last one did."""
        if len(self.by_steps) < 3:
            return math.nan
        first, second, last = (held for _, held in self.by_steps[-3:])
        before, after = second - first, last - second
        if not 0 < after < before:
            return last if after <= 0 else math.nan
        return last + after**2 / (before - after)

    @property
    def converged(self) -> bool:
        return self.gain_of_twice < CONVERGED

    @property
    def check_holds(self) -> bool:
        return all(point.fresh_is_nothing for point in self.points)

    def summary(self) -> dict[str, Any]:
        """The numbers, by the names the command line prints."""
        held = self.bits_per_parameter
        return {
            "model": self.name,
            "protocol": self.protocol,
            "parameters": self.parameters.total,
            "embedding_parameters": self.parameters.embeddings,
            "vocab": self.shape.vocab,
            "key": self.shape.key,
            "counted": self.shape.counted,
            "rate": self.rate,
            "bits_per_parameter": held,
            "half_width": self.half_width,
            "without_embeddings": self.without_embeddings,
            "by_steps": [list(pair) for pair in self.by_steps],
            "extrapolated": self.extrapolated,
            "converged": self.converged,
            "largest_fresh_gain": max(point.fresh_gain for point in self.points),
            "check_holds": self.check_holds,
            "points": [point.summary() for point in self.points],
            "trained_now": self.trained,
        }


@typed
def meter(
    model: str,
    sizes: Sizes | None = None,
    *,
    protocol: MeterProtocol = "strings",
    vocab: int = 64,
    key: int = 2,
    loads: Sequence[float] | None = None,
    steps: int = 3000,
    seeds: int = 2,
    rate: float | None = None,
    folder: str | Path | None = None,
    workers: int | None = None,
    on: str = HERE,
    progress: Progress = SILENT,
) -> Reading:
    """How many bits per parameter `model` (see `rote.lm.meter.subjects`) can be made to hold.

    `loads` are bits offered per parameter. The peak rate is searched for on short runs unless `rate` is given. With a
    folder every point is kept in its ledger when it ends, so that a run that was cut short goes on. `on` says where
    points are trained: `here`, `ray`, or the address of a Ray cluster.

    >>> import rote
    >>> reading = rote.meter("gpt2", vocab=8, loads=[0.3], steps=8, seeds=1, rate=0.003, workers=1)
    >>> reading.parameters.total > 0
    True
    """
    shape = StringShape(vocab, key, 14 if protocol == "strings" else 1)
    chosen = tuple(sorted(set(LOADS[protocol] if loads is None else loads)))
    _refuse(chosen, steps, seeds, rate)
    made = subject(model, sizes or Sizes(), shape)
    check_causal(made, shape)
    counted = count_parameters(made.make())
    identity = {
        "kind": "meter", "format": FORMAT, "subject": made.identity, "protocol": protocol, "vocab": vocab, "key": key,
    }  # fmt: skip
    about = {"rote": __version__, "machine": platform.machine(), "python": platform.python_version()}
    numbers = [shape.strings_of(load * counted.total) for load in chosen]
    with Ledger.open(folder, identity, about) as ledger:
        trainer = PointTrainer(model, sizes or Sizes(), shape)
        bench = _Bench(trainer, made, ledger, where(on, workers), progress)
        peak = rate if rate is not None else _best_rate(bench, numbers[len(numbers) // 2], steps)
        keys = [PointTrial(number, steps, peak, seed) for number in numbers for seed in range(seeds)]
        points = bench.points("held against offered bits", keys)
        first = Reading(made.name, protocol, shape, counted, tuple(points), (), peak, bench.trained)
        shorter: list[Point] = []
        if first.best is not None:
            fewer = [PointTrial(first.best, max(1, steps // part), peak, 0) for part in (2, 4)]
            shorter = bench.points("fewer steps", fewer)
    return Reading(made.name, protocol, shape, counted, tuple(points), tuple(shorter), peak, bench.trained)


def _refuse(loads: Sequence[float], steps: int, seeds: int, rate: float | None) -> None:
    from rote.errors import problems

    refused = []
    if not loads or min(loads) <= 0 or not all(map(math.isfinite, loads)):
        refused.append(f"`load`: bits offered per parameter are positive, given {list(loads)}")
    if steps < 8:
        refused.append(f"`steps`: {steps} steps train nothing; give at least 8")
    if seeds < 1:
        refused.append(f"`seeds`: {seeds} seeds are none; give at least 1")
    if rate is not None and not 0 < rate < math.inf:
        refused.append(f"`rate`: {rate} is no positive number")
    if refused:
        raise problems("meter", refused)


def _best_rate(bench: _Bench, strings: int, steps: int) -> float:
    """Climb from the middle rate to its better neighbour, and stop where neither is better."""
    short = max(8, round(SEARCH_STEPS * steps))

    def held(places: Iterable[int]) -> dict[int, float]:
        keys = [PointTrial(strings, short, RATES[place], 0) for place in places]
        points = bench.points("searching the rate", keys)
        return {RATES.index(point.rate): point.held for point in points}

    middle = len(RATES) // 2
    tried = held([middle - 1, middle, middle + 1])
    while True:
        best = max(tried, key=lambda place: tried[place])
        missing = [place for place in (best - 1, best + 1) if 0 <= place < len(RATES) and place not in tried]
        if not missing:
            break
        tried |= held(missing)
    if tried[best] <= 0:
        raise InputError(f"{bench.subject.name}: holds nothing after {short} steps at any rate; give more `steps`")
    return RATES[best]


class _Bench:
    """Has points trained, and keeps them in the ledger."""

    def __init__(self, trainer: PointTrainer, made: Subject, ledger: Ledger, where: Where, progress: Progress) -> None:
        self.subject, self.trained = made, 0
        self._trainer, self._where, self._ledger, self._progress = trainer, where, ledger, progress
        self._known = {PointTrial(**row.cell, seed=row.seed): Point(**row.result) for row in ledger.rows()}

    def points(self, what: str, trials: Sequence[PointTrial]) -> list[Point]:
        """The points of these trials, without those that failed."""
        failed: dict[PointTrial, Failed] = {}

        def missing() -> list[PointTrial]:
            return [trial for trial in dict.fromkeys(trials) if trial not in self._known and trial not in failed]

        with self._progress.stage(what, len(trials)) as stage:
            stage.advance(len(trials) - len(missing()))
            for trial, point, seconds in self._where.run(self._trainer, missing, False, SILENT):
                stage.advance()
                if isinstance(point, Failed):
                    failed[trial] = point
                    self._ledger.record_failure(trial.key, point.reason)
                    continue
                self._known[trial] = point
                self._ledger.record(trial.cell, trial.seed, point.summary(), seconds)
                self.trained += 1
        if failed and not any(trial in self._known for trial in trials):
            raise CheckFailed(f"none of {len(failed)} points ended; {next(iter(failed.values())).reason}")
        return [self._known[trial] for trial in trials if trial in self._known]
