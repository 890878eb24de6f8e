"""Charts that the documentation shows and whose data ship with rote, so that a test can tell when one is out of date.

`tools/draw_figures.py` draws them. Each file carries the digest of the chart it was drawn from.
"""

from __future__ import annotations

from pages.concept_charts import concept_charts
from rote.charts import Bar, BarChart, Chart, Tone
from rote.constructions.build import build
from rote.constructions.construction import Request, construction_named, parse_options
from rote.experiments.sizing.theory import counting_row
from rote.experiments.vectors.findings import shipped_findings
from rote.papers.mahdavi2024.capacity import BY_CONTEXT, BY_HEAD_DIM, BY_HEADS
from rote.report.plan_charts import stored_chart
from rote.tasks import AssociationTask, require_associations
from rote.tasks.facts import facts
from rote.theory.rote_counting import FLOAT32_BITS

TRAINED = 5412
"""Parameters of the smallest attention-only model that recalls all of `countries` after training
(docs/real_tables.md)."""


def documented_charts() -> dict[str, Chart]:
    """Charts by the name of their file in docs/, without its suffix."""
    # What `rote build countries` ends in.
    countries = require_associations(facts("countries"), "its sizes are those of models that recall every fact")
    built = build(countries, "rote.selector")
    sizes = countries_sizes(countries)
    charts: dict[str, Chart] = {
        "sizes": sizes_chart(countries, sizes),
        "guarantees": stored_chart(built.model.spec, built.certificate.facts, built.certificate.recalled, "countries"),
        **concept_charts(countries, sizes),
    }
    for figure in (BY_HEADS, BY_CONTEXT, BY_HEAD_DIM):
        charts |= shipped_findings(figure).charts()
    return charts


def countries_sizes(task: AssociationTask) -> dict[str, int]:
    """Parameters of attention-only Transformers that hold all of `countries`, by how the weights are found."""
    return {
        "built: rote.selector, the default": _parameters("rote.selector", task),
        "trained: best of a search": TRAINED,
        "built: Corollary 1 of Dana et al., d = 2": _parameters("dana2025.corollary1", task),
        "built: Theorem 1 of Dana et al., d = 20": _parameters("dana2025.theorem1", task),
    }


def sizes_chart(task: AssociationTask, sizes: dict[str, int]) -> BarChart:
    """These parameters, and what counting says no model can be smaller than."""
    floor = counting_row(task.shape, FLOAT32_BITS).parameters or 0
    rows: list[tuple[str, int, Tone]] = [("no model is smaller (counting)", floor, "vermilion")]
    rows += [(name, size, "green" if "trained" in name else "blue") for name, size in sizes.items()]
    bars = [Bar(name, float(size), f"{name}: {size:,} parameters", tone, f"{size:,}") for name, size, tone in rows]
    title = f"{rows[1][1]:,} parameters store {task.facts:,} country facts"
    legend = {"vermilion": "impossible below", "blue": "computed without training", "green": "trained"}
    return BarChart(title, "parameters", bars, log=True, legend=legend)


def _parameters(method: str, task: AssociationTask) -> int:
    construction = construction_named(method)
    if construction.spec is None:
        raise ValueError(f"{method} does not tell its size")
    return construction.spec(Request(task, parse_options(construction, {}))).parameters()
