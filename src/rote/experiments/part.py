"""A part of a plan, so that several machines without a cluster between them divide it: `1/2` here, `2/2` there.

Trials are dealt out in the order of their names, so that the seeds of a cell go to different parts and each takes
about as long. `rote runs merge` puts the ledgers together again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from rote.errors import InputError
from rote.experiments.ledgers.ledger import TrialKey


class _Schedule(Protocol):
    @property
    def adaptive(self) -> bool: ...

    def pending(self, rows: Mapping[TrialKey, Any]) -> Sequence[Any]: ...


@dataclass(frozen=True)
class RunPart:
    """Part `number` (1, 2, ...) of so many."""

    number: int
    parts: int

    @classmethod
    def read(cls, text: str) -> RunPart:
        """From `1/2`."""
        match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text, re.ASCII)
        number, parts = (int(match[1]), int(match[2])) if match else (0, 0)
        if not 1 <= number <= parts:
            raise InputError(f"`part={text}`: must be a part and how many there are, such as 1/2 and 2/2")
        return cls(number, parts)

    def of(self, schedule: _Schedule) -> frozenset[TrialKey]:
        """The trials of a plan that are this part's."""
        if schedule.adaptive:
            raise InputError(
                f"`part={self}`: a search chooses each trial by those that ended, so it cannot be divided beforehand; "
                "leave it out"
            )
        names = sorted(trial.key for trial in schedule.pending({}))
        return frozenset(names[self.number - 1 :: self.parts])

    def __str__(self) -> str:
        return f"{self.number}/{self.parts}"
