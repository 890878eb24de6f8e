"""Run a figure about vector tasks and say what it shows."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rote.experiments.runner import run
from rote.experiments.vector_findings import VectorFindings, vector_findings
from rote.experiments.vector_plan import VectorPlan
from rote.experiments.vector_queue import VectorRun
from rote.experiments.where import HERE
from rote.papers.vector_figures import CapacityFigure, VectorSetting
from rote.progress import SILENT, Progress


@dataclass(frozen=True)
class VectorReproduction:
    """A finished run of a figure."""

    findings: VectorFindings
    folder: Path
    seconds: float
    """Wall clock of this call; trials that the ledger held cost nothing."""

    @property
    def processor_seconds(self) -> float:
        """Of all trials behind the figure, whenever they ran.

        The search for all labels includes the tries of that for .99 of them, so that the longer one counts.
        """
        longest: dict[tuple[VectorSetting, float, str], float] = {}
        for series in self.findings.series:
            for point in series.points:
                name = "" if isinstance(self.findings.plan.figure, CapacityFigure) else series.name
                key = (point.setting, point.x, name)
                longest[key] = max(longest.get(key, 0.0), point.seconds)
        return sum(longest.values())

    def summary(self) -> dict[str, Any]:
        return {
            **self.findings.summary(),
            "run": str(self.folder),
            "seconds": self.seconds,
            "processor_seconds": self.processor_seconds,
            "note": self.findings.plan.figure.note,
        }


def reproduce_vectors(
    plan: VectorPlan,
    folder: str | Path | None = None,
    *,
    workers: int | None = None,
    on: str = HERE,
    progress: Progress = SILENT,
) -> VectorReproduction:
    """Train what the ledger in `folder` does not hold yet, then arrange and judge all of it."""
    where = plan.default_folder if folder is None else Path(folder)
    started = time.perf_counter()
    ended = run(VectorRun(plan.identity, plan.wanted), where, workers=workers, on=on, progress=progress)
    results = {key: row.result for key, row in ended.rows.items()}
    return VectorReproduction(vector_findings(plan, results), where, time.perf_counter() - started)
