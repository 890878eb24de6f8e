"""What the check of a statement consists of: every cell with each seed.

Results depend on the cell and the seed alone, so a run gives the same ones on any machine with any number of workers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rote.errors import InputError
from rote.experiments.findings import FigureSchedule
from rote.experiments.ledgers.ledger import TrialKey
from rote.experiments.trial import Trial
from rote.papers.kinds.statement_settings import Setting
from rote.papers.kinds.statements import Statement, StatementCell, Study

Results = Mapping[TrialKey, dict[str, Any]]
"""What ended trials recorded, by trial."""


@dataclass(frozen=True)
class StatementTrial(Trial):
    """A setting to evaluate. Trials of equal content are one trial."""

    setting: Setting
    seed: int

    @property
    def cell(self) -> dict[str, Any]:
        return {"setting": type(self.setting).__name__, **asdict(self.setting)}


@dataclass(frozen=True)
class StatementSchedule(FigureSchedule[Statement]):
    figure: Statement
    quick: bool
    repeats: int
    protocol: str = field(default="fast", init=False)
    """Nothing is trained, so that there is no other."""

    @classmethod
    def of(cls, figure: Statement, *, quick: bool = False, repeats: int | None = None) -> StatementSchedule:
        """`quick` keeps fewer cells and one seed. Default: the statement's `repeats`."""
        if repeats is None:
            repeats = 1 if quick else figure.repeats
        if repeats < 1:
            raise InputError(f"`repeats={repeats}`: must be at least 1")
        return cls(figure, quick, repeats)

    @property
    def run(self) -> str:
        """Statements about the same cells share a run."""
        return self.figure.run or self.figure.id

    @property
    def identity(self) -> dict[str, Any]:
        """Statements measure more than in format 1; studies are as they were."""
        return {**super().identity, "format": 1 if isinstance(self.figure, Study) else 2}

    @property
    def default_folder(self) -> Path:
        return Path("runs") / self.run

    @property
    def asked(self) -> dict[str, Any]:
        return {"quick": self.quick, "repeats": self.repeats}

    @property
    def seeds(self) -> range:
        return range(self.figure.first_seed, self.figure.first_seed + self.repeats)

    @property
    def conditions(self) -> list[str]:
        return [f"means over {self.repeats} seeds" if self.repeats > 1 else "one seed"]

    @property
    def size(self) -> int:
        return len(self.cells)

    @property
    def cells(self) -> list[StatementCell]:
        return [cell for cell in self.figure.cells if not self.quick or cell.x in self.figure.quick]

    def trials(self) -> list[tuple[StatementCell, StatementTrial]]:
        return [(cell, StatementTrial(cell.setting, seed)) for cell in self.cells for seed in self.seeds]
