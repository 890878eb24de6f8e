"""All that is here of one paper: its citation, results, constructions, figures and statements, what they cost, and what
became of each claim."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rote.arguments import typed
from rote.constructions import CONSTRUCTIONS
from rote.errors import InputError
from rote.experiments.blocks.cost import block_cost
from rote.experiments.blocks.plan import BlockPlan
from rote.experiments.lookups.cost import processor_seconds
from rote.experiments.lookups.plan import FigurePlan
from rote.experiments.planned import AnyPlan, RunChoices
from rote.experiments.statements.plan import StatementPlan
from rote.experiments.vectors.cost import vector_cost
from rote.experiments.verdict import claim_summary
from rote.papers import FIGURES, AnyFigure
from rote.papers.mahdavi2024.measured import MeasuredCapacity, measured_capacities
from rote.papers.paper import Claim
from rote.papers.statements import Statement
from rote.papers.vector_figures import CapacityFigure, VectorSetting
from rote.papers.verdicts import verdicts_on
from rote.theory import PAPERS, RESULTS

RUNS = {"quick": ("fast", True), "fast": ("fast", False), "paper": ("paper", False)}
"""Ways to reproduce a figure whose cost is estimated: the protocol, and whether `quick` cuts the grid."""


@typed
def paper(id: str) -> dict[str, Any]:
    """All that is here of one paper as one document: results, constructions, figures with their claims and costs.

    >>> import rote
    >>> rote.paper("dana2025")["results"][0]["id"]
    'dana2025.corollary1'
    """
    if id not in PAPERS:
        raise InputError(f"{id}: no such paper; known: {', '.join(sorted(PAPERS))}")
    cited = PAPERS[id]
    return {
        "paper": id,
        "name": cited.name,
        "title": cited.title,
        "venue": cited.venue,
        "citation": cited.citation,
        "results": [
            {"id": result.id, "kind": result.kind, "where": result.where, "statement": result.statement}
            for result in sorted(RESULTS.values(), key=lambda result: result.id)
            if result.paper.id == id
        ],
        "constructions": [
            {"id": construction.id, "summary": construction.summary, "meets": construction.meets}
            for construction in sorted(CONSTRUCTIONS.values(), key=lambda construction: construction.id)
            if construction.paper == id
        ],
        "figures": [figure_overview(figure) for figure in FIGURES.get(id, ())],
    }


def figure_overview(figure: AnyFigure) -> dict[str, Any]:
    """A figure of any kind as one document: its grid, its claims and what its trials cost."""
    whole = RunChoices().plan(figure)
    costs = {}
    for run, (protocol, quick) in RUNS.items():
        trials, seconds = estimated_cost(RunChoices(protocol, quick).plan(figure))
        costs[run] = {"trials": trials, "processor_seconds": seconds}
    cells, published, note = _extent(whole)
    return {
        "figure": figure.id,
        "title": figure.title,
        "trains": not isinstance(figure, Statement),
        "run": whole.run,
        "cells": cells,
        "repeats": whole.repeats,
        "published_values": published,
        "note": note,
        "estimated_costs": costs,
        "capacities": _capacities(figure),
        "claims": [_judged(figure, claim) for claim in figure.claims],
    }


def _capacities(figure: AnyFigure) -> list[dict[str, Any]]:
    """The capacities that ship with rote, by series: for each point every seed's most examples that were recalled, and
    the fewest that were too many."""
    if not isinstance(figure, CapacityFigure):
        return []
    size, settings = figure.size, figure.settings
    series: dict[str, dict[VectorSetting, list[MeasuredCapacity]]] = {}
    own = (row for row in measured_capacities() if row.setting in settings)
    for row in sorted(own, key=lambda row: settings.index(row.setting)):
        points = series.setdefault(f"{row.setting.in_words}, {row.threshold.in_words}", {})
        points.setdefault(row.setting, []).append(row)
    return [
        {
            "series": name,
            "points": [
                {
                    size: getattr(setting, size),
                    "promised": setting.promised,
                    "recalled": [row.recalled for row in seeds],
                    "too_many": [row.too_many for row in seeds],
                }
                for setting, seeds in points.items()
            ],
        }
        for name, points in series.items()
    ]


def _judged(figure: AnyFigure, claim: Claim) -> dict[str, Any]:
    """A claim, its rule, and the verdicts that ship with rote."""
    kept = ("protocol", "verdict", "numbers", "command")
    verdicts = [
        {name: value for name, value in asdict(row).items() if name in kept} for row in verdicts_on(figure.id, claim.id)
    ]
    return {**claim_summary(claim), "verdicts": verdicts}


def estimated_cost(plan: AnyPlan) -> tuple[int, float]:
    """Trials and estimated processor seconds of a plan of any kind."""
    if isinstance(plan, FigurePlan):
        return len(plan.cells) * plan.repeats, processor_seconds(plan)
    if isinstance(plan, StatementPlan):
        seconds = plan.figure.quick_seconds if plan.quick else plan.figure.seconds
        return len(plan.trials()), seconds
    return block_cost(plan) if isinstance(plan, BlockPlan) else vector_cost(plan)


def _extent(plan: AnyPlan) -> tuple[int, int, str]:
    """Cells, published values and the note of a figure."""
    if isinstance(plan, FigurePlan):
        experiment = plan.figure.experiment
        return len(plan.cells), sum(cell.published is not None for cell in plan.cells), experiment.note
    if isinstance(plan, BlockPlan):
        return len(plan.searches) + len(plan.blocks), len(plan.figure.published), plan.figure.note
    return len(plan.cells), 0, plan.figure.note
