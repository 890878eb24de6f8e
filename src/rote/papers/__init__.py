"""Published figures, statements and claims as pure data: grids, how the papers trained them, released values, rules."""

from __future__ import annotations

from rote.errors import InputError, nearest
from rote.papers.claims import PublishedFigure
from rote.papers.dana2024 import DANA2024_STATEMENTS
from rote.papers.dana2025 import DANA2025, DANA2025_STATEMENTS
from rote.papers.kajitsuka2025 import KAJITSUKA2025, KAJITSUKA2025_STATEMENTS
from rote.papers.mahdavi2024 import MAHDAVI2024, MAHDAVI2024_STATEMENTS
from rote.papers.open_questions import OPEN_QUESTIONS

FIGURES: dict[str, tuple[PublishedFigure, ...]] = {
    "dana2025": (*DANA2025, *DANA2025_STATEMENTS),
    "dana2024": DANA2024_STATEMENTS,
    "mahdavi2024": (*MAHDAVI2024, *MAHDAVI2024_STATEMENTS),
    "kajitsuka2025": (*KAJITSUKA2025, *KAJITSUKA2025_STATEMENTS),
    "rote": OPEN_QUESTIONS,
}
"""By the paper's id in `rote.theory.papers`."""


def register_figures(paper: str, *figures: PublishedFigure) -> None:
    """Add figures of a paper: they are then found by their ids, which begin with the paper's."""
    for figure in figures:
        if not figure.id.startswith(f"{paper}."):
            raise InputError(f"{figure.id}: the id of a figure begins with its paper's, {paper}")
    FIGURES[paper] = (*FIGURES.get(paper, ()), *figures)


ALL_STATEMENTS = "statements"
"""After a paper's id: all its statements, as in `dana2025.statements`."""


def names_several(name: str) -> bool:
    """Whether this is the name of a paper, or of all its statements, rather than of one figure."""
    return "." not in name or name.partition(".")[2] == ALL_STATEMENTS


def figures_named(name: str) -> list[PublishedFigure]:
    """The figures that a paper's id (`dana2025`), all its statements' (`dana2025.statements`) or a figure's
    (`dana2025.fig1a`) names."""
    figures = FIGURES.get(name.partition(".")[0], ())
    statements = "." in name and names_several(name)
    named = [figure for figure in figures if "." not in name or figure.id == name or (statements and not figure.trains)]
    if not named:
        known = [
            *FIGURES,
            *(f"{paper}.{ALL_STATEMENTS}" for paper in FIGURES),
            *(figure.id for figures in FIGURES.values() for figure in figures),
        ]
        raise InputError(f"{name}: there is no such paper or figure{nearest(name, known)}; see `rote list papers`")
    return named


def figure_named(name: str) -> PublishedFigure:
    named = figures_named(name)
    if names_several(name):
        raise InputError(f"{name}: names {len(named)} figures; give one, for example {named[0].id}")
    return named[0]
