"""Run the check of a statement and say what it shows."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rote.experiments.ledger import FailedTrial
from rote.experiments.runner import run
from rote.experiments.statement_findings import StatementFindings, statement_findings
from rote.experiments.statement_plan import StatementPlan
from rote.experiments.where import HERE
from rote.progress import SILENT, Progress


@dataclass(frozen=True)
class StatementReproduction:
    """A finished run of a statement."""

    findings: StatementFindings
    folder: Path | None
    seconds: float
    """Wall clock of this call; cells that the ledger held cost nothing."""
    trials: int
    trained: int
    """Cells and seeds that were evaluated now."""
    processor_seconds: float
    """Of all cells behind the figure."""
    failed: tuple[FailedTrial, ...] = ()

    def summary(self) -> dict[str, Any]:
        return {
            **self.findings.summary(),
            "run": str(self.folder),
            "seconds": self.seconds,
            "trials": self.trials,
            "trained_now": self.trained,
            "processor_seconds": self.processor_seconds,
            "failed": [failure.reason for failure in self.failed],
            "note": self.findings.plan.figure.note,
        }


def check_statement(
    plan: StatementPlan,
    folder: str | Path | None = None,
    *,
    workers: int | None = None,
    on: str = HERE,
    progress: Progress = SILENT,
) -> StatementReproduction:
    """Evaluate what the ledger in `folder` does not hold yet, then arrange and judge all of it; without a folder
    nothing is kept."""
    started = time.perf_counter()
    ended = run(plan, folder, workers=workers, on=on, progress=progress)
    results = {key: row.result for key, row in ended.rows.items()}
    return StatementReproduction(
        statement_findings(plan, results),
        None if folder is None else Path(folder),
        time.perf_counter() - started,
        len(ended.rows),
        ended.trained,
        sum(row.seconds for row in ended.rows.values()),
        ended.failed,
    )
