"""What the trials of a figure about vector tasks say: points by series, laws, and the verdict on each claim."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rote.charts import Chart, ChartSeries, Mark, Style, Tone, XYChart, shape, tones
from rote.display import number
from rote.experiments.findings import Column, Findings, Verdict
from rote.experiments.runner import Rows
from rote.experiments.vectors.capacity import VectorCapacity, capacity_of, thresholds
from rote.experiments.vectors.schedule import VectorSchedule
from rote.experiments.vectors.trial import Results, VectorResult
from rote.experiments.vectors.verdicts import VectorPoint, VectorPoints, VectorSeries, decide_on_vectors
from rote.papers.claims import Rule
from rote.papers.kinds.vectors import (
    CapacityFigure,
    SaturationFigure,
    Size,
    Threshold,
    VectorFigure,
    VectorSetting,
)
from rote.papers.mahdavi2024.measured import measured_capacities

SMALLEST_SHOWN = 0.8
"""Nothing recalled is drawn here on a logarithmic axis."""
LINE = 120
"""Places at which a straight line is drawn."""


def vector_chart(findings: VectorPoints, title: str, note: str) -> XYChart:
    """Means over seeds, joined, with every seed's value, and the interval that a capacity lies in."""
    figure = findings.schedule.figure
    counts = isinstance(figure, CapacityFigure)
    drawn: list[ChartSeries] = []
    for index, (series, tone) in enumerate(zip(findings.series, tones(len(findings.series)), strict=True)):
        seeds = [mark for point in series.points for mark in _seeds(point, counts)]
        means = [_mean(series, point, figure.x_label, counts) for point in series.points]
        drawn.append(ChartSeries(series.name, seeds, "ticks", tone, in_legend=False))
        drawn.append(ChartSeries(series.name, means, "joined", tone, shape=shape(index)))
    if counts:
        drawn += _bounds([point for series in findings.series for point in series.points], figure.size)
        drawn += _straight_lines(findings) if figure.size == "heads" else []
    saturation = isinstance(figure, SaturationFigure)
    most = max((value for series in findings.series for point in series.points for value in point.values), default=1.0)
    return XYChart(
        title,
        figure.x_label,
        figure.y_label,
        drawn,
        log_x=counts or saturation,
        log_y=counts or (not saturation and figure.cells[0][0].classes is None),
        y_range=(0.0, 1.08 * most or 1.0) if saturation else None,
        note=note,
        x_ticks=sorted({point.x for series in findings.series for point in series.points}),
    )


def _mean(series: VectorSeries, point: VectorPoint, x: str, counts: bool) -> Mark:
    values = ", ".join(number(value) for value in point.values)
    return Mark(point.x, _shown(point.mean, counts), f"{series.name}, {x} {point.x:g}: {values}")


def _seeds(point: VectorPoint, counts: bool) -> list[Mark]:
    highs = point.too_many or (None,) * len(point.values)
    return [
        Mark(point.x, _shown(low, counts), interval=None if high is None else (_shown(low, counts), high))
        for low, high in zip(point.values, highs, strict=True)
    ]


def _shown(value: float, counts: bool) -> float:
    return max(value, SMALLEST_SHOWN) if counts else value


def _bounds(points: list[VectorPoint], size: str) -> list[ChartSeries]:
    """Theorem 1 and the ranks; a line for each number of heads where something else varies."""
    numbers = [None] if size == "heads" else sorted({point.setting.heads for point in points}, reverse=True)
    drawn = []
    for heads in numbers:
        members = [point for point in points if heads in (None, point.setting.heads)]
        guaranteed = sorted({(point.x, point.setting.guaranteed) for point in members})
        rank = sorted({(point.x, point.setting.rank) for point in members if point.setting.shared})
        fresh = sorted({(point.x, point.setting.rank) for point in members if not point.setting.shared})
        lines: list[tuple[list[tuple[float, int]], str, Style]] = [
            (guaranteed, "H(min(n, k) - 1) + 1: Theorem 1", "dashed"),
            ([] if rank == guaranteed else rank, "H(n - 1) + 1: rank, one context", "dotted"),
            (fresh, "Hd: rank, fresh contexts", "dash-dotted"),
        ]
        named = f", H = {heads}" if len(numbers) > 1 else ""
        tone: Tone = "grey"
        drawn += [
            ChartSeries(label + named, [Mark(x, float(y)) for x, y in line], style, tone, faint=heads != numbers[0])
            for line, label, style in lines
            if line
        ]
    return drawn


