"""The capacity of a language model as a run: a search for the learning rate, loads around the plateau, fewer steps.

A model holds all offered bits until it is full. So held against offered bits rise along the diagonal, bend, and fall
under overload. The estimate is the largest mean over seeds (`strings`), or what models with full recall hold
(`facts`). Its interval comes from the spread between seeds at all loads. Three shorter trainings at the best load show
how much more steps would add.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rote.arguments import typed
from rote.errors import InputError
from rote.experiments.executor import HERE
from rote.experiments.ledgers.ledger import Ledger
from rote.experiments.lm_capacity.points import PointTrainer, PointTrial
from rote.experiments.lm_capacity.reading import LmCapacity, MeterProtocol
from rote.experiments.runner import TrialList, run, run_ledger
from rote.lm.capacity.lora import Base, Lora, adapted_subject, lora_parameters
from rote.lm.capacity.point import LmCapacityPoint, trained_parameters
from rote.lm.capacity.strings import StringShape
from rote.lm.capacity.subjects import LmSizes, check_causal
from rote.lm.lora import Modules
from rote.progress import SILENT, Progress

FORMAT = 3
"""Increased when points of the same name would give other results; older runs are then not resumed."""
RATES = (0.025, 0.05, 0.1, 0.2, 0.4)
SEARCH_STEPS = 0.25
"""Steps of the search for the learning rate, as a fraction of the full training."""
BETTER_RATE = 1.01
"""Factor by which another rate must hold more to replace the best, about the spread between seeds."""
LOADS: dict[MeterProtocol, tuple[float, ...]] = {
    "strings": (2.5, 2.9, 3.3),
    "facts": (1.0, 1.5, 2.0, 2.5),
}
"""Bits offered per parameter."""
LORA_LOADS = (1.5, 2.0, 2.6)
FEWER = (2, 4, 8)
"""Divisors of the steps for the shorter trainings."""
WIDER = 1.18
"""Ratio between the next load and the outermost one, if that one holds most."""
WIDENED = 4
"""Largest number of further loads."""


@typed
def lm_capacity(
    model: str,
    sizes: LmSizes | None = None,
    *,
    protocol: MeterProtocol = "strings",
    vocab: int = 64,
    key: int = 2,
    loads: Sequence[float] | None = None,
    steps: int = 4000,
    seeds: int = 2,
    rate: float | None = None,
    fewer: Sequence[int] = FEWER,
    lora: int | None = None,
    modules: Modules = "all",
    base: Base = "trained",
    folder: str | Path | None = None,
    workers: int | None = None,
    on: str = HERE,
    progress: Progress = SILENT,
) -> LmCapacity:
    """The number of bits per parameter that `model` (see `rote.lm.capacity.subjects`) can be trained to hold.

    `loads` are bits offered per parameter. Default: increased or decreased until the best load has a worse neighbour
    on each side. The peak learning rate is found by short trainings unless `rate` is given. `fewer` are divisors of the
    steps for shorter trainings, which show how much more steps would add. With a folder, every point is recorded in its
    ledger when it ends, so an interrupted run resumes. `on` names the executor: `here`, `ray`, or the address of a Ray
    cluster.

    `lora` freezes the model and trains adapters of this rank on its `modules`; bits are then per number of A and B.
    `base` is what is frozen: weights trained on other strings, or random ones.

    >>> import rote
    >>> reading = rote.lm_capacity("gpt2", vocab=8, loads=[0.3], steps=8, seeds=1, rate=0.003, workers=1)
    >>> reading.parameters.total > 0
    True
    """
    shape = StringShape(vocab, key, 14 if protocol == "strings" else 1)
    adapters = None if lora is None else Lora(lora, modules, base)
    usual = LOADS[protocol] if adapters is None else LORA_LOADS
    chosen = tuple(sorted(set(usual if loads is None else loads)))
    _refuse(chosen, steps, seeds, rate)
    made = adapted_subject(model, sizes or LmSizes(), shape, adapters)
    check_causal(made, shape)
    counted = trained_parameters(made.make())
    effective = None if adapters is None else lora_parameters(model, sizes or LmSizes(), shape, adapters)
    identity = {
        "kind": "meter", "format": FORMAT, "subject": made.identity, "protocol": protocol, "vocab": vocab, "key": key,
    }  # fmt: skip
    numbers = [shape.strings_of(load * counted.total) for load in chosen]
    with run_ledger(folder, identity) as ledger:
        measured = _Measured(PointTrainer(model, sizes or LmSizes(), shape, adapters), ledger, on, workers, progress)
        peak = rate if rate is not None else _best_rate(measured, made.name, numbers[len(numbers) // 2], steps)

        def reading_of(sizes: Sequence[int]) -> LmCapacity:
            trials = [PointTrial(number, steps, peak, seed) for number in sizes for seed in range(seeds)]
            points = measured.points("held against offered bits", trials)
            return LmCapacity(made.name, protocol, shape, counted, points, (), peak, measured.trained, effective)

        reading = reading_of(numbers)
        for _ in range(0 if loads is not None else WIDENED):
            wider = _wider(reading)
            if wider is None:
                break
            numbers = [*numbers, wider]
            reading = reading_of(numbers)
        shorter: tuple[LmCapacityPoint, ...] = ()
        if reading.best is not None:
            lengths = [max(1, steps // part) for part in fewer]
            trials = [PointTrial(reading.best, length, peak, seed) for length in lengths for seed in range(seeds)]
            shorter = measured.points("fewer steps", trials)
    return replace(reading, shorter=shorter, trained=measured.trained)


@dataclass
class _Measured:
    """Measures points into one ledger: each stage of the search is a schedule of the runner."""

    trainer: PointTrainer
    ledger: Ledger
    on: str
    workers: int | None
    progress: Progress
    trained: int = 0

    def points(self, stage: str, trials: Sequence[PointTrial]) -> tuple[LmCapacityPoint, ...]:
        """The points of these trials, without those that failed."""
        schedule = TrialList(trials, replace(self.trainer, stage=stage))
        ran = run(
            schedule,
            self.ledger,
            workers=self.workers,
            on=self.on,
            progress=self.progress,
            record=LmCapacityPoint.summary,
        )
        self.trained += ran.trained
        return tuple(LmCapacityPoint(**ran.rows[trial.key].result) for trial in trials if trial.key in ran.rows)


def _wider(reading: LmCapacity) -> int | None:
    """The next size on the side where the plateau may continue; None if it is bracketed or keys run out."""
    keys = reading.shape.vocab**reading.shape.key
    if reading.bracketed:
        return None
    if reading.best == reading.sizes[-1]:
        next_size = math.ceil(reading.sizes[-1] * WIDER)
        return next_size if next_size <= keys else None
    next_size = math.floor(reading.sizes[0] / WIDER)
    return next_size if next_size >= 1 else None


def _refuse(loads: Sequence[float], steps: int, seeds: int, rate: float | None) -> None:
    from rote.errors import problems

    refused = []
    if not loads or min(loads) <= 0 or not all(map(math.isfinite, loads)):
        refused.append(f"`load`: bits offered per parameter must be positive, given {list(loads)}")
    if steps < 8:
        refused.append(f"`steps`: {steps} steps are too few; give at least 8")
    if seeds < 1:
        refused.append(f"`seeds={seeds}`: must be at least 1")
    if rate is not None and not 0 < rate < math.inf:
        refused.append(f"`rate={rate}`: must be a positive number")
    if refused:
        raise problems("lm_capacity", refused)


def _best_rate(measured: _Measured, name: str, strings: int, steps: int) -> float:
    """The best learning rate, by climbing from the middle one until neither neighbour is better."""
    short = max(8, round(SEARCH_STEPS * steps))

    def held(places: Sequence[int]) -> dict[int, float]:
        trials = [PointTrial(strings, short, RATES[place], 0) for place in places]
        points = measured.points("searching the learning rate", trials)
        # A rate at which training fails holds nothing.
        return dict.fromkeys(places, -math.inf) | {RATES.index(point.rate): point.held for point in points}

    best = len(RATES) // 2
    tried = held([best - 1, best, best + 1])
    while True:
        top = max(tried, key=lambda place: tried[place])
        best = top if tried[top] > BETTER_RATE * tried[best] else best
        missing = [place for place in (best - 1, best + 1) if 0 <= place < len(RATES) and place not in tried]
        if not missing:
            break
        tried |= held(missing)
    if tried[best] <= 0:
        raise InputError(f"{name}: holds nothing after {short} steps at any rate; give more `steps`")
    return RATES[best]
