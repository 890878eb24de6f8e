"""Published figures and claims as pure data: grids, how the papers trained them, released values, rules."""

from __future__ import annotations

from rote.errors import InputError
from rote.papers.block_figures import BlockFigure
from rote.papers.dana2025 import DANA2025
from rote.papers.kajitsuka2025 import KAJITSUKA2025
from rote.papers.mahdavi2024 import MAHDAVI2024
from rote.papers.paper import Figure
from rote.papers.vector_figures import VectorFigure

AnyFigure = Figure | VectorFigure | BlockFigure
"""Models of look-up tables, of vector tasks, or F2 . uniform attention . F1."""

FIGURES: dict[str, tuple[AnyFigure, ...]] = {
    "dana2025": DANA2025,
    "mahdavi2024": MAHDAVI2024,
    "kajitsuka2025": KAJITSUKA2025,
}
"""By the paper's id in `rote.theory.papers`."""


def figures_named(name: str) -> list[AnyFigure]:
    """The figures that a paper's id (`dana2025`) or a figure's (`dana2025.fig1a`) names."""
    figures = FIGURES.get(name.partition(".")[0], ())
    named = [figure for figure in figures if "." not in name or figure.id == name]
    if not named:
        known = [*FIGURES, *(figure.id for figures in FIGURES.values() for figure in figures)]
        raise InputError(f"{name}: no such paper or figure; known: {', '.join(known)}")
    return named


def figure_named(name: str) -> AnyFigure:
    """The one figure of this id."""
    named = figures_named(name)
    if "." not in name:
        raise InputError(f"{name}: names {len(named)} figures; give one, such as {named[0].id}")
    return named[0]