def _straight_lines(findings: VectorPoints) -> list[ChartSeries]:
    """What a line through the means says, where it is above nothing."""
    drawn = []
    for series, tone in zip(findings.series, tones(len(findings.series)), strict=True):
        line = series.fit("linear")
        if line is None:
            continue
        dense = np.geomspace(series.points[0].x, series.points[-1].x, LINE)
        marks = [
            Mark(x, y)
            for x, y in zip(dense.tolist(), np.asarray(line(dense)).tolist(), strict=True)
            if y > SMALLEST_SHOWN
        ]
        drawn.append(ChartSeries("straight line in H", marks, "dotted", tone, in_legend=False))
    return [*drawn, ChartSeries("straight lines in H", (), "dotted", "grey")] if drawn else []


@dataclass(frozen=True)
class VectorFindings(VectorPoints, Findings[VectorFigure, VectorSchedule]):
    def decide(self, rule: Rule) -> Verdict:
        return decide_on_vectors(rule, self)

    @property
    def data(self) -> str:
        return "random vectors with random labels or targets"

    @property
    def cpu_seconds(self) -> float:
        """The search for all labels includes the tries of that for 0.99 of them, so that the longer one counts."""
        longest: dict[tuple[VectorSetting, float, str], float] = {}
        for series in self.series:
            for point in series.points:
                name = "" if isinstance(self.figure, CapacityFigure) else series.name
                key = (point.setting, point.x, name)
                longest[key] = max(longest.get(key, 0.0), point.seconds)
        return sum(longest.values())

    @property
    def columns(self) -> Sequence[Column]:
        figure = self.figure
        return (
            Column("series", "series"),
            Column(figure.x_label, "x"),
            Column(f"{figure.y_label}, per seed", _per_seed),
            Column("mean", lambda row: float(np.mean(row["values"]))),
            Column("Theorem 1", "guaranteed"),
            Column("rank", "rank"),
            Column("seconds", lambda row: round(row["seconds"], 1)),
        )

    def rows(self) -> list[dict[str, Any]]:
        return [
            {
                "series": series.name,
                "x": point.x,
                "values": list(point.values),
                **({"too_many": list(point.too_many)} if point.too_many else {}),
                "guaranteed": point.setting.guaranteed,
                "rank": point.setting.rank,
                "seconds": point.seconds,
                **({"mean_overlap": float(np.mean(point.overlaps))} if point.overlaps else {}),
            }
            for series in self.series
            for point in series.points
        ]

    def charts(self) -> dict[str, Chart]:
        return {self.figure.id: vector_chart(self, self.title, self.conditions)}

    def extras(self) -> dict[str, Any]:
        return {
            "x": self.figure.x_label,
            "y": self.figure.y_label,
            "fits": [
                {"series": series.name, **fit.summary()}
                for series in self.series
                for fit in (series.fit("linear"), series.power)
                if fit is not None
            ],
        }


def _per_seed(row: Any) -> str:
    """Every seed's value; a capacity as the interval that it lies in."""
    if "too_many" not in row:
        return ", ".join(f"{value:.5g}" for value in row["values"])
    return ", ".join(
        f"{value:.0f} to {'?' if high is None else f'{high:.0f}'}"
        for value, high in zip(row["values"], row["too_many"], strict=True)
    )


