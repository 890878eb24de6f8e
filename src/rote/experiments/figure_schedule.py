"""What the run of a published figure consists of, whatever its kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from rote.papers.claims import PublishedFigure

F = TypeVar("F", bound=PublishedFigure)


class FigureSchedule(ABC, Generic[F]):
    """A figure, and how it is run. Subclasses are frozen dataclasses that add what their kind leaves to choose."""

    figure: F
    protocol: str
    quick: bool
    repeats: int

    FORMAT: ClassVar[int] = 1
    """Raised when trials of the same name would come out otherwise: older runs are then not resumed."""

    @property
    def run(self) -> str:
        """Names the run. Figures of one name keep their trials together, so that those they share are run once."""
        return self.figure.id

    @property
    def default_folder(self) -> Path:
        return Path("runs") / f"{self.run}-{self.protocol}"

    @property
    def identity(self) -> dict[str, Any]:
        """All that results depend on besides cell and seed."""
        return {"experiment": self.run, "protocol": self.protocol, "format": self.FORMAT}

    @property
    def asked(self) -> dict[str, Any]:
        """How the run was asked for, as the ledger records it: fields of `RunChoices`."""
        return {"protocol": self.protocol, "quick": self.quick, "repeats": self.repeats}

    @property
    @abstractmethod
    def size(self) -> int:
        """Cells of the grid; 0 if `quick` leaves out the figure."""

    @property
    def published(self) -> int:
        """Values that the paper released for these cells."""
        return 0

    @property
    def conditions(self) -> list[str]:
        """How the figure is run, in words, for its title line."""
        seeds = f"{self.repeats} seed{'s' if self.repeats > 1 else ''}"
        return [f"protocol {self.protocol}", seeds]
