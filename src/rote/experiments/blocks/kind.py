"""Figures about #blocks: F2 . uniform attention . F1 trained on texts, the smallest searched for or curves drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rote.experiments.blocks.cost import block_cost
from rote.experiments.blocks.schedule import BlockSchedule
from rote.experiments.findings import Findings
from rote.experiments.kind import FigureKind, RunChoices
from rote.experiments.runner import Rows, Schedule
from rote.papers.kinds.blocks import BlockCurvesFigure, BlockFigure, SmallestBlocksFigure
from rote.tasks.labelled_text.sources import DEFINITIONS
from rote.training.protocol import EngineName


def _schedule(figure: BlockFigure, choices: RunChoices) -> BlockSchedule:
    return BlockSchedule.of(
        figure, protocol=choices.protocol, quick=choices.quick, repeats=choices.repeats,
        texts=choices.texts or DEFINITIONS,
    )  # fmt: skip


def _run(schedule: BlockSchedule, folder: Path, engine: EngineName) -> Schedule[Any, Any]:
    from rote.experiments.blocks.queue import BlockRun
    from rote.tasks.labelled_text import labelled_texts

    if schedule.reads_texts:
        labelled_texts(schedule.texts)  # rejected before a folder is made
    return BlockRun.into(schedule, folder)


def _findings(schedule: BlockSchedule, rows: Rows) -> Findings[BlockFigure, BlockSchedule]:
    from rote.experiments.blocks.findings import block_findings

    return block_findings(schedule, rows)


BLOCKS = FigureKind(
    name="#blocks",
    figures=(SmallestBlocksFigure, BlockCurvesFigure),
    schedule=_schedule,
    run=_run,
    findings=_findings,
    cost=block_cost,
    options=frozenset({"protocol", "texts"}),
)
