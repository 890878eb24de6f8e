"""What the trials of a figure about look-up tables say: its cells, its laws, the verdict on each claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, ClassVar

import numpy as np

from rote.charts import TONES, Chart, ChartSeries, Mark, Style, Tone, XYChart, shape, tones
from rote.display import ResultTable
from rote.experiments.findings import Column, Findings, Verdict
from rote.experiments.ledgers.ledger import TrialRow
from rote.experiments.lookups.points import LookupPoints, LookupSeries, SeriesPoint, slopes
from rote.experiments.lookups.schedule import LookupSchedule
from rote.experiments.lookups.verdicts import decide
from rote.experiments.runner import Rows
from rote.experiments.trial import TokenResult
from rote.measure.laws import LawFit
from rote.models.attention_only import AttentionOnly
from rote.papers.claims import Rule
from rote.papers.kinds.lookups import WEIGHTINGS, Cell, LookupFigure, MatchesReleased, Weighting
from rote.theory import RESULTS
from rote.theory.phi import phi

BOUNDS: dict[str, tuple[str, Style]] = {
    "dana2025.theorem1": ("Theorem 1: φ(Hk + d)", "dashed"),
    "dana2025.previous": ("previous bound", "dotted"),
}
IN_WORDS = {"sampled": "pairs weighted as sampled", "uniform": "all pairs alike"}
LINE = 80
"""Places at which a fitted law is drawn."""


def lookup_chart(findings: LookupPoints, weighting: Weighting, title: str, note: str) -> XYChart:
    """Measured points, the fitted law with its band, the bounds that apply, and what was released."""
    figure = findings.schedule.figure
    plotted = [series for series in findings.series if any(point.values[weighting] for point in series.points)]
    many = len(plotted) > len(TONES)
    groups: list[list[ChartSeries]] = []
    for index, (series, tone) in enumerate(zip(plotted, tones(len(plotted)), strict=True)):
        drawn: list[ChartSeries] = []
        fit = findings.first_fit(weighting, series)
        if fit is not None:
            drawn += _law(fit, series, tone, weighting, figure.saturation)
        # In a large family the bounds of its first and last member enclose the others'.
        if not many or index in (0, len(plotted) - 1):
            drawn += _bounds(series, tone)
        if weighting == "sampled":
            drawn += _released(series, tone if many else "ink")
        marks = [_mark(series, point, figure.x, weighting) for point in series.points if point.values[weighting]]
        drawn.append(ChartSeries(series.name, marks, "points", tone, shape="disc" if many else shape(index)))
        groups.append(drawn)
    if many:  # the legend in the order in which curves lie above each other
        groups.reverse()
    drawn = [each for group in groups for each in group] + _legend(findings, plotted, weighting, many)
    y_label = f"{figure.y} ({IN_WORDS[weighting]})"
    y_range = (0.0, 1.03) if figure.derived is None else None
    return XYChart(title, figure.x, y_label, drawn, y_range=y_range, note=note)


def _mark(series: LookupSeries, point: SeriesPoint, x: str, weighting: Weighting) -> Mark:
    mean, spread = float(np.mean(point.values[weighting])), point.spread(weighting)
    says = f"{series.name}, {x} {point.x:g}: {mean:.4f}"
    says += f" ± {spread:.4f}" if spread else ""
    says += f", published {point.published:.4f}" if point.published is not None else ""
    return Mark(point.x, mean, says, spread)


def _law(
    fit: LawFit, series: LookupSeries, tone: Tone, weighting: Weighting, saturation: float | None
) -> list[ChartSeries]:
    x = [point.x for point in series.points if point.values[weighting]]
    dense = np.linspace(min(x), max(x), LINE)
    line = fit(dense)
    inside = np.ones(len(dense), bool) if saturation is None else line <= 1
    drawn = [ChartSeries(f"fit {fit.formula}", _marks(dense[inside], line[inside]), "line", tone, in_legend=False)]
    if len(fit.samples):
        ends = (end[inside].tolist() for end in fit.band(dense))
        band = [
            Mark(mark.x, mark.y, interval=(low, high)) for mark, low, high in zip(drawn[0].marks, *ends, strict=True)
        ]
        drawn.insert(0, ChartSeries("95 % band", band, "band", tone, in_legend=False))
    return drawn


def _marks(x: np.ndarray, y: np.ndarray) -> list[Mark]:
    return [Mark(at, value) for at, value in zip(x.tolist(), y.tolist(), strict=True)]


def _bounds(series: LookupSeries, tone: Tone) -> list[ChartSeries]:
    lines = {id: [Mark(p.x, p.guaranteed[id]) for p in series.points if id in p.guaranteed] for id in BOUNDS}
    return [
        ChartSeries(label, lines[id], style, tone, in_legend=False)
        for id, (label, style) in BOUNDS.items()
        if lines[id]
    ]


def _released(series: LookupSeries, tone: Tone) -> list[ChartSeries]:
    marks = [Mark(p.x, p.published, f"released: {p.published:.4f}") for p in series.points if p.published is not None]
    return [ChartSeries("released values", marks, "crosses", tone, in_legend=False)] if marks else []


def _legend(
    findings: LookupPoints, plotted: Sequence[LookupSeries], weighting: Weighting, many: bool
) -> list[ChartSeries]:
    """Entries for what lines and crosses mean."""
    entries: list[ChartSeries] = []
    fits = [fit for series in plotted if (fit := findings.first_fit(weighting, series)) is not None]
    if fits:
        band = ", 95 % band" if any(len(fit.samples) for fit in fits) else ""
        entries.append(ChartSeries(f"fit {fits[0].formula}{band}", (), "line", "grey"))
    points = [point for series in plotted for point in series.points]
    if weighting == "sampled" and any(point.published is not None for point in points):
        entries.append(ChartSeries("released values", (), "crosses", "grey" if many else "ink"))
    for id, (label, style) in BOUNDS.items():
        if any(id in point.guaranteed for point in points):
            entries.append(ChartSeries(label + (" (first, last)" if many else ""), (), style, "grey"))
    return entries


DRAWN_BOUNDS = ("dana2025.theorem1", "dana2025.previous")


@dataclass(frozen=True)
class LookupFindings(LookupPoints, Findings[LookupFigure, LookupSchedule]):
    counted: ClassVar[str] = "trials"
    over_sizes: ClassVar[bool] = True

    def decide(self, rule: Rule) -> Verdict:
        """In the published weighting of pairs."""
        return decide(rule, self, "sampled")

    @cached_property
    def other_verdicts(self) -> dict[str, list[Verdict]]:
        return {"over all pairs alike": [decide(claim.rule, self, "uniform") for claim in self.figure.claims]}

    @property
    def data(self) -> str:
        sizes = sorted({cell.spec.vocab for cell in self.schedule.cells})
        return f"random look-up tables of all pairs of {', '.join(map(str, sizes))} tokens"

    @cached_property
    def on_released(self) -> list[Verdict | None]:
        """On all released values of the figure, also where the run has fewer cells."""
        return released_verdicts(self.figure)

    @property
    def _keys(self) -> dict[Weighting, str]:
        """Under which the mean of each weighting is in a row."""
        end = "_accuracy" if self.figure.derived is None else ""
        return {weighting: f"{weighting}{end}" for weighting in WEIGHTINGS}

    @property
    def columns(self) -> Sequence[Column]:
        keys = self._keys
        diverged = any(point.diverged for series in self.series for point in series.points)
        return (
            Column("series", "series"),
            Column(self.figure.x, "x"),
            Column(f"{self.figure.y}, as sampled", keys["sampled"]),
            Column("spread", "spread"),
            Column("all pairs alike", keys["uniform"]),
            Column("published", "published"),
            Column("difference", lambda row: None if row["difference"] is None else f"{row['difference']:+.4f}"),
            *((Column("diverged", "diverged"),) if diverged else ()),
        )

    def rows(self) -> list[dict[str, Any]]:
        keys = self._keys
        return [
            {
                "series": series.name,
                "x": point.x,
                **({"spec": point.cell.spec.to_config()} if point.cell else {}),
                **{key: point.mean(weighting) for weighting, key in keys.items()},
                "spread": point.spread("sampled"),
                "repeats": len(point.values["sampled"]),
                "diverged": point.diverged,
                "published": point.published,
                "difference": point.difference,
                "guaranteed": point.guaranteed,
            }
            for series in self.series
            for point in series.points
        ]

    def tables(self) -> list[ResultTable]:
        """Every cell in both weightings, then the laws fitted in the published one."""
        fits = [
            [
                series,
                fit.formula,
                f"{fit.points - fit.saturated}" + (f" + {fit.saturated} full" if fit.saturated else ""),
                fit.residual,
                ", ".join(f"{name} {value:.3g} ({_ends(fit.hull(name))})" for name, value in fit.values.items()),
            ]
            for series, by_law in self.fits["sampled"].items()
            for fit in by_law.values()
        ]
        laws = ResultTable(
            "laws (95 % intervals: hull of resampled seeds and of the points' profile likelihood)",
            ["series", "law", "points", "rms", "parameters"],
            fits,
        )
        return [*super().tables(), *([laws] if fits else [])]

    def charts(self) -> dict[str, Chart]:
        id = self.figure.id
        return {
            id if weighting == "sampled" else f"{id}-{weighting}": lookup_chart(
                self, weighting, self.title, self.conditions
            )
            for weighting in WEIGHTINGS
        }

    def extras(self) -> dict[str, Any]:
        return {
            "positions": self.schedule.positions,
            "fits": [
                {"weighting": weighting, "series": series, **fit.summary()}
                for weighting, by_series in self.fits.items()
                for series, fits in by_series.items()
                for fit in fits.values()
            ],
        }

    def claims(self) -> list[dict[str, Any]]:
        """The verdict in the published weighting of pairs under `sampled`, over all pairs alike under `uniform`."""
        uniform = self.other_verdicts["over all pairs alike"]
        kept = ("verdict", "why", "numbers")
        return [
            {
                **{key: value for key, value in row.items() if key not in kept},
                "sampled": {key: row[key] for key in kept},
                "uniform": other.summary(),
            }
            for row, other in zip(super().claims(), uniform, strict=True)
        ]


@cache
def released_verdicts(figure: LookupFigure) -> list[Verdict | None]:
    """The rules of a figure on what was released for it, each mean as one value."""
    schedule = LookupSchedule.of(figure)
    if not any(cell.published is not None for cell in schedule.cells):
        return [None for _ in figure.claims]
    by_series: dict[str, list[SeriesPoint]] = {}
    for cell in schedule.cells:
        if cell.published is not None:
            values: dict[Weighting, list[float]] = {"sampled": [cell.published], "uniform": []}
            by_series.setdefault(cell.series, []).append(
                SeriesPoint(cell.x, values, guaranteed=_guaranteed(cell), cell=cell)
            )
    released = _arranged(schedule, by_series, 0)
    return [_on_released(claim.rule, released) for claim in figure.claims]


def _on_released(rule: Rule, released: LookupFindings) -> Verdict | None:
    """None for rules about other series, or about the released values themselves."""
    series = getattr(rule, "series", None)
    if isinstance(rule, MatchesReleased) or (series is not None and released.named(series) is None):
        return None
    return decide(rule, released, "sampled")


def lookup_findings(schedule: LookupSchedule, rows: Rows) -> LookupFindings:
    """Arrange a run's rows as the figure's series; a row belongs to every cell that has a trial of its content."""
    by_series: dict[str, list[SeriesPoint]] = {}
    missing = 0
    for cell in schedule.cells:
        keys = [trial.key for trial in schedule.trials_of(cell)]
        ended = [rows[key] for key in keys if key in rows]
        missing += len(keys) - len(ended)
        by_series.setdefault(cell.series, []).append(_point(cell, ended))
    return _arranged(schedule, by_series, missing)


def _arranged(schedule: LookupSchedule, by_series: Mapping[str, Sequence[SeriesPoint]], missing: int) -> LookupFindings:
    measured = [
        LookupSeries(name, tuple(sorted(points, key=lambda point: point.x))) for name, points in by_series.items()
    ]
    if schedule.figure.derived is None:
        return LookupFindings(schedule, tuple(measured), missing)
    return LookupFindings(schedule, tuple(slopes(measured)), missing, tuple(measured))


def _point(cell: Cell, rows: Sequence[TrialRow]) -> SeriesPoint:
    results = [TokenResult.of(row.result) for row in rows]
    ended = [result for result in results if result.diverged_at is None]
    return SeriesPoint(
        x=cell.x,
        values={
            "sampled": [result.published_accuracy for result in ended if result.published_accuracy is not None],
            "uniform": [result.accuracy for result in ended if result.accuracy is not None],
        },
        diverged=len(rows) - len(ended),
        published=cell.published,
        guaranteed=_guaranteed(cell),
        cell=cell,
    )


def _guaranteed(cell: Cell) -> dict[str, float]:
    """phi of what each bound guarantees, where it applies."""
    if not isinstance(cell.spec, AttentionOnly):
        return {}
    spec, accuracies = cell.spec, {}
    for name in DRAWN_BOUNDS:
        bound = RESULTS[name].bound(spec)
        if bound.applies and bound.associations is not None:
            accuracies[name] = phi(bound.associations, spec.vocab**spec.context, spec.vocab)
    return accuracies


def _ends(ends: tuple[float, float]) -> str:
    return f"{ends[0]:.3g} to {ends[1]:.3g}"
