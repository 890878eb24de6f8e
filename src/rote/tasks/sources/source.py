"""What every named source has: a table, how it is read, its licence and citation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rote.tasks.origin import Reading
from rote.tasks.table import Table


@dataclass(frozen=True)
class Source:
    """A named source of real facts."""

    name: str
    summary: str
    licence: str
    citation: str
    reading: Reading
    """How the table is read unless the user says otherwise."""
    load: Callable[[], Table]
