"""Figures about look-up tables: models trained on random tables of all contexts.

A trial is named by its cell (specification and protocol) and its seed; seed s trains on the random table of seed s
from the initial weights of seed s.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rote.experiments.files import write_curves
from rote.experiments.findings import Findings
from rote.experiments.kind import FigureKind, RunChoices
from rote.experiments.ledgers.ledger import TrialRow
from rote.experiments.lookups.cost import lookup_cost
from rote.experiments.lookups.schedule import LookupSchedule
from rote.experiments.runner import Rows, Schedule
from rote.papers.kinds.lookups import LookupFigure
from rote.training.protocol import EngineName


def _schedule(figure: LookupFigure, choices: RunChoices) -> LookupSchedule:
    return LookupSchedule.of(
        figure, protocol=choices.protocol, quick=choices.quick, repeats=choices.repeats, variant=choices.variant,
        positions=choices.positions,
    )  # fmt: skip


def _run(schedule: LookupSchedule, folder: Path, engine: EngineName) -> Schedule[Any, Any]:
    from rote.experiments.lookups.training import lookup_trials

    return lookup_trials(schedule, engine)


def _findings(schedule: LookupSchedule, rows: Rows) -> Findings[LookupFigure, LookupSchedule]:
    from rote.experiments.lookups.findings import lookup_findings

    return lookup_findings(schedule, rows)


def _write_curves(folder: Path, rows: Sequence[TrialRow]) -> Path:
    return write_curves(folder / "curves.parquet", rows)


LOOKUPS = FigureKind(
    name="look-up tables",
    figures=(LookupFigure,),
    schedule=_schedule,
    run=_run,
    findings=_findings,
    cost=lookup_cost,
    options=frozenset({"protocol", "variant", "positions", "part"}),
    written=_write_curves,
)
