"""The kinds of figures that there are. Their records are read without torch: what runs and arranges loads it."""

from __future__ import annotations

from typing import Any

from rote.experiments.blocks.kind import BLOCKS
from rote.experiments.findings import FigureSchedule
from rote.experiments.kind import FigureKind, RunChoices
from rote.experiments.lookups.kind import LOOKUPS
from rote.experiments.statements.kind import STATEMENTS
from rote.experiments.vectors.kind import VECTORS
from rote.papers.claims import PublishedFigure

KINDS: dict[str, FigureKind[Any, Any]] = {kind.name: kind for kind in (LOOKUPS, VECTORS, BLOCKS, STATEMENTS)}
"""By name."""


def register_kind(kind: FigureKind[Any, Any]) -> FigureKind[Any, Any]:
    """Add a kind: `rote.reproduce` and everything else then take its figures."""
    if kind.name in KINDS:
        raise ValueError(f"{kind.name}: is registered already")
    KINDS[kind.name] = kind
    return kind


def kind_of(figure: PublishedFigure) -> FigureKind[Any, Any]:
    for kind in KINDS.values():
        if type(figure) in kind.figures:
            return kind
    raise TypeError(f"{figure.id}: no kind of figure has the class {type(figure).__name__}")


def schedule_of(figure: PublishedFigure, choices: RunChoices | None = None) -> FigureSchedule[Any]:
    return kind_of(figure).schedule(figure, choices or RunChoices())
