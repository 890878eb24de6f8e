"""All that is here of one paper: its citation, results, constructions, figures and statements, what they cost, and what
became of each claim."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rote.arguments import typed
from rote.constructions import CONSTRUCTIONS
from rote.errors import InputError, nearest
from rote.experiments.kind import RunChoices
from rote.experiments.kinds import kind_of, schedule_of
from rote.experiments.verdict import claim_summary
from rote.papers import FIGURES
from rote.papers.claims import Claim, PublishedFigure
from rote.papers.kinds.vectors import CapacityFigure, VectorSetting
from rote.papers.mahdavi2024.measured import MeasuredCapacity, measured_capacities
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
        raise InputError(f"{id}: there is no such paper{nearest(id, PAPERS)}; see `rote list papers`")
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


def figure_overview(figure: PublishedFigure) -> dict[str, Any]:
    """A figure of any kind as one document: its grid, its claims and what its trials cost."""
    complete, kind = schedule_of(figure), kind_of(figure)
    costs = {}
    for run, (protocol, quick) in RUNS.items():
        trials, seconds = kind.cost(schedule_of(figure, RunChoices(protocol, quick)))
        costs[run] = {"trials": trials, "cpu_seconds": seconds}
    return {
        "figure": figure.id,
        "title": figure.title,
        "trains": figure.trains,
        "run": complete.run,
        "cells": complete.size,
        "repeats": complete.repeats,
        "published_values": complete.published,
        "note": figure.note,
        "estimated_costs": costs,
        "capacities": _capacities(figure),
        "claims": [_judged(figure, claim) for claim in figure.claims],
    }


def _capacities(figure: PublishedFigure) -> list[dict[str, Any]]:
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
                    "guaranteed": setting.guaranteed,
                    "recalled": [row.recalled for row in seeds],
                    "too_many": [row.too_many for row in seeds],
                }
                for setting, seeds in points.items()
            ],
        }
        for name, points in series.items()
    ]


def _judged(figure: PublishedFigure, claim: Claim) -> dict[str, Any]:
    """A claim, its rule, and the verdicts that ship with rote."""
    kept = ("protocol", "verdict", "numbers", "command")
    verdicts = [
        {name: value for name, value in asdict(row).items() if name in kept} for row in verdicts_on(figure.id, claim.id)
    ]
    return {**claim_summary(claim), "verdicts": verdicts}
