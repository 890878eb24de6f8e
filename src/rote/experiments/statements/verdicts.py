"""Verdicts: each rule of `rote.papers.statement_rules` applied to the cells of a statement."""

from __future__ import annotations

import math
from functools import singledispatch
from statistics import median

from rote.errors import InputError
from rote.experiments.statements.findings import StatementFindings, StatementPoint
from rote.experiments.verdict import Outcome, Verdict
from rote.measure.laws import Points, fit_law
from rote.papers.rules import Rule
from rote.papers.statement_rules import AtMost, GrowsAs, StaysInProportion, side_in_words


@singledispatch
def decide_on_statement(rule: Rule, measured: StatementFindings) -> Verdict:
    """The verdict on a claim of this rule."""
    raise TypeError(f"no verdict is defined for the rule {type(rule).__name__}")


@decide_on_statement.register
def _(rule: AtMost, measured: StatementFindings) -> Verdict:
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
    where = f"{_place(measured, closest)}: {words}"
    numbers = {"trials": len(compared), "above": len(above), "smaller": small, "larger": large}
    if above:
        return Verdict("does not", f"fails in {len(above)} of {len(compared)} trials, most at {where}", numbers)
    if all(small == large for _, small, large in compared):
        return Verdict("holds", f"in all {len(compared)} trials, with equality", numbers)
    shares = [small / large for _, small, large in compared if small > 0 and large > 0]
    typical = ""
    if shares and isinstance(rule.smaller, str) and isinstance(rule.larger, str):
        numbers["median_share"] = median(shares)
        typical = f"; {_short(median(shares))} of it in the median"
    return Verdict("holds", f"in all {len(compared)} trials; closest at {where}{typical}", numbers)


@decide_on_statement.register
def _(rule: GrowsAs, measured: StatementFindings) -> Verdict:
    exponents: dict[str, tuple[float, tuple[float, float]]] = {}
    for name, points in measured.series.items():
        values: dict[float, list[float]] = {}
        for point in points:
            value = point.value(rule.value)
            if value is not None and value > 0:
                values.setdefault(math.log(point.x), []).append(math.log(value))
        try:
            fit = fit_law(Points.of(values), "linear")
        except InputError:  # too few points for a line with an interval
            continue
        exponents[name] = fit.values["b"], fit.hull("b")
    if not exponents:
        return Verdict("undecided", "no series has points enough for an exponent")
    why = "; ".join(
        f"{name}: exponent {e:.2f} ({low:.2f} to {high:.2f})" for name, (e, (low, high)) in exponents.items()
    )
    outcome: Outcome = "undecided"
    if any(high < rule.low or low > rule.high for _, (low, high) in exponents.values()):
        outcome = "does not"
    elif all(rule.low <= e <= rule.high for e, _ in exponents.values()):
        outcome = "holds"
    return Verdict(outcome, why, {name: {"exponent": e, "interval": ends} for name, (e, ends) in exponents.items()})


@decide_on_statement.register
def _(rule: StaysInProportion, measured: StatementFindings) -> Verdict:
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
        f"{series}: {_short(small)} times {name} at the smallest x, {_short(large)} at the largest"
        for series, (small, large) in grown.items()
    )
    over = any(small > rule.factor * large for small, large in grown.values())
    return Verdict("does not" if over else "holds", why, {series: list(ends) for series, ends in grown.items()})


def _named(side: str | float, value: float) -> str:
    return f"{side_in_words(side)} = {_short(value)}" if isinstance(side, str) else _short(value)


def _place(measured: StatementFindings, point: StatementPoint) -> str:
    return f"{point.series}, {measured.plan.figure.x} = {_short(point.x)}"


def _short(value: float) -> str:
    if value == int(value) and abs(value) < 1e7:
        return f"{int(value):,}"
    return f"{value:.3g}"
