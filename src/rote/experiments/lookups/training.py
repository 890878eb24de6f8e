"""The trials of a figure about look-up tables as the runner asks for them, and what the ledger keeps of each."""

from __future__ import annotations

from typing import Any

from rote.experiments.lookups.schedule import LookupSchedule
from rote.experiments.token_schedule import RandomTables, TokenSchedule, training_record
from rote.tasks import AssociationTask
from rote.training.protocol import EngineName
from rote.training.result import Trained

CURVE_POINTS = 50
"""Points of a loss curve that the ledger keeps, about: enough to draw it, few beside a trial's other numbers."""


def lookup_trials(schedule: LookupSchedule, engine: EngineName) -> TokenSchedule[AssociationTask]:
    return TokenSchedule(schedule.identity, schedule.trials(), RandomTables(), _recorded, engine=engine)


def _recorded(trained: Trained, task: AssociationTask) -> dict[str, Any]:
    stride = max(1, len(trained.curve) // CURVE_POINTS)
    curve = [[int(step), float(f"{loss:.5g}")] for step, loss in trained.curve[::stride].tolist()]
    return {**training_record(trained), "published_accuracy": trained.published_accuracy, "curve": curve}
