"""Figures about vector tasks: query attention on real vectors, its capacity searched for or its accuracy measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rote.experiments.findings import Findings
from rote.experiments.kind import FigureKind, RunChoices
from rote.experiments.runner import Rows, Schedule
from rote.experiments.vectors.cost import vector_cost
from rote.experiments.vectors.schedule import VectorSchedule
from rote.papers.kinds.vectors import CapacityFigure, GridFigure, SaturationFigure, VectorFigure
from rote.training.protocol import EngineName


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
