"""A figure whose trials have ended: what they show, where they are, what they took."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rote.experiments.blocks.findings import BlockFindings, block_findings
from rote.experiments.blocks.plan import BlockPlan
from rote.experiments.ledgers.ledger import FailedTrial, TrialRow
from rote.experiments.lookups.findings import FigureFindings, findings_of
from rote.experiments.lookups.plan import FigurePlan
from rote.experiments.planned import AnyPlan
from rote.experiments.statements.findings import StatementFindings, statement_findings
from rote.experiments.statements.plan import StatementPlan
from rote.experiments.vectors.findings import VectorFindings, vector_findings

AnyFindings = FigureFindings | VectorFindings | BlockFindings | StatementFindings


def arranged(plan: AnyPlan, rows: Iterable[TrialRow]) -> AnyFindings:
    """What these trials say of a figure; those of others among them are left alone."""
    by_key = {row.key: row for row in rows}
    if isinstance(plan, FigurePlan):
        return findings_of(plan, by_key)
    results = {key: row.result for key, row in by_key.items()}
    if isinstance(plan, StatementPlan):
        return statement_findings(plan, results)
    return block_findings(plan, results) if isinstance(plan, BlockPlan) else vector_findings(plan, results)


@dataclass(frozen=True)
class Reproduction:
    """A finished run of a figure. `rote.report.reproduction` draws it."""

    findings: AnyFindings
    folder: Path
    trials: int
    """Trials behind the figure, trained now or before."""
    trained: int
    """Trials that were trained now; the others were in the ledger."""
    seconds: float
    """Time that passed now."""
    processor_seconds: float
    """Processor time of all its trials, whenever they ran."""
    engines: tuple[str, ...] = ()
    """That trained models of look-up tables."""
    failed: tuple[FailedTrial, ...] = ()
    """Trials that failed now, with the reasons; the same call tries them again."""

    @property
    def note(self) -> str:
        return self.findings.note

    @property
    def refuted(self) -> bool:
        """Whether a claim does not hold, in the published weighting of pairs where there are several."""
        return any(verdict.refuted for verdict in self.findings.published_verdicts)

    def summary(self) -> dict[str, Any]:
        """Everything as one JSON document: points, fits, claims with their verdicts, and the run's numbers."""
        return {
            **self.findings.summary(),
            "run": str(self.folder),
            "trials": self.trials,
            "trained_now": self.trained,
            "failed": [{"seed": trial.key.seed, "reason": trial.reason} for trial in self.failed],
            "processor_seconds": self.processor_seconds,
            "seconds": self.seconds,
            **({"engines": list(self.engines)} if self.engines else {}),
            "note": self.note,
        }
