"""A run on disk, ended or still being written: its trials, its options, and its findings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from rote.errors import RoteError
from rote.experiments.findings import Findings
from rote.experiments.ledgers.ledger import Ledger, LedgerContents, TrialRow
from rote.experiments.reproduce import findings_in
from rote.files import read_json


class SweptLaw(BaseModel):
    """How capacity grows with one size of a sweep."""

    size: str
    fixed: dict[str, int | str]
    best: str | None
    exponent: float | None
    exponent_interval: tuple[float, float] | None


class SweptGrid(BaseModel):
    """The part of a sweep's summary that a report shows."""

    grid: dict[str, list[int | str]]
    trials: int
    laws: list[SweptLaw]


@dataclass(frozen=True)
class RunView:
    """What a run's folder holds."""

    folder: Path
    contents: LedgerContents
    in_hand: tuple[Findings[Any, Any], ...] | None = None
    """What its trials show, if that is known already."""
    swept: SweptGrid | None = None
    """What `sweep.json` says, if it was read already."""

    @classmethod
    def of(cls, folder: str | Path) -> RunView:
        with Ledger.reading(folder) as ledger:
            rows = {row.key: row for row in ledger.rows()}
            return cls(Path(folder), LedgerContents.of(ledger.overview(), rows))

    @property
    def identity(self) -> dict[str, Any]:
        return self.contents.identity

    @property
    def about(self) -> dict[str, Any]:
        return self.contents.about

    @property
    def last_ended(self) -> str | None:
        return self.contents.last_ended

    @cached_property
    def rows(self) -> list[TrialRow]:
        return self.contents.ordered

    @property
    def name(self) -> str:
        return str(self.identity.get("experiment") or self.identity.get("kind") or self.folder.name)

    @property
    def planned(self) -> int | None:
        """Trials that the run was started with; none where its ledger does not say."""
        planned = self.about.get("trials")
        return max(planned, len(self.rows)) if type(planned) is int else None

    @property
    def cpu_seconds(self) -> float:
        return sum(row.seconds for row in self.rows)

    @property
    def sweep(self) -> SweptGrid | None:
        """What `rote sweep` wrote when it ended; nothing for other runs, and where trials were added since."""
        if self.swept is not None:
            return self.swept
        try:
            said = SweptGrid.model_validate(read_json(self.folder / "sweep.json"))
        except (RoteError, ValidationError):
            return None
        return said if said.trials == len(self.rows) else None

    @cached_property
    def findings(self) -> tuple[Findings[Any, Any], ...]:
        """What the trials show of every published figure that the run reproduces."""
        return tuple(findings_in(self.contents)) if self.in_hand is None else self.in_hand

    @property
    def asked_is_known(self) -> bool:
        """True if the ledger records the options of its figures; those of older versions do not."""
        return not self.findings or "asked" in self.about
