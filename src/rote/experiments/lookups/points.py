"""What was measured for a figure, point by point: repeats at each x of a series."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rote.errors import InputError
from rote.experiments.lookups.schedule import LookupSchedule
from rote.measure.laws import LawFit, Points, fit_law
from rote.papers.kinds.lookups import FULL, WEIGHTINGS, Cell, LookupFigure, Weighting


@dataclass(frozen=True)
class SeriesPoint:
    """One x of a series: the repeats' values in both weightings, what was published, what bounds guarantee."""

    x: float
    values: dict[Weighting, list[float]]
    diverged: int = 0
    """Repeats without a value: training diverged."""
    published: float | None = None
    guaranteed: dict[str, float] = field(default_factory=dict)
    """Accuracy that each bound guarantees, by its id."""
    cell: Cell | None = None
    """Absent where the value is computed from several cells."""

    def mean(self, weighting: Weighting) -> float | None:
        values = self.values[weighting]
        return float(np.mean(values)) if values else None

    def spread(self, weighting: Weighting) -> float | None:
        values = self.values[weighting]
        return float(np.std(values, ddof=1)) if len(values) > 1 else None

    @property
    def difference(self) -> float | None:
        """Measured minus published, both in the sampled weighting."""
        mean = self.mean("sampled")
        return None if mean is None or self.published is None else mean - self.published


@dataclass(frozen=True)
class LookupSeries:
    name: str
    points: tuple[SeriesPoint, ...]

    def law_points(self, weighting: Weighting) -> Points | None:
        """Those that have values, as laws are fitted to them."""
        values = {point.x: point.values[weighting] for point in self.points if point.values[weighting]}
        return Points.of(values) if values else None


@dataclass(frozen=True)
class LookupPoints:
    """The points of a figure by series, with the laws fitted to them: what verdicts are based on."""

    schedule: LookupSchedule
    series: tuple[LookupSeries, ...]
    missing: int
    """Scheduled trials that have not been run."""
    source: tuple[LookupSeries, ...] = ()
    """The experiment's own points where the figure's are derived from them."""
    _fitted: dict[tuple[Weighting, str, str], LawFit | None] = field(default_factory=dict, repr=False, compare=False)

    @property
    def fits(self) -> dict[Weighting, dict[str, dict[str, LawFit]]]:
        """By weighting, series and law; a law that a series has too few points for is absent."""
        return {
            weighting: {
                series.name: {
                    law: fit
                    for law in self.schedule.figure.laws
                    if (fit := self.fit(weighting, law, series.name)) is not None
                }
                for series in self.series
            }
            for weighting in WEIGHTINGS
        }

    def fit(self, weighting: Weighting, law: str, name: str) -> LawFit | None:
        """A law fitted on first use to the series of that name; None if it has too few points."""
        key = (weighting, law, name)
        if key not in self._fitted:
            series = self.named(name)
            self._fitted[key] = None if series is None else _fit(series, self.schedule.figure, law, weighting)
        return self._fitted[key]

    def first_fit(self, weighting: Weighting, series: LookupSeries) -> LawFit | None:
        """The first of the figure's laws that a series has points enough for."""
        fits = (self.fit(weighting, law, series.name) for law in self.schedule.figure.laws)
        return next((fit for fit in fits if fit is not None), None)

    def named(self, name: str) -> LookupSeries | None:
        return next((series for series in self.series if series.name == name), None)


def _fit(series: LookupSeries, figure: LookupFigure, law: str, weighting: Weighting) -> LawFit | None:
    points = series.law_points(weighting)
    if points is None:
        return None
    saturation = np.inf if figure.saturation is None else figure.saturation
    try:
        return fit_law(points, law, saturation=saturation)
    except InputError:  # too few points for this form; claims that need it are undecided
        return None


def slopes(measured: list[LookupSeries]) -> list[LookupSeries]:
    """Slope of accuracy in H for every dimension and seed, over points whose mean stays below full."""
    return [LookupSeries("slope in H", tuple(_slope(series) for series in measured))]


def _slope(series: LookupSeries) -> SeriesPoint:
    values: dict[Weighting, list[float]] = {}
    for weighting in WEIGHTINGS:
        kept = [point for point in series.points if (mean := point.mean(weighting)) is not None and mean < FULL]
        seeds = min((len(point.values[weighting]) for point in kept), default=0)
        x = [point.x for point in kept]
        values[weighting] = [
            float(np.polyfit(x, [point.values[weighting][seed] for point in kept], 1)[0])
            for seed in range(seeds)
            if len(kept) > 1
        ]
    released = [(p.x, p.published) for p in series.points if p.published is not None and p.published < FULL]
    published = (
        float(np.polyfit([x for x, _ in released], [y for _, y in released], 1)[0]) if len(released) > 1 else None
    )
    cell = series.points[0].cell
    return SeriesPoint(cell.spec.dim if cell is not None else 0, values, published=published)
