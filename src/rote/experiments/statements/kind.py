"""Statements of a paper, and studies of open questions: named numbers in every cell of a grid."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rote.experiments.findings import Findings
from rote.experiments.kind import FigureKind, RunChoices
from rote.experiments.runner import Rows, Schedule
from rote.experiments.statements.schedule import StatementSchedule
from rote.papers.kinds.statements import Statement, Study
from rote.training.protocol import EngineName


def _schedule(figure: Statement, choices: RunChoices) -> StatementSchedule:
    return StatementSchedule.of(figure, quick=choices.quick, repeats=choices.repeats)


def _run(schedule: StatementSchedule, folder: Path, engine: EngineName) -> Schedule[Any, Any]:
    from rote.experiments.runner import ListedTrials
    from rote.experiments.statements.measures import measured_record

    return ListedTrials(schedule.identity, [trial for _, trial in schedule.trials()], measured_record)


def _cost(schedule: StatementSchedule) -> tuple[int, float]:
    """Trials, and CPU seconds as measured."""
    figure = schedule.figure
    return len(schedule.trials()), figure.quick_seconds if schedule.quick else figure.seconds


def _findings(schedule: StatementSchedule, rows: Rows) -> Findings[Statement, StatementSchedule]:
    from rote.experiments.statements.findings import statement_findings

    return statement_findings(schedule, rows)


STATEMENTS = FigureKind(
    name="statements",
    figures=(Statement, Study),
    schedule=_schedule,
    run=_run,
    findings=_findings,
    cost=_cost,
)
