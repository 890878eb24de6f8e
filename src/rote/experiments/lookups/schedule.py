"""What the run of a figure about look-up tables consists of: cells, protocol and seeds, and the trials they make."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from rote.errors import InputError
from rote.experiments.findings import FigureSchedule
from rote.experiments.trial import TokenTrial
from rote.models.attention_only import Positions
from rote.papers.kinds.lookups import Cell, Experiment, LookupFigure, positions_of
from rote.training.protocol import Protocol, paper, protocol_named


@dataclass(frozen=True)
class LookupSchedule(FigureSchedule[LookupFigure]):
    figure: LookupFigure
    protocol: str
    cells: tuple[Cell, ...]
    repeats: int
    quick: bool
    variant: str | None = None
    """The one kind of heads that is kept, where a figure has both."""

    FORMAT: ClassVar[int] = 2
    """1 had no choice of positions."""

    @classmethod
    def of(
        cls, figure: LookupFigure, *, protocol: str = "fast", variant: str | None = None,
        positions: Positions | None = None, quick: bool = False, repeats: int | None = None,
    ) -> LookupSchedule:  # fmt: skip
        """`variant` keeps the models of one kind of heads where d and k differ, `quick` fewer cells; `positions` says
        where positions enter the models. Default: as the figure has them, and the paper's `repeats`.
        """
        experiment = figure.experiment
        if repeats is None:
            repeats = experiment.quick.repeats if quick else experiment.repeats
        if repeats < 1:
            raise InputError(f"`repeats={repeats}`: must be at least 1")
        cells = tuple(_with_positions(cell, positions) for cell in _chosen(experiment, quick, variant))
        return cls(figure, protocol, cells, repeats, quick, variant)

    @property
    def run(self) -> str:
        return self.figure.experiment.id

    @property
    def positions(self) -> str:
        return positions_of(self.cells)

    @property
    def other_positions(self) -> bool:
        """Whether positions enter these models elsewhere than in the figure's own."""
        return self.positions != self.figure.experiment.positions

    @property
    def default_folder(self) -> Path:
        """Other positions than the figure's have a folder of their own."""
        other = f"-{self.positions}" if self.other_positions else ""
        return Path("runs") / f"{self.run}-{self.protocol}{other}{'-quick' if self.quick else ''}"

    @property
    def identity(self) -> dict[str, Any]:
        return {**super().identity, "positions": self.positions}

    @property
    def asked(self) -> dict[str, Any]:
        return {
            **super().asked,
            **({"variant": self.variant} if self.variant else {}),
            **({"positions": self.positions} if self.other_positions else {}),
        }

    @property
    def size(self) -> int:
        return len(self.cells)

    @property
    def published(self) -> int:
        return sum(cell.published is not None for cell in self.cells)

    @property
    def conditions(self) -> list[str]:
        protocol, seeds = super().conditions
        return [protocol, *([f"positions {self.positions}"] if self.other_positions else []), seeds]

    def trials(self) -> list[TokenTrial]:
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
