"""What a figure's run consists of: cells, protocol and seeds, and the trials they make."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from rote.errors import InputError
from rote.experiments.trial import TokenTrial
from rote.models.attention_only import Positions
from rote.papers import figure_named
from rote.papers.paper import Cell, Experiment, Figure, positions_of
from rote.training.protocol import Protocol, paper, protocol_named

FORMAT = 2
"""Raised when trials of the same name would come out otherwise, or when trials are named otherwise: older runs are then
not resumed. 1 had no choice of positions."""


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
        cls, figure: Figure | str, *, protocol: str = "fast", variant: str | None = None,
        positions: Positions | None = None, quick: bool = False, repeats: int | None = None,
    ) -> FigurePlan:  # fmt: skip
        """The plan of a figure, or of the one that an id such as `dana2025.fig1a` names.

        `variant` keeps the models of one kind of heads where d and k differ, `quick` fewer cells; `positions` says
        where positions enter the models, as the figure has them when absent; `repeats` is the paper's number when
        absent.
        """
        if isinstance(figure, str):
            named = figure_named(figure)
            if not isinstance(named, Figure):
                raise InputError(f"{figure}: is not a figure about look-up tables; `rote.reproduce` runs any")
            figure = named
        experiment = figure.experiment
        if repeats is None:
            repeats = experiment.quick.repeats if quick else experiment.repeats
        if repeats < 1:
            raise InputError(f"`repeats={repeats}`: must be at least 1")
        cells = tuple(_with_positions(cell, positions) for cell in _chosen(experiment, quick, variant))
        return cls(figure, protocol, cells, repeats, quick)

    @property
    def run(self) -> str:
        """Names the run. Figures that view one experiment share one."""
        return self.figure.experiment.id

    @property
    def positions(self) -> str:
        """Where positions enter the models of this plan."""
        return positions_of(self.cells)

    @property
    def default_folder(self) -> Path:
        """Other positions than the figure's have a folder of their own."""
        other = "" if self.positions == self.figure.experiment.positions else f"-{self.positions}"
        return Path("runs") / f"{self.run}-{self.protocol}{other}{'-quick' if self.quick else ''}"

    @property
    def empty(self) -> bool:
        """Whether `quick` or a variant keeps nothing of the figure."""
        return not self.cells

    @property
    def identity(self) -> dict[str, Any]:
        return {"experiment": self.run, "protocol": self.protocol, "positions": self.positions, "format": FORMAT}

    def trials(self) -> list[TokenTrial]:
        """Every trial, cell by cell."""
        return [trial for cell in self.cells for trial in self.trials_of(cell)]

    def trials_of(self, cell: Cell) -> list[TokenTrial]:
        """The repeats of one cell: seeds 0, 1, ..."""
        protocol = cell_protocol(cell, self.protocol)
        return [TokenTrial(cell.spec, protocol, seed) for seed in range(self.repeats)]


def cell_protocol(cell: Cell, name: str) -> Protocol:
    """The protocol of that name for a cell; every one draws as many samples as the paper did."""
    training, spec = cell.training, cell.spec
    if name == "paper":
        return paper(training.batches, training.batch, training.epochs, training.peak, training.final)
    changes = asdict(cell.fast) if name == "fast" and cell.fast is not None else {}
    return protocol_named(name, spec, spec.vocab**spec.context, training.samples, **changes)


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


def _with_positions(cell: Cell, positions: Positions | None) -> Cell:
    """The cell with positions entering there. What was released is of the cell as it was; one layer that has positions
    in every layer is one that has them in its stream."""
    if positions == "every-layer" and cell.spec.layers == 1:
        positions = "stream"
    if positions is None or positions == cell.spec.positions:
        return cell
    return replace(cell, spec=cell.spec.model_copy(update={"positions": positions}), published=None)
