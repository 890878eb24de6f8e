"""What theory guarantees a specification, and what each method takes for given facts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rote.charts import TONES, BarChart, ChartSeries, Mark, Style, XYChart
from rote.display import number
from rote.experiments.sizing.row import BITS, PlanRow
from rote.experiments.sizing.theory import smallest_by_theory
from rote.models.spec import Spec
from rote.tasks.shape import TaskShape
from rote.theory import bounds

STEPS = 5
"""Numbers of facts at which a curve is evaluated."""
DASHES: tuple[Style, ...] = ("joined", "dashed", "dotted")


def stored_chart(spec: Spec, facts: int, stored: int, name: str) -> BarChart:
    """What is guaranteed and what is impossible for a model of these sizes, against what one was built to hold."""
    every = bounds(spec)
    sure = every.guaranteed.associations if every.guaranteed else 0
    title = f"{name}: {stored:,} of {facts:,} facts stored in {spec.parameters():,} parameters, {sure:,} guaranteed"
    return every.chart(stored, title)


def growth_charts(shape: TaskShape, dtype: str = "float32") -> tuple[XYChart, XYChart]:
    """Bytes and parameters against the number of facts, for every result that gives a smallest model.

    Keys, answers and bits grow with the facts as they do in the task: each fact brings its share.
    """
    sizes = sorted({max(2, round(shape.associations * 4.0 ** (step - STEPS // 2))) for step in range(STEPS)})
    rows = [(facts, smallest_by_theory(_scaled(shape, facts), BITS[dtype])) for facts in sizes]
    names = sorted({row.id for _, smallest in rows for row in smallest if row.kind not in ("limit", "exact")})
    return _growth_chart(rows, "bytes", names), _growth_chart(rows, "parameters", names)


def _growth_chart(
    rows: Sequence[tuple[int, Sequence[PlanRow]]], by: Literal["bytes", "parameters"], names: Sequence[str]
) -> XYChart:
    """A curve per result; its place among the names gives it the same tone and dash in every chart."""
    curves: dict[str, list[Mark]] = {}
    limits: set[str] = set()
    for facts, smallest in rows:
        for row in smallest:
            value = row.bytes if by == "bytes" else row.parameters
            curve = curves.setdefault(row.id, [])
            # A result may give several smallest models; rows come fewest bytes first.
            if row.possible and value and (not curve or curve[-1].x != facts):
                says = f"{row.id}: {facts:,} facts in {number(float(value))} {by}. {row.model}"
                curve.append(Mark(float(facts), float(value), says))
            if row.kind == "limit":
                limits.add(row.id)
    drawn = {name: curve for name, curve in curves.items() if len(curve) > 1}
    series = [
        # Tones come round again, in another dash.
        ChartSeries(name, drawn[name], DASHES[index // len(TONES) % len(DASHES)], TONES[index % len(TONES)])
        for index, name in enumerate(names)
        if name in drawn
    ]
    series += [
        ChartSeries(name, curve, "dashed" if name in limits else "dotted", "grey")
        for name, curve in drawn.items()
        if name not in names
    ]
    return XYChart(f"{by} against facts", "facts", by, series, log_x=True, log_y=True)


def _scaled(shape: TaskShape, facts: int) -> TaskShape:
    """The same kind of table with another number of facts."""
    share = facts / shape.associations
    # Tokens at one of S positions grow as the S-th root of the keys they spell.
    root = share ** (1 / shape.context)
    tokens = max(2, round(shape.key_tokens * root))
    while tokens ** min(shape.context, 64) < facts:
        tokens += 1
    answers = max(1, min(facts, round(shape.answers * share)))
    return shape.model_copy(
        update={
            "associations": facts,
            "key_tokens": tokens,
            "last_tokens": max(1, min(tokens, round(shape.last_tokens * root))),
            "answers": answers,
            "vocab": max(tokens + answers, 2) if shape.vocab > shape.key_tokens else max(tokens, answers),
            "bits": shape.bits * share,
        }
    )
