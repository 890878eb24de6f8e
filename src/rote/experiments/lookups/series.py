"""What was measured for a figure, point by point: repeats at each x of a series."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rote.measure.laws import Points
from rote.papers.paper import Cell, Weighting


@dataclass(frozen=True)
class SeriesPoint:
    """One x of a series: the repeats' values in both weightings, what was published, what bounds promise."""

    x: float
    values: dict[Weighting, list[float]]
    diverged: int = 0
    """Repeats without a value: training diverged."""
    published: float | None = None
    promised: dict[str, float] = field(default_factory=dict)
    """Accuracy that each bound promises, by its id."""
    cell: Cell | None = None
    """Absent where the value is computed from several cells."""

    def mean(self, weighting: Weighting) -> float | None:
        values = self.values[weighting]
        return float(np.mean(values)) if values else None

    def spread(self, weighting: Weighting) -> float | None:
        """Standard deviation over repeats."""
        values = self.values[weighting]
        return float(np.std(values, ddof=1)) if len(values) > 1 else None

    @property
    def difference(self) -> float | None:
        """Measured minus published, both in the sampled weighting."""
        mean = self.mean("sampled")
        return None if mean is None or self.published is None else mean - self.published


@dataclass(frozen=True)
class FigureSeries:
    """The points of one series, by x."""

    name: str
    points: tuple[SeriesPoint, ...]

    def law_points(self, weighting: Weighting) -> Points | None:
        """Those that have values, as laws are fitted to them."""
        values = {point.x: point.values[weighting] for point in self.points if point.values[weighting]}
        return Points.of(values) if values else None
