"""A run as it stands on disk, whether it ended or is still being written: trials, what was planned, what they show."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from rote.experiments.figure_plan import FigurePlan
from rote.experiments.findings import FigureFindings, findings_of
from rote.experiments.ledger import Ledger, TrialRow
from rote.experiments.vector_findings import VectorFindings, vector_findings
from rote.experiments.vector_plan import VectorPlan
from rote.papers import PAPER_FIGURES, VECTOR_FIGURES
from rote.papers.vector_figures import SaturationFigure


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

    def findings(self) -> list[FigureFindings]:
        """What the trials show for every published figure of the run's experiment; nothing for other runs."""
        experiment, protocol = self.identity.get("experiment"), self.identity.get("protocol")
        figures = [
            figure
            for paper in PAPER_FIGURES.values()
            for figure in paper.figures
            if figure.experiment.id == experiment and isinstance(protocol, str)
        ]
        by_key = {row.key: row for row in self.rows}
        repeats = max((row.seed for row in self.rows), default=0) + 1
        gathered = []
        for figure in figures:
            plans = [
                FigurePlan.of(figure, protocol=str(protocol), quick=quick, repeats=repeats) for quick in (True, False)
            ]
            covering = (plan for plan in plans if by_key.keys() <= {trial.key for trial in plan.trials()})
            gathered.append(findings_of(next(covering, plans[-1]), by_key))
        return [
            findings
            for findings in gathered
            if any(point.values["uniform"] for s in findings.series for point in s.points)
        ]

    def vector_findings(self) -> list[VectorFindings]:
        """The same for figures about vector tasks: as many seeds as there are, and the quick cells where there are no
        others."""
        protocol = str(self.identity.get("protocol"))
        results = {row.key: row.result for row in self.rows}
        repeats = max((row.seed for row in self.rows), default=0) + 1
        gathered = []
        for figure in (figure for figures in VECTOR_FIGURES.values() for figure in figures):
            if isinstance(figure, SaturationFigure) and protocol == "best":
                continue
            plans = [VectorPlan.of(figure, protocol=protocol, quick=quick, repeats=repeats) for quick in (True, False)]
            if plans[0].run != self.identity.get("experiment"):
                continue
            quick, whole = (vector_findings(plan, results) for plan in plans)
            more = sum(len(series.points) for series in whole.series) > sum(len(s.points) for s in quick.series)
            gathered.append(whole if more else quick)
        return [findings for findings in gathered if findings.series]
