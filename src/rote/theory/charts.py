"""The chart of bounds: facts by each result that applies."""

from __future__ import annotations

from collections.abc import Iterable

from rote.charts import Bar, BarChart, Tone
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


def bounds_chart(bounds: Iterable[Bound], facts: int | None, title: str) -> BarChart:
    """Facts by each result that applies, this model's first, with a line at the number of facts."""
    shown = [(bound, bound.associations) for bound in bounds if bound.associations]
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
