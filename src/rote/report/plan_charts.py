"""What theory guarantees a specification, and what each method takes for given facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from rote.charts import TONES, Bar, BarChart, ChartSeries, Mark, Style, Tone, XYChart
from rote.display import number
from rote.experiments.sizing.built import BITS
from rote.experiments.sizing.row import PlanRow
from rote.experiments.sizing.theory import smallest_by_theory
from rote.models.spec import Spec
from rote.tasks.shape import TaskShape
from rote.theory import Bounds, bounds
from rote.theory.bound import Bound, Section

TONE: dict[Section, Tone] = {
    "guaranteed": "blue", "impossible": "vermilion", "other architectures": "grey", "orders and estimates": "orange",
}  # fmt: skip
MEANING: dict[Section, str] = {
    "guaranteed": "guaranteed for this model",
    "impossible": "no more is possible",
    "other architectures": "another architecture of the same size",
    "orders and estimates": "up to constants, or measured",
}
STEPS = 5
"""Numbers of facts at which a curve is evaluated."""
DASHES: tuple[Style, ...] = ("joined", "dashed", "dotted")


def bounds_chart(bounds: Bounds, facts: int | None, title: str) -> BarChart:
    """Facts by each result that applies, this model's first, with a line at the number of facts.

    Results that give all contexts there are, about other architectures or up to constants, are left out.
    """
    shown = [(bound, bound.associations) for bound in bounds.listed if bound.associations]
    bars = [
        Bar(_name(bound), float(count), f"{bound.id}, {bound.says} {count:,}: {bound.reason}", TONE[bound.section])
        for bound, count in shown
    ]
    present = {bound.section for bound, _ in shown}
    legend = {TONE[section]: MEANING[section] for section in TONE if section in present}
    line = None if facts is None else (float(facts), f"{facts:,} facts")
    return BarChart(title, "facts", bars, log=True, line=line, legend=legend)


def _name(bound: Bound) -> str:
    return f"{bound.id} ({bound.about})" if bound.matched else bound.id


def stored_chart(spec: Spec, facts: int, stored: int, name: str) -> BarChart:
    """What is guaranteed and what is impossible for a model of these sizes, against what one was built to hold."""
    every = bounds(spec)
    sure = every.guaranteed.associations if every.guaranteed else 0
    title = f"{name}: {stored:,} of {facts:,} facts stored in {spec.parameters():,} parameters, {sure:,} guaranteed"
    return bounds_chart(every, stored, title)


def plan_chart(rows: Sequence[PlanRow], title: str) -> BarChart:
    """Bytes of every way to hold the facts that a plan sized, fewest first."""
    meaning: dict[Tone, str] = {
        "blue": "what building ends in",
        "orange": "estimated",
        "grey": "no model",
        "vermilion": "none is smaller",
    }
    return _bytes_chart(rows, title, meaning, {"builds": "blue", "estimates": "orange"})


def theory_chart(rows: Sequence[PlanRow], title: str) -> BarChart:
    """Bytes of the smallest model that each result gives for a shape of facts, fewest first."""
    meaning: dict[Tone, str] = {
        "blue": "smallest model by a result",
        "grey": "no model: table, zip",
        "vermilion": "none is smaller",
    }
    return _bytes_chart(rows, title, meaning, {"orders": "blue"})


def _bytes_chart(rows: Sequence[PlanRow], title: str, meaning: dict[Tone, str], tones: Mapping[str, Tone]) -> BarChart:
    sized = [(row.bytes, row) for row in rows if row.possible and row.bytes is not None]
    bars = [
        Bar(
            row.id,
            float(size),
            f"{row.id}: {size:,} bytes"
            + ("" if row.parameters is None else f", {row.parameters:,} parameters")
            + f". {row.model}",
            "vermilion" if row.kind == "limit" else tones.get(row.section, "grey"),
        )
        for size, row in sorted(sized, key=lambda pair: pair[0])
    ]
    used = {bar.tone for bar in bars}
    legend: dict[Tone, str] = {tone: name for tone, name in meaning.items() if tone in used}
    return BarChart(title, "bytes", bars, log=True, legend=legend)


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
