"""Run the trials of a published figure, of whichever kind, and say what they show.

Each trial is committed to the run's ledger when it ends; a run that was killed goes on where it stopped.
"""

from __future__ import annotations

from pathlib import Path

from rote.experiments.blocks.plan import BlockPlan
from rote.experiments.blocks.reproduce import reproduce_blocks
from rote.experiments.planned import AnyPlan, RunChoices
from rote.experiments.reproduction import Reproduction
from rote.experiments.statements.plan import StatementPlan
from rote.experiments.statements.reproduce import check_statement
from rote.experiments.tables.plan import FigurePlan
from rote.experiments.tables.reproduce import reproduce_tables
from rote.experiments.vectors.reproduce import reproduce_vectors
from rote.experiments.where import HERE
from rote.papers import figure_named
from rote.progress import SILENT, Progress
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
    absent. `engine` is that of models of look-up tables; `on` says where (`rote.experiments.where`).
    """
    if isinstance(plan, str):
        plan = RunChoices().plan(figure_named(plan))
    if isinstance(plan, FigurePlan):
        return reproduce_tables(plan, folder, workers=workers, engine=engine, on=on, progress=progress)
    if isinstance(plan, BlockPlan):
        return reproduce_blocks(plan, folder, workers=workers, on=on, progress=progress)
    if isinstance(plan, StatementPlan):
        return check_statement(plan, folder, workers=workers, on=on, progress=progress)
    return reproduce_vectors(plan, folder, workers=workers, on=on, progress=progress)
