"""Figures about vector tasks: query attention on real vectors, its capacity searched for or its accuracy measured.

Cost: a step takes a fixed time, a time per head for its matrices (folding and Muon's orthogonalization), and a time per
number that a head computes for an example. Variable projection adds the normal equations of the readout. The constants
were fitted to the trials behind docs/mahdavi2024.md on a shared core. Expect a factor of two either way.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rote.experiments.findings import Findings
from rote.experiments.kind import FigureKind, RunChoices
from rote.experiments.runner import Rows, Schedule
from rote.experiments.vectors.schedule import VectorSchedule
from rote.experiments.vectors.search import expected_capacity
from rote.experiments.vectors.trial import VectorTrial
from rote.papers.kinds.vectors import CapacityFigure, GridFigure, SaturationFigure, VectorFigure, VectorSetting
from rote.training.protocol import EngineName
from rote.training.query_attention.protocol import VectorProtocol, protocol_for

PER_STEP = 2.6e-3
PER_HEAD = 6.5e-4
PER_HEAD_ADAM = 1.0e-4
"""Where no matrix is made orthogonal."""
PER_WEIGHT = 1.3e-8
"""For each attention weight of a shared context: a column of 65 products, softmax, and the same backward."""
PER_CONTEXT_PRODUCT = 1.0e-10
"""For each product of a head with a vector of a fresh context."""
PER_CONTEXT_NUMBER = 1.0e-9
"""For each number of a fresh context, which is read anew at every step."""
PER_GRAM_PRODUCT = 1.5e-11
PROJECTED = 1.2
"""Times what an example costs by descent: attention is computed once, and then mixed for the readout's equations."""
TRIES = 3
"""Of a search, about; the two thresholds of labels take twice as many."""


def trial_seconds(setting: VectorSetting, examples: int, protocol: VectorProtocol) -> float:
    """CPU time of one trial that takes all its steps."""
    batch = min(protocol.batch or examples, examples)
    muon = PER_HEAD * setting.head_dim / setting.dim
    heads = setting.heads * (muon if protocol.optimizer == "muon" else PER_HEAD_ADAM)
    if setting.shared:
        each = setting.heads * setting.context * PER_WEIGHT
        width = setting.heads * setting.context
    else:
        each = setting.heads * setting.dim * (6 * setting.context + 2 * setting.dim) * PER_CONTEXT_PRODUCT
        each += setting.context * setting.dim * PER_CONTEXT_NUMBER
        width = setting.heads * setting.dim
    if protocol.method == "projection":
        each = PROJECTED * each + width**2 * PER_GRAM_PRODUCT
    return protocol.steps * (PER_STEP + heads + batch * each)


def vector_cost(schedule: VectorSchedule) -> tuple[int, float]:
    """Trials and estimated CPU seconds of a schedule; searches are guessed at."""
    if isinstance(schedule.figure, CapacityFigure):
        trials, seconds = 0, 0.0
        for setting, _ in schedule.cells:
            examples = expected_capacity(setting)
            tries = TRIES if setting.classes is None else 2 * TRIES
            protocol = protocol_for(schedule.protocol, examples, None if setting.classes else 1)
            trials += tries * schedule.repeats
            seconds += tries * schedule.repeats * trial_seconds(setting, examples, protocol)
        return trials, seconds
    planned: list[VectorTrial] = schedule.trials()
    return len(planned), sum(trial_seconds(trial.setting, trial.examples, trial.protocol) for trial in planned)


def _schedule(figure: VectorFigure, choices: RunChoices) -> VectorSchedule:
    return VectorSchedule.of(figure, protocol=choices.protocol, quick=choices.quick, repeats=choices.repeats)


def _run(schedule: VectorSchedule, folder: Path, engine: EngineName) -> Schedule[Any, Any]:
    from rote.experiments.vectors.queue import VectorRun

    return VectorRun(schedule.identity, schedule.wanted)


def _findings(schedule: VectorSchedule, rows: Rows) -> Findings[VectorFigure, VectorSchedule]:
    from rote.experiments.vectors.findings import vector_findings

    return vector_findings(schedule, rows)


VECTORS = FigureKind(
    name="vector tasks",
    figures=(CapacityFigure, GridFigure, SaturationFigure),
    schedule=_schedule,
    run=_run,
    findings=_findings,
    cost=vector_cost,
    options=frozenset({"protocol"}),
)
