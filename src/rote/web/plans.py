"""The rows of `rote plan` for the facts of a page, computed in the queue: some methods are built to learn it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from rote.errors import RoteError
from rote.experiments.sizing.built import built_rows
from rote.experiments.sizing.plan import plan_rows
from rote.experiments.sizing.row import PlanRow, Section
from rote.models.attention_only import AttentionOnly
from rote.models.spec import Dtype
from rote.progress import Progress
from rote.tasks import require_tokens
from rote.tasks.facts import facts, facts_in
from rote.web.facts_choice import Tables
from rote.web.jobs import Busy, JobProgress
from rote.web.planner import PlannerState
from rote.web.workers import Workers

HEADINGS: dict[Section, str] = {
    "builds": "what building ends in",
    "estimates": "estimates: only building tells",
    "orders": "orders of growth and estimates, which no method builds",
    "rejected": "cannot hold them",
    "no model": "without a model",
}


@dataclass(frozen=True)
class ShownPlan:
    """A plan, or its progress."""

    rows: Sequence[PlanRow] = ()
    progress: JobProgress | None = None
    """Progress, while it is being computed."""
    problem: str = ""
    waiting: bool = False
    """Whether to reload."""

    def sections(self) -> list[tuple[str, list[PlanRow]]]:
        """Rows by section, in the order of the plan."""
        grouped = [(HEADINGS[name], [row for row in self.rows if row.section == name]) for name in get_args(Section)]
        return [(heading, rows) for heading, rows in grouped if rows]

    def in_short(self) -> list[tuple[str, PlanRow]]:
        """The few rows that answer how small a model can be."""
        sized = sorted((row for row in self.rows if row.bytes is not None), key=lambda row: row.bytes or 0)
        exact = [row for row in sized if row.section == "builds" and not row.note]
        picked = {
            "nothing is smaller than": [row for row in sized if row.kind == "limit"],
            "smallest model that builds": exact,
            "smallest attention-only model that builds": [
                row for row in exact if (row.spec or {}).get("architecture") == AttentionOnly.architecture
            ],
            "keys and answers at their entropy": [row for row in sized if row.id == "entropy"],
            "a zip of the facts": [row for row in sized if row.id == "zip"],
        }
        return [(name, rows[0]) for name, rows in picked.items() if rows]


def plan_of(state: PlannerState, tables: Tables, workers: Workers, wait: float = 0.0) -> ShownPlan | None:
    """The plan for the facts of a state, or its progress; None where the facts themselves are not available."""
    choice, dtype = state.facts, state.dtype
    dropped = tables.table(choice.digest) if choice.kind == "table" else None
    if choice.kind == "none" or (choice.kind == "table" and dropped is None):
        return None
    key = ("plan", choice.kind, choice.name, choice.digest, dtype)
    source, data = (source_of(choice.name), None) if dropped is None else (choice.name, dropped.data)
    try:
        found = workers.result(key, f"the plan of {choice.name}", "plan", source, data, dtype, wait)
    except RoteError as error:
        return ShownPlan(problem=str(error), waiting=isinstance(error, Busy))
    return ShownPlan(progress=found, waiting=True) if isinstance(found, JobProgress) else ShownPlan(found)


def source_of(name: str) -> str:
    """The facts that are planned for a named source."""
    return name


def planned_rows(source: str, data: bytes | None, dtype: Dtype | None, progress: Progress) -> Sequence[PlanRow]:
    """The rows of `rote plan`, for a named source or for the bytes of a table."""
    found = facts(source) if data is None else facts_in(data, source)
    task = require_tokens(found, "plans are for token tasks")
    return plan_rows(task, dtype, built_rows(task, dtype, progress=progress))
