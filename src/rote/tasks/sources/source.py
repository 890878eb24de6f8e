"""What every named source has: a table, the way it is read, and whom to thank for it."""

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
