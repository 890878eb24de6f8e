"""A reproduced figure with its drawings and its summary: all that `rote reproduce` leaves behind, as one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rote.arguments import typed
from rote.display import Tabular, frame_of
from rote.experiments.executor import HERE
from rote.experiments.files import write_json
from rote.experiments.lookups.findings import FigureFindings
from rote.experiments.planned import AnyPlan, RunChoices, planned_runs
from rote.experiments.reproduce import reproduce as run_figure
from rote.experiments.reproduction import AnyFindings, Reproduction
from rote.experiments.statements.findings import StatementFindings
from rote.experiments.vectors.findings import VectorFindings
from rote.models.attention_only import Positions
from rote.papers import figure_named
from rote.papers.paper import WEIGHTINGS, Weighting
from rote.progress import SILENT, Progress
from rote.report.block_figure import drawn_blocks
from rote.report.scaling_figure import drawn_scaling
from rote.report.statement_figure import drawn_statement
from rote.report.style import save
from rote.report.vector_figure import drawn_vectors
from rote.training.trials import EngineName

if TYPE_CHECKING:
    import polars
    from matplotlib.figure import Figure

ProtocolName = Literal["fast", "paper", "best"]
Variant = Literal["per-head", "shared"]
NESTED = ("spec", "built", "tried")
"""What a point has that is no cell of a table."""


@dataclass(frozen=True)
class ReproducedFigure(Tabular):
    """A finished run of a figure, and the files that show it; `rote.reproduce` gives it."""

    reproduction: Reproduction
    figures: tuple[Path, ...]
    """PNG and SVG unless others were asked for; where pairs are weighted in two ways, the published one first."""

    def frame(self) -> polars.DataFrame:
        """A row per point of the figure: what was measured, published and promised."""
        summary = self.reproduction.findings.summary()
        points = summary.get("cells") or summary.get("points") or summary.get("curves") or []
        return frame_of({name: value for name, value in point.items() if name not in NESTED} for point in points)

    def figure(self, weighting: Weighting = "sampled") -> Figure:
        """The drawing as a matplotlib figure."""
        return drawn_figure(self.reproduction.findings, weighting)

    def summary(self) -> dict[str, Any]:
        """Everything as one JSON document: what the command line prints and what is written beside the drawings."""
        return {**self.reproduction.summary(), "figures": [str(path) for path in self.figures]}


def drawn_figure(findings: AnyFindings, weighting: Weighting = "sampled") -> Figure:
    """The drawing of a figure of any kind; `weighting` is of pairs of tokens, where there are such."""
    if isinstance(findings, FigureFindings):
        return drawn_scaling(findings, weighting)
    if isinstance(findings, StatementFindings):
        return drawn_statement(findings)
    return drawn_vectors(findings) if isinstance(findings, VectorFindings) else drawn_blocks(findings)


def reproduce_figure(
    plan: AnyPlan | str,
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
    texts: str | None = None,
    positions: Positions | None = None,
    workers: int | None = None,
    engine: EngineName = "auto",
    on: str = HERE,
    progress: Progress = SILENT,
) -> ReproducedFigure:
    """Train a published figure's models, compare with what was published, and judge each of its claims.

    `figure` is an id such as `dana2025.fig1a` (`rote list papers`); the folder is `runs/FIGURE-PROTOCOL` when absent,
    and what it holds is not trained again. `quick` trains fewer cells and repeats. `positions` says where positions
    enter the models of figures about look-up tables, as the figure has them when absent. `on` says where: `here`,
    `ray`, or the address of a Ray cluster.

    >>> import rote
    >>> rote.reproduce("dana2025.fig99")
    Traceback (most recent call last):
    ...
    rote.errors.InputError: ...
    """
    choices = RunChoices(protocol, quick, repeats, variant, texts, positions)
    ((plan, folder),) = planned_runs(figure_named(figure).id, folder, choices)
    return reproduce_figure(plan, folder, workers=workers, engine=engine, on=on, progress=progress)


def reported(reproduction: Reproduction, formats: Sequence[str] = ("png", "svg")) -> ReproducedFigure:
    """Drawings and summary of a run that ended, in the `figures` folder of the run."""
    folder = reproduction.folder / "figures"
    folder.mkdir(exist_ok=True)
    findings = reproduction.findings
    id = findings.figure.id
    drawn = {id: drawn_figure(findings)}
    if isinstance(findings, FigureFindings):
        drawn |= {f"{id}-{weighting}": drawn_figure(findings, weighting) for weighting in WEIGHTINGS[1:]}
    written = [save(each, folder / f"{name}.{kind}") for name, each in drawn.items() for kind in dict.fromkeys(formats)]
    figure = ReproducedFigure(reproduction, tuple(written))
    write_json(folder / f"{id}.json", figure.summary())
    return figure
