"""Statements of a paper (theorems, propositions, remarks) as something to run: a grid of settings and what is claimed.

Nothing is trained: each cell builds or evaluates what a statement is about and gives named numbers, a bound among them,
and a claim compares two of them in every cell.
"""

from __future__ import annotations

from dataclasses import dataclass

from rote.papers.paper import Claim
from rote.papers.statement_settings import Setting


@dataclass(frozen=True)
class StatementCell:
    """One point of a grid: what is evaluated, and where it is drawn."""

    series: str
    x: float
    setting: Setting


@dataclass(frozen=True)
class Line:
    """A number of every cell that the figure draws against x."""

    value: str
    label: str
    bound: bool = False
    """Whether it is what was stated rather than what was measured."""


@dataclass(frozen=True)
class Statement:
    """A statement that is checked."""

    id: str
    """The passage's id and `-checked`, so that it is no result's."""
    title: str
    passage: str
    x: str
    y: str
    cells: tuple[StatementCell, ...]
    lines: tuple[Line, ...]
    claims: tuple[Claim, ...]
    quick: tuple[float, ...]
    """Values of x that `quick` keeps."""
    seconds: float
    """Processor time of the whole grid and its repeats, as measured."""
    quick_seconds: float
    repeats: int = 2
    run: str = ""
    """Names the run where it is another statement's: cells that both have are evaluated once."""
    log_x: bool = False
    log_y: bool = True
    note: str = ""