def vector_findings(schedule: VectorSchedule, rows: Rows) -> VectorFindings:
    """Arrange what has ended; points without a single seed are counted as missing."""
    results = {key: VectorResult.of(row.result) for key, row in rows.items()}
    if not isinstance(schedule.figure, CapacityFigure):
        return _arranged(schedule, _asked(schedule, results))
    searches = (
        capacity_of(setting, threshold, schedule.protocol, seed, results)
        for setting, _ in schedule.cells
        for threshold in thresholds(setting)
        for seed in range(schedule.repeats)
    )
    return capacity_findings(schedule, [capacity for capacity in searches if capacity is not None])


def capacity_findings(schedule: VectorSchedule, capacities: Sequence[VectorCapacity]) -> VectorFindings:
    """Arrange searches that have ended, wherever they ran; those that the schedule does not ask for are left out."""
    ended: dict[tuple[VectorSetting, Threshold], list[VectorCapacity]] = {}
    for capacity in sorted(capacities, key=lambda capacity: capacity.seed):
        if capacity.seed < schedule.repeats:
            ended.setdefault((capacity.setting, capacity.threshold), []).append(capacity)
    size = schedule.figure.size if isinstance(schedule.figure, CapacityFigure) else "heads"
    return _arranged(
        schedule,
        [
            (f"{setting.in_words}, {threshold.in_words}", _point(size, setting, ended.get((setting, threshold), [])))
            for setting, _ in schedule.cells
            for threshold in thresholds(setting)
        ],
    )


def _point(size: Size, setting: VectorSetting, ended: list[VectorCapacity]) -> VectorPoint:
    return VectorPoint(
        getattr(setting, size),
        tuple(float(capacity.recalled) for capacity in ended),
        setting,
        sum(capacity.seconds for capacity in ended),
        tuple(None if capacity.too_many is None else float(capacity.too_many) for capacity in ended),
    )


def _arranged(schedule: VectorSchedule, rows: list[tuple[str, VectorPoint]]) -> VectorFindings:
    by_series: dict[str, list[VectorPoint]] = {}
    for name, point in rows:
        if point.values:
            by_series.setdefault(name, []).append(point)
    series = tuple(
        VectorSeries(name, tuple(sorted(points, key=lambda point: point.x))) for name, points in by_series.items()
    )
    return VectorFindings(schedule, series, sum(len(point.values) < schedule.repeats for _, point in rows))


def _asked(schedule: VectorSchedule, results: Results) -> list[tuple[str, VectorPoint]]:
    figure = schedule.figure
    groups: dict[tuple[str, float], list[tuple[VectorSetting, VectorResult | None]]] = {}
    for trial in schedule.trials():
        if isinstance(figure, SaturationFigure):
            key = (f"H = {trial.setting.heads}, T = {trial.examples}", float(trial.protocol.steps))
        else:
            key = (f"T = {trial.examples:,}", float(getattr(trial.setting, figure.size)))
        groups.setdefault(key, []).append((trial.setting, results.get(trial.key)))
    rows = []
    for (name, x), members in groups.items():
        ended = [result for _, result in members if result is not None and result.diverged_at is None]
        values = tuple(_value(schedule, result) for result in ended)
        overlaps = tuple(pair for result in ended for pair in result.overlaps)
        seconds = sum(result.seconds for result in ended)
        rows.append((name, VectorPoint(x, values, members[0][0], seconds, overlaps=overlaps)))
    return rows


def _value(schedule: VectorSchedule, result: VectorResult) -> float:
    if isinstance(schedule.figure, SaturationFigure):
        return float(np.mean(result.by_head))
    value = result.mean_square if result.accuracy is None else result.accuracy
    return math.nan if value is None else value


def shipped_findings(figure: CapacityFigure) -> VectorFindings:
    """What was measured last for a figure, under protocol `fast`. How long it took is not kept."""
    return capacity_findings(VectorSchedule.of(figure), [VectorCapacity(**vars(row)) for row in measured_capacities()])
