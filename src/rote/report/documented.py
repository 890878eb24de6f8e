"""Charts that the documentation shows and whose data ship with rote, so that a test can tell when one is out of date.

`tools/draw_figures.py` draws them. Each file carries the digest of the chart it was drawn from.
"""

from __future__ import annotations

from rote.charts import Chart
from rote.constructions.build import build
from rote.experiments.vectors.findings import shipped_findings
from rote.papers.mahdavi2024.capacity import BY_CONTEXT, BY_HEAD_DIM, BY_HEADS
from rote.report.plan_charts import stored_chart
from rote.tasks.facts import facts


def documented_charts() -> dict[str, Chart]:
    """Charts by the name of their file in docs/, without its suffix."""
    # What `rote build countries` ends in.
    built = build(facts("countries"), "rote.selector")
    charts: dict[str, Chart] = {
        "guarantees": stored_chart(built.model.spec, built.certificate.facts, built.certificate.recalled, "countries")
    }
    for figure in (BY_HEADS, BY_CONTEXT, BY_HEAD_DIM):
        charts |= shipped_findings(figure).charts()
    return charts
