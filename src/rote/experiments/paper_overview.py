"""All that is here of one paper: its citation, results, constructions and figures, with what the figures cost."""

from __future__ import annotations

from typing import Any

from rote.arguments import typed
from rote.constructions import CONSTRUCTIONS
from rote.errors import InputError
from rote.experiments.block_cost import block_cost
from rote.experiments.block_plan import BlockPlan
from rote.experiments.cost import processor_seconds
from rote.experiments.figure_plan import FigurePlan
from rote.experiments.vector_cost import vector_cost
from rote.experiments.vector_plan import VectorPlan
from rote.papers import BLOCK_FIGURES, PAPER_FIGURES, VECTOR_FIGURES
from rote.papers.block_figures import BlockFigure
from rote.papers.paper import Figure
from rote.papers.vector_figures import VectorFigure
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
    figures = PAPER_FIGURES[id].figures if id in PAPER_FIGURES else ()
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
        "figures": [
            *(figure_overview(figure) for figure in figures),
            *(vector_figure_overview(figure) for figure in VECTOR_FIGURES.get(id, ())),
            *(block_figure_overview(figure) for figure in BLOCK_FIGURES.get(id, ())),
        ],
    }


def figure_overview(figure: Figure) -> dict[str, Any]:
    """A figure as one document: its grid, its claims and what its trials cost."""
    costs = {}
    for run, (protocol, quick) in RUNS.items():
        plan = FigurePlan.of(figure, protocol=protocol, quick=quick)
        costs[run] = {"trials": len(plan.cells) * plan.repeats, "processor_seconds": processor_seconds(plan)}
    return {
        "figure": figure.id,
        "title": figure.title,
        "run": figure.experiment.id,
        "cells": len(figure.experiment.cells),
        "repeats": figure.experiment.repeats,
        "published_values": sum(cell.published is not None for cell in figure.experiment.cells),
        "note": figure.experiment.note,
        "estimated_costs": costs,
        "claims": [
            {"id": claim.id, "statement": claim.statement, "rule": claim.rule.in_words} for claim in figure.claims
        ],
    }


def vector_figure_overview(figure: VectorFigure) -> dict[str, Any]:
    """A figure about vector tasks as one document, by the same names."""
    whole = VectorPlan.of(figure)
    costs = {}
    for run, (protocol, quick) in RUNS.items():
        trials, seconds = vector_cost(VectorPlan.of(figure, protocol=protocol, quick=quick))
        costs[run] = {"trials": trials, "processor_seconds": seconds}
    return {
        "figure": figure.id,
        "title": figure.title,
        "run": whole.run,
        "cells": len(whole.cells),
        "repeats": figure.repeats,
        "published_values": 0,
        "note": figure.note,
        "estimated_costs": costs,
        "claims": [
            {"id": claim.id, "statement": claim.statement, "rule": claim.rule.in_words} for claim in figure.claims
        ],
    }


def block_figure_overview(figure: BlockFigure) -> dict[str, Any]:
    """A figure about #blocks as one document, by the same names."""
    whole = BlockPlan.of(figure)
    costs = {}
    for run, (protocol, quick) in RUNS.items():
        trials, seconds = block_cost(BlockPlan.of(figure, protocol=protocol, quick=quick))
        costs[run] = {"trials": trials, "processor_seconds": seconds}
    return {
        "figure": figure.id,
        "title": figure.title,
        "run": whole.run,
        "cells": len(whole.searches) + len(whole.blocks),
        "repeats": figure.repeats,
        "published_values": len(figure.published),
        "note": figure.note,
        "estimated_costs": costs,
        "claims": [
            {"id": claim.id, "statement": claim.statement, "rule": claim.rule.in_words} for claim in figure.claims
        ],
    }
