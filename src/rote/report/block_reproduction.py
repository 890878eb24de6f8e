"""A figure about #blocks, run, judged and drawn: all that `rote reproduce` gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rote.experiments.block_plan import BlockPlan
from rote.experiments.block_reproduce import BlockReproduction, reproduce_blocks
from rote.experiments.files import write_json
from rote.experiments.where import HERE
from rote.papers import BLOCK_FIGURES, block_figures_named
from rote.progress import SILENT, Progress
from rote.report.block_figure import block_figure
from rote.tasks.labelled_text.sources import DEFINITIONS


@dataclass(frozen=True)
class ReproducedBlockFigure:
    """A run and its drawings."""

    reproduction: BlockReproduction
    figures: tuple[Path, ...]

    def summary(self) -> dict[str, Any]:
        return {**self.reproduction.summary(), "figures": [str(path) for path in self.figures]}


def planned_block_runs(
    name: str, output: str | Path | None = None, *, protocol: str = "fast", quick: bool = False,
    repeats: int | None = None, texts: str | None = None,
) -> list[tuple[BlockPlan, Path]]:  # fmt: skip
    """The plans that a figure's or a paper's id names, each with the folder of its run."""
    plans = [
        BlockPlan.of(figure, protocol=protocol, quick=quick, repeats=repeats, texts=texts or DEFINITIONS)
        for figure in block_figures_named(name)
    ]
    several = name in BLOCK_FIGURES
    return [
        (
            plan,
            plan.default_folder
            if output is None
            else Path(output) / plan.default_folder.name
            if several
            else Path(output),
        )
        for plan in plans
    ]


def reproduce_block_figure(
    plan: BlockPlan,
    folder: Path,
    *,
    workers: int | None = None,
    on: str = HERE,
    formats: Sequence[str] = ("png", "svg"),
    progress: Progress = SILENT,
) -> ReproducedBlockFigure:
    """Run what is missing, draw the figure and write its summary beside it."""
    done = reproduce_blocks(plan, folder, workers=workers, on=on, progress=progress)
    figure = ReproducedBlockFigure(done, tuple(block_figure(done.findings, folder / "figures", formats)))
    write_json(folder / "figures" / f"{plan.figure.id}.json", figure.summary())
    return figure
