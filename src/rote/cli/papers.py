"""`rote papers`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rote.cli.output import AsJson, print_json, print_pairs, print_table

if TYPE_CHECKING:
    from rote.papers.paper import Figure


def papers(name: str | None = None, /, *, as_json: AsJson = False) -> None:
    """Every paper: its results, constructions, figures and claims, with what it costs to reproduce them.

    Example: `rote papers dana2025`

    Parameters
    ----------
    name
        A paper (`dana2025`) or a figure (`dana2025.fig1a`) to tell more about.
    """
    from rote.constructions import CONSTRUCTIONS
    from rote.papers import PAPER_FIGURES, figures_named
    from rote.theory import RESULTS

    def of(id: str, registry: dict[str, Any]) -> list[str]:
        return [known for known in sorted(registry) if known.partition(".")[0] == id]

    every = sorted({known.partition(".")[0] for known in [*CONSTRUCTIONS, *RESULTS, *PAPER_FIGURES]})
    if name is not None and name not in every:
        figures = figures_named(name)  # a figure, or the error that lists what is known
        documents = [_document(figure) for figure in figures]
        print_json(documents[0]) if as_json else _show_figure(documents[0])
        return
    listed = [
        {
            "paper": id,
            "citation": next((RESULTS[r].source for r in of(id, RESULTS)), None),
            "results": of(id, RESULTS),
            "constructions": of(id, CONSTRUCTIONS),
            "figures": [_document(figure) for figure in (PAPER_FIGURES[id].figures if id in PAPER_FIGURES else ())],
        }
        for id in (every if name is None else [name])
    ]
    if as_json:
        print_json(listed if name is None else listed[0])
        return
    print_table(
        "papers (rote bound, rote methods and rote reproduce take these ids)",
        ["paper", "figures", "constructions", "results"],
        [
            [item["paper"], len(item["figures"]) or None, _short(item["constructions"]), _short(item["results"])]
            for item in listed
        ],
    )
    figures = [figure for item in listed for figure in item["figures"]]
    if figures:
        _show_costs(figures)
    if name is not None:
        for figure in figures:
            _show_figure(figure)


def _document(figure: Figure) -> dict[str, Any]:
    from rote.experiments.cost import processor_seconds
    from rote.experiments.figure_plan import FigurePlan

    costs = {}
    for label, protocol, quick in (("quick", "fast", True), ("fast", "fast", False), ("paper", "paper", False)):
        plan = FigurePlan.of(figure, protocol=protocol, quick=quick)
        costs[label] = {"trials": len(plan.cells) * plan.repeats, "processor_seconds": processor_seconds(plan)}
    return {
        "figure": figure.id,
        "title": figure.title,
        "run": figure.experiment.id,
        "cells": len(figure.experiment.cells),
        "repeats": figure.experiment.repeats,
        "published_values": sum(cell.published is not None for cell in figure.experiment.cells),
        "note": figure.experiment.note,
        "estimated_costs": costs,
        "claims": [{"id": c.id, "statement": c.statement, "rule": c.rule.in_words} for c in figure.claims],
    }


def _show_costs(figures: list[dict[str, Any]]) -> None:
    print_table(
        "figures (rote reproduce ID; estimated processor time: --quick, fast, --protocol paper)",
        ["figure", "trials", "quick", "fast", "paper", "claims", "what it shows"],
        [
            [
                item["figure"],
                item["estimated_costs"]["fast"]["trials"],
                *(_time(item["estimated_costs"][kind]["processor_seconds"]) for kind in ("quick", "fast", "paper")),
                len(item["claims"]),
                item["title"],
            ]
            for item in figures
        ],
    )


def _show_figure(item: dict[str, Any]) -> None:
    costs = item["estimated_costs"]
    print_pairs(
        f"{item['figure']}: {item['title']}",
        {
            "grid": f"{item['cells']} cells, {item['repeats']} repeats, {item['published_values']} released values",
            "cost": ", ".join(
                f"{kind}: {cost['trials']} trials, {_time(cost['processor_seconds'])} of processor"
                for kind, cost in costs.items()
            ),
            **({"run": f"shares the trials of {item['run']}"} if item["run"] != item["figure"] else {}),
            **({"note": item["note"]} if item["note"] else {}),
            **{f"claim {claim['id']}": f"{claim['statement']}: {claim['rule']}" for claim in item["claims"]},
        },
    )


def _short(ids: list[str]) -> str:
    """Ids without their paper's; an id that is the paper's own stays."""
    return ", ".join(id.partition(".")[2] or id for id in ids) or "-"


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
