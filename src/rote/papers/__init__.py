"""Published figures and claims as pure data: grids, how the papers trained them, released values, rules."""

from __future__ import annotations

from rote.errors import InputError
from rote.papers.dana2025 import DANA2025
from rote.papers.paper import Figure, PaperFigures

PAPER_FIGURES: dict[str, PaperFigures] = {paper.paper: paper for paper in (DANA2025,)}


def figures_named(name: str) -> list[Figure]:
    """The figures that a paper's id (`dana2025`) or a figure's (`dana2025.fig1a`) names."""
    paper = PAPER_FIGURES.get(name.partition(".")[0])
    if paper is not None and "." not in name:
        return list(paper.figures)
    named = [] if paper is None else [figure for figure in paper.figures if figure.id == name]
    if not named:
        known = [figure.id for paper in PAPER_FIGURES.values() for figure in paper.figures]
        raise InputError(f"{name}: no such paper or figure; known: {', '.join([*PAPER_FIGURES, *known])}")
    return named
