"""Published bits per parameter, as lines of a chart to compare with."""

from __future__ import annotations

from rote.charts import ChartSeries, Mark, Style, Tone

MORRIS_2025 = 3.6
"""Bits per parameter of trained GPT-style models, Morris et al. 2025."""
ALLENZHU_2024 = 2.0
"""Bits per parameter after 1000 exposures, Allen-Zhu and Li 2024."""


def published_levels(left: float, right: float) -> list[ChartSeries]:
    """A line for each published value."""
    known = (("Morris et al. 2025", MORRIS_2025), ("Allen-Zhu and Li 2024", ALLENZHU_2024))
    styles: tuple[Style, Style] = ("dashed", "dotted")
    return [
        level(f"{name}: {value:g}", value, left, right, style, "grey")
        for (name, value), style in zip(known, styles, strict=True)
    ]


def level(name: str, value: float, left: float, right: float, style: Style, tone: Tone) -> ChartSeries:
    """A horizontal line."""
    return ChartSeries(name, [Mark(left, value), Mark(right, value)], style, tone)
