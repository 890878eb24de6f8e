"""Run the check of a statement and say what it shows."""

from __future__ import annotations

import time
from pathlib import Path

from rote.experiments.reproduction import Reproduction
from rote.experiments.runner import run
from rote.experiments.statements.findings import statement_findings
from rote.experiments.statements.plan import StatementPlan
from rote.experiments.where import HERE
from rote.progress import SILENT, Progress


def check_statement(
    plan: StatementPlan,
    folder: str | Path | None = None,
    *,
    workers: int | None = None,
    on: str = HERE,
    progress: Progress = SILENT,
) -> Reproduction:
    """Evaluate what the ledger in `folder` does not hold yet, then arrange and judge all of it."""
    where = plan.default_folder if folder is None else Path(folder)
    started = time.perf_counter()
    ended = run(plan, where, workers=workers, on=on, progress=progress)
    results = {key: row.result for key, row in ended.rows.items()}
    return Reproduction(
        findings=statement_findings(plan, results),
        folder=where,
        trials=len(ended.rows),
        trained=ended.trained,
        seconds=time.perf_counter() - started,
        processor_seconds=sum(row.seconds for row in ended.rows.values()),
        failed=ended.failed,
    )
