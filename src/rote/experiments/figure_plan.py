"""What a figure's run consists of: cells, protocol and seeds, and the trials they make."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rote.errors import InputError
from rote.experiments.trial import PlannedTrial
from rote.papers import PAPER_FIGURES, figures_named
from rote.papers.paper import Cell, Experiment, Figure
from rote.training.protocol import Protocol, paper, protocol_named

FORMAT = 1
"""Raised when trials of the same name would come out otherwise: older runs are then not resumed."""


@dataclass(frozen=True)
class FigurePlan:
    """What a figure's run consists of."""

    figure: Figure
    protocol: str
    cells: tuple[Cell, ...]
    repeats: int
    quick: bool

    @classmethod
    def of(
        cls, figure: Figure | str, *, protocol: str = "fast", variant: str | None = None, quick: bool = False,
        repeats: int | None = None,
    ) -> FigurePlan:  # fmt: skip
        """The plan of a figure, or of the one that an id such as `dana2025.fig1a` names.

        `variant` keeps the models of one kind of heads where d and k differ, `quick` fewer cells; `repeats` is the
        paper's number when absent.
        """
        if isinstance(figure, str):
            named = figures_named(figure)
            if len(named) != 1:
                raise InputError(f"{figure}: names {len(named)} figures; give one, such as {named[0].id}")
            (figure,) = named
        experiment = figure.experiment
        if repeats is None:
            repeats = experiment.quick.repeats if quick else experiment.repeats
        if repeats < 1:
            raise InputError(f"`repeats={repeats}`: must be at least 1")
        return cls(figure, protocol, _chosen(experiment, quick, variant), repeats, quick)

    @property
    def default_folder(self) -> Path:
        """Figures that view one experiment share a run."""
        return Path("runs") / f"{self.figure.experiment.id}-{self.protocol}{'-quick' if self.quick else ''}"

    @property
    def identity(self) -> dict[str, Any]:
        return {"experiment": self.figure.experiment.id, "protocol": self.protocol, "format": FORMAT}

    def trials(self) -> list[PlannedTrial]:
        """Every trial, cell by cell."""
        return [trial for cell in self.cells for trial in self.trials_of(cell)]

    def trials_of(self, cell: Cell) -> list[PlannedTrial]:
        """The repeats of one cell: seeds 0, 1, ..."""
        protocol = cell_protocol(cell, self.protocol)
        return [PlannedTrial(cell.spec, protocol, seed) for seed in range(self.repeats)]


def planned_runs(
    name: str, output: str | Path | None = None, *, protocol: str = "fast", variant: str | None = None,
    quick: bool = False, repeats: int | None = None,
) -> list[tuple[FigurePlan, Path]]:  # fmt: skip
    """The plans that a figure's or a paper's id names, each with the folder of its run.

    Runs go to `runs/` when `output` is absent; with a paper it is a folder that holds the runs of its figures.
    """
    plans = [
        FigurePlan.of(figure, protocol=protocol, variant=variant, quick=quick, repeats=repeats)
        for figure in figures_named(name)
    ]
    if output is None:
        return [(plan, plan.default_folder) for plan in plans]
    several = name in PAPER_FIGURES
    return [(plan, Path(output) / plan.default_folder.name if several else Path(output)) for plan in plans]


def cell_protocol(cell: Cell, name: str) -> Protocol:
    """The protocol of that name for a cell; every one draws as many samples as the paper did."""
    training, spec = cell.training, cell.spec
    if name == "paper":
        return paper(training.batches, training.batch, training.epochs, training.peak, training.final)
    return protocol_named(name, spec, spec.vocab**spec.context, training.samples)


def _chosen(experiment: Experiment, quick: bool, variant: str | None) -> tuple[Cell, ...]:
    """The cells to run; a variant restricts the grid where there is a choice."""
    cells = experiment.cells
    if variant is not None and any(getattr(cell.spec, "compressed", False) for cell in cells):
        cells = tuple(cell for cell in cells if getattr(cell.spec, "variant", variant) == variant)
    if quick:
        by_series: dict[str, list[Cell]] = {}
        for cell in cells:
            if experiment.quick.series is None or cell.series in experiment.quick.series:
                by_series.setdefault(cell.series, []).append(cell)
        cells = tuple(cell for members in by_series.values() for cell in members[:: experiment.quick.every])
    return cells
