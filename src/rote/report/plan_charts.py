"""What theory promises a specification, and what each method takes for given facts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rote.experiments.plan_built import BITS
from rote.experiments.plan_row import PlanRow
from rote.experiments.plan_theory import smallest_by_theory
from rote.report.charts import TONES, Bar, BarChart, Mark, Series, Tone, XYChart, number
from rote.tasks.shape import TaskShape
from rote.theory.bound import Bound

KINDS: dict[str, Tone] = {"lower": "blue", "upper": "vermilion", "order": "grey", "estimate": "orange"}
MEANING = {
    "lower": "lower: so many can be stored",
    "upper": "upper: no more can be",
    "order": "order: up to constants",
    "estimate": "estimate: measured",
}
STEPS = 9
"""Numbers of facts at which a curve is evaluated."""


def bounds_chart(bounds: Sequence[Bound], facts: int | None, title: str) -> BarChart:
    """Associations that each bound that applies promises, with a line at the number of facts."""
    applying = [(bound, bound.associations) for bound in bounds if bound.applies and bound.associations]
    shown = sorted(applying, key=lambda pair: pair[1])
    bars = [
        Bar(bound.id, float(count), f"{bound.id} ({bound.kind}): {count:,}. {bound.reason}", KINDS[bound.kind])
        for bound, count in shown
    ]
    legend: dict[Tone, str] = {
        KINDS[kind]: MEANING[kind] for kind in KINDS if any(bound.kind == kind for bound, _ in shown)
    }
    line = None if facts is None else (float(facts), f"{facts:,} facts")
    return BarChart(title, "associations", bars, log=True, line=line, legend=legend)


def plan_chart(rows: Sequence[PlanRow], title: str) -> BarChart:
    """Bytes of every way to hold the facts, fewest first."""
    tones: dict[str, Tone] = {"limit": "vermilion", "exact": "grey"}
    bars = [
        Bar(
            row.id,
            float(row.bytes),
            f"{row.id}: {row.bytes:,} bytes"
            + ("" if row.parameters is None else f", {row.parameters:,} parameters")
            + f". {row.model}",
            tones.get(row.kind, "blue" if row.spec is not None else "sky"),
        )
        for row in rows
        if row.possible and row.bytes is not None
    ]
    names: dict[Tone, str] = {
        "blue": "an architecture that is here",
        "sky": "a number of parameters only",
        "grey": "no model: table, zip",
        "vermilion": "none is smaller",
    }
    used = {bar.tone for bar in bars}
    return BarChart(title, "bytes", bars, log=True, legend={tone: name for tone, name in names.items() if tone in used})


def growth_chart(
    shape: TaskShape, dtype: str = "float32", by: Literal["bytes", "parameters"] = "bytes", methods: int = 6
) -> XYChart:
    """Bytes or parameters against the number of facts, for the methods that take least at the task's own size.

    Keys, answers and bits grow with the facts as they do in the task: each fact brings its share.
    """
    sizes = sorted({max(2, round(shape.associations * 4.0 ** ((step - STEPS // 2) / 2))) for step in range(STEPS)})
    curves: dict[str, list[Mark]] = {}
    possible: dict[str, tuple[float, str]] = {}
    for facts in sizes:
        for row in smallest_by_theory(_scaled(shape, facts), BITS[dtype]):
            value = row.bytes if by == "bytes" else row.parameters
            if not row.possible or not value:
                continue
            mark = Mark(
                float(facts), float(value), f"{row.id}: {facts:,} facts in {number(float(value))} {by}. {row.model}"
            )
            # A result may give several smallest models; rows come fewest bytes first.
            if not curves.setdefault(row.id, []) or curves[row.id][-1].x != facts:
                curves[row.id].append(mark)
            if facts == shape.associations:
                possible.setdefault(row.id, (float(value), row.kind))
    order = sorted((name for name in possible if len(curves[name]) > 1), key=lambda name: possible[name])
    chosen = [name for name in order if possible[name][1] not in ("limit", "exact")][:methods]
    series = [Series(name, curves[name], "joined", TONES[place % len(TONES)]) for place, name in enumerate(chosen)] + [
        Series(name, curves[name], "dashed" if possible[name][1] == "limit" else "dotted", "grey")
        for name in order
        if possible[name][1] in ("limit", "exact")
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
