"""Charts that the documentation shows and whose data ship with rote, so that a test can tell when one is out of date.

`tools/draw_figures.py` draws them. Each file carries the digest of the chart it was drawn from.
"""

from __future__ import annotations

from rote.charts import Chart
from rote.experiments.vectors.findings import shipped_findings
from rote.papers.mahdavi2024.capacity import BY_CONTEXT, BY_HEAD_DIM, BY_HEADS
from rote.report.plan_charts import stored_chart
from rote.tasks import require_associations
from rote.tasks.facts import facts
from rote.theory.sizes import theorem1_spec


def documented_charts() -> dict[str, Chart]:
    """Charts by the name of their file in docs/, without its suffix."""
    countries = require_associations(facts("countries"), "the figure counts facts")
    charts: dict[str, Chart] = {
        "guarantees": stored_chart(theorem1_spec(countries.shape), countries.facts, countries.facts, "countries")
    }
    for figure in (BY_HEADS, BY_CONTEXT, BY_HEAD_DIM):
        charts |= shipped_findings(figure).charts()
    return charts
