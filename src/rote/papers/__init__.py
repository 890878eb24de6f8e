"""Published figures and claims as pure data: grids, how the papers trained them, released values, rules."""

from __future__ import annotations

from rote.errors import InputError
from rote.papers.block_figures import BlockFigure
from rote.papers.dana2025 import DANA2025
from rote.papers.kajitsuka2025 import KAJITSUKA2025
from rote.papers.mahdavi2024 import MAHDAVI2024
from rote.papers.paper import Figure, PaperFigures
from rote.papers.vector_figures import VectorFigure

PAPER_FIGURES: dict[str, PaperFigures] = {paper.paper: paper for paper in (DANA2025,)}
VECTOR_FIGURES: dict[str, tuple[VectorFigure, ...]] = {"mahdavi2024": MAHDAVI2024}
"""Figures about vector tasks, by paper."""
BLOCK_FIGURES: dict[str, tuple[BlockFigure, ...]] = {"kajitsuka2025": KAJITSUKA2025}
"""Figures about F2 . uniform attention . F1, by paper."""


def figures_named(name: str) -> list[Figure]:
    """The figures that a paper's id (`dana2025`) or a figure's (`dana2025.fig1a`) names."""
    paper = PAPER_FIGURES.get(name.partition(".")[0])
    if paper is not None and "." not in name:
        return list(paper.figures)
    named = [] if paper is None else [figure for figure in paper.figures if figure.id == name]
    if not named:
        raise _unknown(name)
    return named


def vector_figures_named(name: str) -> list[VectorFigure]:
    """The figures about vector tasks that a paper's id (`mahdavi2024`) or a figure's (`mahdavi2024.heads`) names."""
    figures = VECTOR_FIGURES.get(name.partition(".")[0], ())
    named = [figure for figure in figures if "." not in name or figure.id == name]
    if not named:
        raise _unknown(name)
    return named


def block_figures_named(name: str) -> list[BlockFigure]:
    """The figures about #blocks that a paper's id (`kajitsuka2025`) or a figure's (`kajitsuka2025.blocks`) names."""
    figures = BLOCK_FIGURES.get(name.partition(".")[0], ())
    named = [figure for figure in figures if "." not in name or figure.id == name]
    if not named:
        raise _unknown(name)
    return named


def _unknown(name: str) -> InputError:
    tokens = [figure.id for paper in PAPER_FIGURES.values() for figure in paper.figures]
    vectors = [figure.id for figures in VECTOR_FIGURES.values() for figure in figures]
    blocks = [figure.id for figures in BLOCK_FIGURES.values() for figure in figures]
    known = [*PAPER_FIGURES, *VECTOR_FIGURES, *BLOCK_FIGURES, *tokens, *vectors, *blocks]
    return InputError(f"{name}: no such paper or figure; known: {', '.join(known)}")
