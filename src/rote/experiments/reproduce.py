"""Run the trials of a published figure, of whichever kind, and say what they show.

Each trial is committed to the run's ledger when it ends; a run that was killed goes on where it stopped.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from rote.experiments.blocks.plan import BlockPlan
from rote.experiments.blocks.queue import BlockRun
from rote.experiments.executor import HERE
from rote.experiments.lookups.plan import FigurePlan
from rote.experiments.lookups.reproduce import reproduce_tables
from rote.experiments.planned import AnyPlan, RunChoices
from rote.experiments.reproduction import Reproduction, arranged
from rote.experiments.runner import Schedule, run
from rote.experiments.statements.plan import StatementPlan
from rote.experiments.vectors.findings import VectorFindings
from rote.experiments.vectors.plan import VectorPlan
from rote.experiments.vectors.queue import VectorRun
from rote.papers import figure_named
from rote.progress import SILENT, Progress
from rote.tasks.labelled_text import labelled_texts
from rote.training.trials import EngineName


def reproduce(
    plan: AnyPlan | str,
    folder: str | Path | None = None,
    *,
    workers: int | None = None,
    engine: EngineName = "auto",
    on: str = HERE,
    progress: Progress = SILENT,
) -> Reproduction:
    """Train what the ledger in `folder` does not hold yet, then arrange and judge all of it.

    `plan` is a figure's plan, or its id for the plan with its defaults; the folder is `runs/FIGURE-PROTOCOL` when
    absent. `engine` is that of models of look-up tables; `on` says where (`rote.experiments.executor`).
    """
    if isinstance(plan, str):
        plan = RunChoices().plan(figure_named(plan))
    if isinstance(plan, FigurePlan):
        return reproduce_tables(plan, folder, workers=workers, engine=engine, on=on, progress=progress)
    where = plan.default_folder if folder is None else Path(folder)
    if isinstance(plan, BlockPlan) and plan.reads_texts:
        labelled_texts(plan.texts)  # refused before a folder is made
    began = time.perf_counter()
    ended = run(_run_of(plan, where), where, workers=workers, on=on, progress=progress)
    findings = arranged(plan, ended.rows.values())
    # Figures about vectors share a run: the other figures' trials are not theirs.
    own = findings.processor_seconds if isinstance(findings, VectorFindings) else None
    return Reproduction(
        findings=findings,
        folder=where,
        trials=len(ended.rows),
        trained=ended.trained,
        seconds=time.perf_counter() - began,
        processor_seconds=sum(row.seconds for row in ended.rows.values()) if own is None else own,
        failed=ended.failed,
    )


def _run_of(plan: VectorPlan | BlockPlan | StatementPlan, folder: Path) -> Schedule[Any, Any]:
    """What the runner asks for trials."""
    if isinstance(plan, VectorPlan):
        return VectorRun(plan.identity, plan.wanted)
    return BlockRun.into(plan, folder) if isinstance(plan, BlockPlan) else plan
