"""What was measured for a statement: the numbers of each cell and seed."""

from __future__ import annotations

from dataclasses import dataclass

from rote.experiments.statements.schedule import StatementSchedule


@dataclass(frozen=True)
class StatementPoint:
    """A cell and a seed, with what was measured."""

    series: str
    x: float
    seed: int
    numbers: dict[str, float | None]
    seconds: float

    def value(self, side: str | float) -> float | None:
        """A number by its name, or the number itself."""
        return self.numbers.get(side) if isinstance(side, str) else side


@dataclass(frozen=True)
class StatementPoints:
    """Every cell and seed: what verdicts are based on."""

    schedule: StatementSchedule
    evaluated: tuple[StatementPoint, ...]
    missing: int
    """Cells and seeds that have not been run to their end."""

    @property
    def series(self) -> dict[str, list[StatementPoint]]:
        """Points by series, in order of x."""
        grouped: dict[str, list[StatementPoint]] = {}
        for point in self.evaluated:
            grouped.setdefault(point.series, []).append(point)
        return {name: sorted(points, key=lambda point: point.x) for name, points in grouped.items()}
