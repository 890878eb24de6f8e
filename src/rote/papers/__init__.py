"""Papers as data: their figures (grid, protocol, published values) and the claims that are checked against results."""

from __future__ import annotations

from rote.errors import InputError
from rote.papers.dana2025 import DANA2025
from rote.papers.paper import Figure, Paper

PAPERS: dict[str, Paper] = {paper.id: paper for paper in (DANA2025,)}


def figures_named(name: str) -> list[Figure]:
    """The figures that a paper's id (`dana2025`) or a figure's (`dana2025.fig1a`) names."""
    paper = PAPERS.get(name.partition(".")[0])
    if paper is not None and "." not in name:
        return list(paper.figures)
    found = [] if paper is None else [figure for figure in paper.figures if figure.id == name]
    if not found:
        known = [figure.id for paper in PAPERS.values() for figure in paper.figures]
        raise InputError(f"{name}: no such paper or figure; known: {', '.join([*PAPERS, *known])}")
    return found
