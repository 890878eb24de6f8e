"""A run as it stands on disk, whether it ended or is still being written: trials, what was planned, what they show."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from rote.experiments.ledgers.ledger import Ledger, TrialRow
from rote.experiments.planned import RunChoices, run_of
from rote.experiments.reproduction import AnyFindings, arranged
from rote.models.attention_only import Positions
from rote.papers import FIGURES, AnyFigure
from rote.papers.block_figures import BlockFigure


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
    identity: dict[str, Any]
    about: dict[str, Any]
    rows: list[TrialRow]
    last_ended: str | None
    """When the trial that was recorded last ended, in ISO form."""

    @classmethod
    def of(cls, folder: str | Path) -> RunView:
        with Ledger.reading(folder) as ledger:
            overview = ledger.overview()
            return cls(Path(folder), overview.identity, overview.about, ledger.rows(), overview.last_ended)

    @property
    def name(self) -> str:
        """What the run is of."""
        return str(self.identity.get("experiment") or self.identity.get("kind") or self.folder.name)

    @property
    def planned(self) -> int | None:
        """Trials that the run was started with; none where its ledger does not say."""
        planned = self.about.get("trials")
        return max(planned, len(self.rows)) if isinstance(planned, int) else None

    @property
    def processor_seconds(self) -> float:
        return sum(row.seconds for row in self.rows)

    @property
    def sweep(self) -> SweptGrid | None:
        """What `rote sweep` wrote when it ended; nothing for other runs, and where trials were added since."""
        try:
            said = SweptGrid.model_validate_json((self.folder / "sweep.json").read_bytes())
        except (OSError, ValidationError):
            return None
        return said if said.trials == len(self.rows) else None

    def findings(self) -> list[AnyFindings]:
        """What the trials show for every published figure of the run; nothing for runs of other kinds."""
        protocol = self.identity.get("protocol")
        if not isinstance(protocol, str):
            return []
        gathered = [
            self._of_figure(figure, protocol)
            for figures in FIGURES.values()
            for figure in figures
            if run_of(figure) == self.identity.get("experiment")
        ]
        return [findings for findings in gathered if findings.points]

    def _of_figure(self, figure: AnyFigure, protocol: str) -> AnyFindings:
        """As many seeds as there are, and the quick cells where there are no others."""
        repeats = max((row.seed for row in self.rows), default=0) + 1
        texts = self.identity.get("texts") if isinstance(figure, BlockFigure) else None
        named = self.identity.get("positions")
        positions = next((choice for choice in get_args(Positions) if choice == named), None)
        quick, whole = (
            arranged(RunChoices(protocol, quick, repeats, texts=texts, positions=positions).plan(figure), self.rows)
            for quick in (True, False)
        )
        return whole if whole.points > quick.points else quick
