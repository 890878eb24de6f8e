"""Charts of a plan: bytes of every way to hold the facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rote.charts import Bar, BarChart, Tone
from rote.experiments.sizing.row import PlanRow


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
