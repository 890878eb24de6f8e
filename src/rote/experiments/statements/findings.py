"""What the cells of a checked statement say: numbers by series and x, and the verdict on each claim."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from itertools import cycle
from statistics import median
from typing import Any, ClassVar

from rote.charts import Chart, ChartSeries, Mark, Panels, Shape, Style, Tone, XYChart
from rote.display import number
from rote.experiments.findings import Column, Findings, Verdict
from rote.experiments.ledgers.ledger import TrialRow
from rote.experiments.power_law import Exponent, log_log_exponent, power_outcome
from rote.experiments.runner import Rows
from rote.experiments.statements.schedule import StatementSchedule
from rote.papers.claims import GrowsAs, Rule, side_in_words
from rote.papers.kinds.statements import AtMost, HigherBeyondFirst, Line, Statement, StaysInProportion, Study


@dataclass(frozen=True)
class StatementPoint:
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
        grouped: dict[str, list[StatementPoint]] = {}
        for point in self.evaluated:
            grouped.setdefault(point.series, []).append(point)
        return {name: sorted(points, key=lambda point: point.x) for name, points in grouped.items()}


@singledispatch
def decide_on_statement(rule: Rule, measured: StatementPoints) -> Verdict:
    raise TypeError(f"no verdict is defined for the rule {type(rule).__name__}")


@decide_on_statement.register
def _(rule: AtMost, measured: StatementPoints) -> Verdict:
    compared = [
        (point, small, large)
        for point in measured.evaluated
        if (small := point.value(rule.smaller)) is not None and (large := point.value(rule.larger)) is not None
    ]
    if not compared:
        return Verdict("undecided", "no trial has both numbers")
    above = [
        (point, small, large)
        for point, small, large in compared
        if small > large + rule.within * max(1.0, abs(small), abs(large))
    ]
    closest, small, large = max(above or compared, key=lambda row: row[1] / row[2] if row[2] > 0 else math.inf)
    words = f"{_named(rule.smaller, small)} against {_named(rule.larger, large)}"
    where = f"{closest.series}, {measured.schedule.figure.x} = {_shown(closest.x)}: {words}"
    numbers = {"trials": len(compared), "above": len(above), "smaller": small, "larger": large}
    if above:
        return Verdict("not supported", f"fails in {len(above)} of {len(compared)} trials, most at {where}", numbers)
    if all(small == large for _, small, large in compared):
        return Verdict("supported", f"in all {len(compared)} trials, with equality", numbers)
    shares = [small / large for _, small, large in compared if small > 0 and large > 0]
    typical = ""
    if shares and isinstance(rule.smaller, str) and isinstance(rule.larger, str):
        numbers["median_share"] = median(shares)
        typical = f"; {_shown(median(shares))} of it in the median"
    return Verdict("supported", f"in all {len(compared)} trials; closest at {where}{typical}", numbers)


@decide_on_statement.register
def _(rule: GrowsAs, measured: StatementPoints) -> Verdict:
    exponents: dict[str, Exponent] = {}
    for name, points in measured.series.items():
        values: dict[float, list[float]] = {}
        for point in points:
            value = point.value(rule.of or "")
            if value is not None and value > 0:
                values.setdefault(point.x, []).append(value)
        exponent = log_log_exponent(values)
        if exponent is not None:
            exponents[name] = exponent
    if not exponents:
        return Verdict("undecided", "no series has points enough for an exponent")
    numbers = {name: {"exponent": e.fitted, "interval": e.interval} for name, e in exponents.items()}
    why = "; ".join(f"{name}: exponent {e.in_words}" for name, e in exponents.items())
    return Verdict(power_outcome(rule, exponents), why, numbers)


@decide_on_statement.register
def _(rule: StaysInProportion, measured: StatementPoints) -> Verdict:
    grown: dict[str, tuple[float, float]] = {}
    for name, points in measured.series.items():
        ratios: dict[float, list[float]] = {}
        for point in points:
            value, to = point.value(rule.value), point.value(rule.to)
            if value is not None and to:
                ratios.setdefault(point.x, []).append(value / to)
        if len(ratios) > 1:
            first, last = ratios[min(ratios)], ratios[max(ratios)]
            grown[name] = sum(first) / len(first), sum(last) / len(last)
    if not grown:
        return Verdict("undecided", "no series has two values of x")
    name = side_in_words(rule.to).replace("epsilon log", "eps log(1/eps)")
    why = "; ".join(
        f"{series}: {_shown(small)} times {name} at the smallest x, {_shown(large)} at the largest"
        for series, (small, large) in grown.items()
    )
    over = any(small > rule.factor * large for small, large in grown.values())
    return Verdict(
        "not supported" if over else "supported", why, {series: list(ends) for series, ends in grown.items()}
    )


@decide_on_statement.register
def _(rule: HigherBeyondFirst, measured: StatementPoints) -> Verdict:
    values: dict[float, list[float]] = {}
    for point in measured.series.get(rule.series, []):
        value = point.value(rule.of)
        if value is not None:
            values.setdefault(point.x, []).append(value)
    if len(values) < 2:
        return Verdict("undecided", "fewer than two values of x")
    (_, first), *others = values.items()
    best, found = max(others, key=lambda row: sum(row[1]) / len(row[1]))
    shown = [f"{_shown(min(v))} to {_shown(max(v))}" for v in (first, found)]
    x = measured.schedule.figure.x
    why = f"{shown[0]} at {x} = {_shown(min(values))}; the best of the others {shown[1]}, at {_shown(best)}"
    numbers = {_shown(at): found for at, found in values.items()}
    if min(found) > (1 + rule.by) * max(first):
        return Verdict("supported", why, numbers)
    never = all(max(found) <= (1 + rule.by) * min(first) for _, found in others)
    return Verdict("not supported" if never else "undecided", why, numbers)


def _named(side: str | float, value: float) -> str:
    return f"{side_in_words(side)} = {_shown(value)}" if isinstance(side, str) else _shown(value)


def _shown(value: float) -> str:
    return number(float(value), 3)


MEASURED: tuple[tuple[Tone, Shape], ...] = (
    ("blue", "disc"), ("vermilion", "square"), ("green", "triangle"), ("purple", "diamond"), ("orange", "down"),
    ("sky", "plus"), ("ink", "disc"), ("grey", "square"),
)  # fmt: skip
Styles = Mapping[str, tuple[Tone, Shape]]
"""Of measured series, by label."""
STATED: tuple[tuple[Tone, Style], ...] = (
    ("ink", "dashed"), ("orange", "dotted"), ("grey", "dash-dotted"), ("grey", "line"),
)  # fmt: skip
SMALLEST_SHOWN = 1e-15
"""On a logarithmic axis less than this is left out: it is rounding."""


def statement_chart(findings: StatementPoints, title: str, note: str) -> Panels:
    """Measured numbers have points and are joined; stated ones are lines."""
    figure = findings.schedule.figure
    panels = []
    for name, points in findings.series.items():
        drawn = _lines(points, figure.lines, figure.x, log_x=figure.log_x, log_y=figure.log_y)
        panels.append(
            XYChart(name, figure.x, figure.y, drawn, log_x=figure.log_x, log_y=figure.log_y, x_ticks=_ticks(drawn))
        )
    return Panels(title, panels, note)


def study_chart(findings: StatementPoints, study: Study, title: str, note: str) -> Panels:
    """A panel for each view and series, or for each view with a line for each series; a label looks alike in all."""

    def drawn(points: Sequence[StatementPoint], lines: Sequence[Line], styles: Styles) -> list[ChartSeries]:
        found = _lines(points, lines, study.x, log_x=study.log_x, log_y=study.log_y)
        return [
            replace(series, tone=styles[series.name][0], shape=styles[series.name][1])
            if series.name in styles
            else series
            for series in found
        ]

    def panel(name: str, y: str, series: Sequence[ChartSeries]) -> XYChart:
        return XYChart(name, study.x, y, series, log_x=study.log_x, log_y=study.log_y, x_ticks=_ticks(series))

    if study.together:
        styles = dict(zip(findings.series, cycle(MEASURED), strict=False))
        panels = []
        for view in study.views:
            named = [(points, [Line(view.lines[0].value, name)]) for name, points in findings.series.items()]
            lines = [drawn(points, line, styles)[0] for points, line in named]
            panels.append(panel(view.lines[0].label, view.y, lines))
        return Panels(title, panels, note)
    labels = dict.fromkeys(line.label for view in study.views for line in view.lines if not line.bound)
    styles = dict(zip(labels, cycle(MEASURED), strict=False))
    panels = [
        panel(name, view.y, drawn(points, view.lines, styles))
        for name, points in findings.series.items()
        for view in study.views
    ]
    return Panels(title, panels, note)


def _ticks(drawn: Sequence[ChartSeries]) -> list[float]:
    return sorted({mark.x for series in drawn for mark in series.marks})


def _lines(
    points: Sequence[StatementPoint], lines: Sequence[Line], x_label: str, *, log_x: bool, log_y: bool
) -> list[ChartSeries]:
    measured, stated = cycle(MEASURED), cycle(STATED)
    drawn = []
    for line in lines:
        values = means(points, line.value, log_x=log_x, log_y=log_y)
        marks = [Mark(x, y, f"{line.label}, {x_label} {x:g}: {number(y)}") for x, y in values.items()]
        if line.bound:
            tone, style = next(stated)
            drawn.append(ChartSeries(line.label, marks, style, tone))
        else:
            tone, shape = next(measured)
            drawn.append(ChartSeries(line.label, marks, "joined", tone, shape=shape))
    return drawn


def means(points: Sequence[StatementPoint], value: str, *, log_x: bool, log_y: bool) -> dict[float, float]:
    """By x, the mean over seeds: geometric on a logarithmic axis."""
    values: dict[float, list[float]] = {}
    for point in points:
        found = point.value(value)
        if found is not None and (point.x > 0 or not log_x) and (found > SMALLEST_SHOWN or not log_y):
            values.setdefault(point.x, []).append(found)
    return {
        x: math.exp(sum(map(math.log, found)) / len(found)) if log_y else sum(found) / len(found)
        for x, found in sorted(values.items())
    }


@dataclass(frozen=True)
class StatementFindings(StatementPoints, Findings[Statement, StatementSchedule]):
    counted: ClassVar[str] = "cells"

    def decide(self, rule: Rule) -> Verdict:
        return decide_on_statement(rule, self)

    @property
    def data(self) -> str:
        return "; ".join(dict.fromkeys(cell.series for cell in self.figure.cells))

    @property
    def columns(self) -> Sequence[Column]:
        """What the figure draws, then all else that was measured."""
        drawn = {line.value: line.label for line in self.figure.lines}
        others = dict.fromkeys(name for point in self.evaluated for name in point.numbers if name not in drawn)
        return (
            Column("series", "series"),
            Column(self.figure.x, "x"),
            Column("seed", "seed"),
            *(Column(label, _number(name)) for name, label in drawn.items()),
            *(Column(name.replace("_", " "), _number(name)) for name in others),
        )

    def rows(self) -> list[dict[str, Any]]:
        return [{"series": point.series, "x": point.x, "seed": point.seed, **point.numbers} for point in self.evaluated]

    def charts(self) -> dict[str, Chart]:
        if isinstance(self.figure, Study):
            return {self.figure.id: study_chart(self, self.figure, self.conclusion, self.conditions)}
        return {self.figure.id: statement_chart(self, self.title, self.conditions)}

    @property
    def conclusion(self) -> str:
        """The headline of a study if its claims were decided so; else what was asked."""
        if not isinstance(self.figure, Study):
            return self.title
        headline = self.figure.headline
        supported = {claim.id for claim, verdict in self.verdicts if verdict.outcome == "supported"}
        refuted = {claim.id for claim, verdict in self.verdicts if verdict.refuted}
        found = supported.issuperset(headline.supported) and refuted.issuperset(headline.refuted)
        return headline.conclusion if found else self.title

    def extras(self) -> dict[str, Any]:
        return {"passage": self.figure.passage, "x": self.figure.x}


def _number(name: str) -> Any:
    """What a row has under this name; cells of another setting measure other things."""
    return lambda row: row.get(name)


def _numbers(row: TrialRow) -> dict[str, Any]:
    """The numbers of a trial; older ledgers call `guaranteed` `promised`."""
    return {"guaranteed" if name == "promised" else name: value for name, value in row.result["numbers"].items()}


def statement_findings(schedule: StatementSchedule, rows: Rows) -> StatementFindings:
    """Arrange what has ended; what has not is counted as missing."""
    trials = schedule.trials()
    points = tuple(
        StatementPoint(cell.series, cell.x, trial.seed, _numbers(row), row.seconds)
        for cell, trial in trials
        if (row := rows.get(trial.key)) is not None
    )
    return StatementFindings(schedule, points, len(trials) - len(points))
