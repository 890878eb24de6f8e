"""A reproduced figure with its drawings and its summary: all that `rote reproduce` leaves behind, as one call."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rote.experiments.figure_plan import FigurePlan
from rote.experiments.files import write_json
from rote.experiments.reproduce import Reproduction, reproduce
from rote.papers.paper import WEIGHTINGS
from rote.progress import SILENT, Progress
from rote.report.scaling_figure import scaling_figure
from rote.training.trials import EngineName


@dataclass(frozen=True)
class ReproducedFigure:
    """A finished run of a figure, and the files that show it."""

    reproduction: Reproduction
    figures: tuple[Path, ...]
    """PNG and SVG in both weightings, the published one first."""

    def summary(self) -> dict[str, Any]:
        """Everything as one JSON document: what the command line prints and what is written beside the drawings."""
        return {**self.reproduction.summary(), "figures": [str(path) for path in self.figures]}


def reproduce_figure(
    plan: FigurePlan | str,
    folder: str | Path | None = None,
    *,
    workers: int | None = None,
    engine: EngineName = "auto",
    progress: Progress = SILENT,
) -> ReproducedFigure:
    """Reproduce a figure as `rote.experiments.reproduce` does, draw it, and write its summary beside the drawings."""
    return reported(reproduce(plan, folder, workers=workers, engine=engine, progress=progress))


def reported(reproduction: Reproduction) -> ReproducedFigure:
    """Drawings and summary of a run that ended, in the `figures` folder of the run."""
    folder = reproduction.folder / "figures"
    folder.mkdir(exist_ok=True)
    findings = reproduction.findings
    drawn = [path for weighting in WEIGHTINGS for path in scaling_figure(findings, folder, weighting)]
    figure = ReproducedFigure(reproduction, tuple(drawn))
    write_json(folder / f"{findings.figure.id}.json", figure.summary())
    return figure
