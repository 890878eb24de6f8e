"""Verdicts: each rule of `rote.papers.kinds.statements` applied to the cells of a statement."""

from __future__ import annotations

import math
from functools import singledispatch
from statistics import median

from rote.display import number
from rote.experiments.power_law import Exponent, log_log_exponent, power_outcome
from rote.experiments.statements.points import StatementPoint, StatementPoints
from rote.experiments.verdict import Verdict
from rote.papers.claims import GrowsAs, Rule, side_in_words
from rote.papers.kinds.statements import AtMost, HigherBeyondFirst, StaysInProportion


@singledispatch
def decide_on_statement(rule: Rule, measured: StatementPoints) -> Verdict:
    """The verdict on a claim of this rule."""
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
    where = f"{_place(measured, closest)}: {words}"
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


def _place(measured: StatementPoints, point: StatementPoint) -> str:
    return f"{point.series}, {measured.schedule.figure.x} = {_shown(point.x)}"


def _shown(value: float) -> str:
    return number(float(value), 3)
