"""Conformance suites for your own constructions, results, architectures and kinds of figures: rote passes them too.

A suite is a class of pytest tests. Subclass it with the cases to be checked:

    from rote.testing import ConstructionCase, ConstructionSuite

    class TestMine(ConstructionSuite):
        cases = {"mine2026.table": ConstructionCase(tasks=("random:vocab=12,context=2,facts=30",))}

They need pytest and hypothesis: `pip install "byrote[testing]"`.
"""

from __future__ import annotations

from rote.testing.architectures import ArchitectureCase as ArchitectureCase
from rote.testing.architectures import ArchitectureSuite as ArchitectureSuite
from rote.testing.constructions import ConstructionCase as ConstructionCase
from rote.testing.constructions import ConstructionSuite as ConstructionSuite
from rote.testing.kinds import FigureCase as FigureCase
from rote.testing.kinds import FigureKindSuite as FigureKindSuite
from rote.testing.registries import kept_registries as kept_registries
from rote.testing.results import ResultSuite as ResultSuite

__all__ = [
    "ArchitectureCase",
    "ArchitectureSuite",
    "ConstructionCase",
    "ConstructionSuite",
    "FigureCase",
    "FigureKindSuite",
    "ResultSuite",
    "kept_registries",
]
