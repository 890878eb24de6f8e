"""What a figure's run consists of: cells, protocol and seeds, and how each trial is named in the ledger."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rote.errors import InputError
from rote.experiments.ledger import TrialKey
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
        cls, figure: Figure, *, protocol: str = "fast", variant: str | None = None, quick: bool = False,
        repeats: int | None = None,
    ) -> FigurePlan:  # fmt: skip
        experiment = figure.experiment
        if repeats is None:
            repeats = experiment.quick.repeats if quick else experiment.repeats
        if repeats < 1:
            raise InputError(f"repeats: {repeats} must be at least 1")
        return cls(figure, protocol, _chosen(experiment, quick, variant), repeats, quick)

    @property
    def default_folder(self) -> Path:
        """Figures that view one experiment share a run."""
        return Path("runs") / f"{self.figure.experiment.id}-{self.protocol}{'-quick' if self.quick else ''}"

    @property
    def identity(self) -> dict[str, Any]:
        return {"experiment": self.figure.experiment.id, "protocol": self.protocol, "format": FORMAT}

    def named(self) -> dict[TrialKey, tuple[Cell, int]]:
        """Every trial by its name in the ledger."""
        return {
            TrialKey.of(self.ledger_cell(cell), seed): (cell, seed)
            for cell in self.cells
            for seed in range(self.repeats)
        }

    def ledger_cell(self, cell: Cell) -> dict[str, Any]:
        protocol = cell_protocol(cell, self.protocol).model_dump(mode="json")
        return {"spec": cell.spec.to_config(), "protocol": protocol}


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
        named: dict[str, list[Cell]] = {}
        for cell in cells:
            if experiment.quick.series is None or cell.series in experiment.quick.series:
                named.setdefault(cell.series, []).append(cell)
        cells = tuple(cell for members in named.values() for cell in members[:: experiment.quick.every])
    return cells
