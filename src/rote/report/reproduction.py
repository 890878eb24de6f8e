"""A reproduced figure with its drawings and its summary: all that `rote reproduce` leaves behind, as one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rote.arguments import typed
from rote.experiments.figure_plan import FigurePlan
from rote.experiments.files import write_json
from rote.experiments.reproduce import Reproduction
from rote.experiments.reproduce import reproduce as run_figure
from rote.experiments.where import HERE
from rote.papers.paper import WEIGHTINGS, Weighting
from rote.progress import SILENT, Progress
from rote.report.scaling_figure import drawn_scaling, scaling_figure
from rote.tables import Tabular, frame_of
from rote.training.trials import EngineName

if TYPE_CHECKING:
    import polars
    from matplotlib.figure import Figure

ProtocolName = Literal["fast", "paper", "best"]
Variant = Literal["per-head", "shared"]


@dataclass(frozen=True)
class ReproducedFigure(Tabular):
    """A finished run of a figure, and the files that show it; `rote.reproduce` gives it."""

    reproduction: Reproduction
    figures: tuple[Path, ...]
    """In both weightings, the published one first; PNG and SVG unless other formats were asked for."""

    def frame(self) -> polars.DataFrame:
        """A row per cell of the figure: what was measured, published and promised."""
        cells = self.reproduction.findings.summary()["cells"]
        return frame_of({name: value for name, value in cell.items() if name != "spec"} for cell in cells)

    def figure(self, weighting: Weighting = "sampled") -> Figure:
        """The drawing as a matplotlib figure."""
        return drawn_scaling(self.reproduction.findings, weighting)

    def summary(self) -> dict[str, Any]:
        """Everything as one JSON document: what the command line prints and what is written beside the drawings."""
        return {**self.reproduction.summary(), "figures": [str(path) for path in self.figures]}


def reproduce_figure(
    plan: FigurePlan | str,
    folder: str | Path | None = None,
    *,
    workers: int | None = None,
    engine: EngineName = "auto",
    on: str = HERE,
    formats: Sequence[str] = ("png", "svg"),
    progress: Progress = SILENT,
) -> ReproducedFigure:
    """Reproduce a figure as `rote.experiments.reproduce` does, draw it, and write its summary beside the drawings."""
    return reported(run_figure(plan, folder, workers=workers, engine=engine, on=on, progress=progress), formats)


@typed
def reproduce(
    figure: str,
    folder: str | Path | None = None,
    *,
    quick: bool = False,
    repeats: int | None = None,
    protocol: ProtocolName = "fast",
    variant: Variant | None = None,
    workers: int | None = None,
    engine: EngineName = "auto",
    on: str = HERE,
    progress: Progress = SILENT,
) -> ReproducedFigure:
    """Train a published figure's models, compare with what was published, and judge each of its claims.

    `figure` is an id such as `dana2025.fig1a` (see `rote papers`); the folder is `runs/FIGURE-PROTOCOL` when absent,
    and what it holds is not trained again. `quick` trains fewer cells and repeats. `on` says where: `here`, `ray`, or
    the address of a Ray cluster.

    >>> import rote
    >>> rote.reproduce("dana2025.fig99")
    Traceback (most recent call last):
    ...
    rote.errors.InputError: ...
    """
    plan = FigurePlan.of(figure, protocol=protocol, variant=variant, quick=quick, repeats=repeats)
    return reproduce_figure(plan, folder, workers=workers, engine=engine, on=on, progress=progress)


def reported(reproduction: Reproduction, formats: Sequence[str] = ("png", "svg")) -> ReproducedFigure:
    """Drawings and summary of a run that ended, in the `figures` folder of the run."""
    folder = reproduction.folder / "figures"
    folder.mkdir(exist_ok=True)
    findings = reproduction.findings
    drawn = [path for weighting in WEIGHTINGS for path in scaling_figure(findings, folder, weighting, formats)]
    figure = ReproducedFigure(reproduction, tuple(drawn))
    write_json(folder / f"{findings.figure.id}.json", figure.summary())
    return figure
