"""Run the trials of a figure about look-up tables and say what they show; each is in the ledger when it ends.

A trial is named by its cell (specification and protocol) and its seed; seed s trains on the random look-up of seed s
from the initial weights of seed s. A run that was killed goes on where it stopped.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from rote.experiments.executor import HERE
from rote.experiments.files import write_curves
from rote.experiments.ledgers.ledger import Ledger
from rote.experiments.lookups.findings import findings_of
from rote.experiments.lookups.plan import FigurePlan
from rote.experiments.part import RunPart
from rote.experiments.reproduction import Reproduction
from rote.experiments.runner import RunRows, run
from rote.experiments.token_schedule import RandomTables, TokenSchedule, training_record
from rote.progress import SILENT, Progress
from rote.tasks import AssociationTask
from rote.training.result import Trained
from rote.training.trials import EngineName

CURVE_POINTS = 50
"""Points of a loss curve that the ledger keeps, about: enough to draw it, few beside a trial's other numbers."""


def reproduce_tables(
    plan: FigurePlan,
    folder: str | Path | None = None,
    *,
    workers: int | None = None,
    engine: EngineName = "auto",
    on: str = HERE,
    progress: Progress = SILENT,
) -> Reproduction:
    """Train what the ledger in `folder` does not hold yet, then arrange and judge all of it."""
    folder = plan.default_folder if folder is None else Path(folder)
    began = time.perf_counter()
    ended = run(_trials(plan, engine), folder, workers=workers, on=on, progress=progress)
    # Figures of one experiment share a run: the curves are those of all its trials.
    write_curves(folder / "curves.parquet", Ledger.read(folder)[1])
    return Reproduction(
        findings=findings_of(plan, ended.rows),
        folder=folder,
        trials=len(ended.rows),
        trained=ended.trained,
        seconds=time.perf_counter() - began,
        processor_seconds=sum(row.seconds for row in ended.rows.values()),
        engines=tuple(sorted({row.result["engine"] for row in ended.rows.values()})),
        failed=ended.failed,
    )


def reproduce_part(
    plan: FigurePlan,
    part: str,
    folder: Path,
    *,
    workers: int | None = None,
    engine: EngineName = "auto",
    on: str = HERE,
    progress: Progress = SILENT,
) -> RunRows:
    """Train one part of a figure's trials (`1/2`); `rote.experiments.runs.merge` puts the parts together."""
    return run(_trials(plan, engine), folder, workers=workers, on=on, part=RunPart.read(part), progress=progress)


def _trials(plan: FigurePlan, engine: EngineName) -> TokenSchedule[AssociationTask]:
    return TokenSchedule(plan.identity, plan.trials(), RandomTables(), _recorded, engine=engine)


def _recorded(trained: Trained, task: AssociationTask) -> dict[str, Any]:
    stride = max(1, len(trained.curve) // CURVE_POINTS)
    curve = [[int(step), float(f"{loss:.5g}")] for step, loss in trained.curve[::stride].tolist()]
    return {**training_record(trained), "published_accuracy": trained.published_accuracy, "curve": curve}
