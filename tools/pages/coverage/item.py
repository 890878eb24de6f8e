"""What rote has of one statement, figure or question of a paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["complete", "partial", "missing"]

STATUSES: dict[Status, str] = {
    "complete": "It is there, it runs, and a verdict or a test can fail; an open question is stated as open.",
    "partial": "Some of it has no code, no verdict, or a verdict that does not test it.",
    "missing": "Nothing of it is there.",
}


@dataclass(frozen=True)
class Item:
    """One row of docs/coverage.md."""

    item: str
    place: str
    status: Status
    where: tuple[str, ...]
    """Tests, pages, results, constructions, figures and modules of rote, by name."""
    reason: str = ""
    """Why it is not complete, or what the verdict is."""
