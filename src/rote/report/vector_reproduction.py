"""A figure about vector tasks, run, judged and drawn: all that `rote reproduce` gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rote.experiments.files import write_json
from rote.experiments.vector_plan import VectorPlan
from rote.experiments.vector_reproduce import VectorReproduction, reproduce_vectors
from rote.experiments.where import HERE
from rote.papers import VECTOR_FIGURES, vector_figures_named
from rote.progress import SILENT, Progress
from rote.report.vector_figure import vector_figure


@dataclass(frozen=True)
class ReproducedVectorFigure:
    """A run and its drawings."""

    reproduction: VectorReproduction
    figures: tuple[Path, ...]

    def summary(self) -> dict[str, Any]:
        return {**self.reproduction.summary(), "figures": [str(path) for path in self.figures]}


def planned_vector_runs(
    name: str, output: str | Path | None = None, *, protocol: str = "fast", quick: bool = False,
    repeats: int | None = None,
) -> list[tuple[VectorPlan, Path]]:  # fmt: skip
    """The plans that a figure's or a paper's id names, each with the folder of its run; those that `quick` empties are
    left out."""
    plans = [
        VectorPlan.of(figure, protocol=protocol, quick=quick, repeats=repeats) for figure in vector_figures_named(name)
    ]
    several = name in VECTOR_FIGURES
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
        if not plan.empty
    ]


def reproduce_vector_figure(
    plan: VectorPlan,
    folder: Path,
    *,
    workers: int | None = None,
    on: str = HERE,
    formats: Sequence[str] = ("png", "svg"),
    progress: Progress = SILENT,
) -> ReproducedVectorFigure:
    """Run what is missing, draw the figure and write its summary beside it."""
    done = reproduce_vectors(plan, folder, workers=workers, on=on, progress=progress)
    figure = ReproducedVectorFigure(done, tuple(vector_figure(done.findings, folder / "figures", formats)))
    write_json(folder / "figures" / f"{plan.figure.id}.json", figure.summary())
    return figure
