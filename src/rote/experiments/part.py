"""A part of a run, for machines that share no cluster: `1/2` on one, `2/2` on the other.

Trials are dealt out in the order of their keys, so that the seeds of a cell go to different parts and all parts take
about as long. `rote.experiments.runs.merge` combines the ledgers.
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
    """Part `number` (1, 2, ...) of `parts`."""

    number: int
    parts: int

    @classmethod
    def read(cls, text: str) -> RunPart:
        """The part that a text such as `1/2` names."""
        match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text, re.ASCII)
        number, parts = (int(match[1]), int(match[2])) if match else (0, 0)
        if not 1 <= number <= parts:
            raise InputError(f"`part={text}`: must be a number and the number of parts, such as 1/2")
        return cls(number, parts)

    def of(self, schedule: _Schedule) -> frozenset[TrialKey]:
        """The keys of a schedule's trials in this part."""
        if schedule.adaptive:
            raise InputError(
                f"`part={self}`: a search chooses each trial by those that ended, so it cannot be divided; leave it out"
            )
        names = sorted(trial.key for trial in schedule.pending({}))
        return frozenset(names[self.number - 1 :: self.parts])

    def __str__(self) -> str:
        return f"{self.number}/{self.parts}"
