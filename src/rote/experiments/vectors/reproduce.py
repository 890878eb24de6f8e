"""Run a figure about vector tasks and say what it shows."""

from __future__ import annotations

import time
from pathlib import Path

from rote.experiments.reproduction import Reproduction
from rote.experiments.runner import run
from rote.experiments.vectors.findings import VectorFindings, vector_findings
from rote.experiments.vectors.plan import VectorPlan
from rote.experiments.vectors.queue import VectorRun
from rote.experiments.where import HERE
from rote.papers.vector_figures import CapacityFigure, VectorSetting
from rote.progress import SILENT, Progress


def reproduce_vectors(
    plan: VectorPlan,
    folder: str | Path | None = None,
    *,
    workers: int | None = None,
    on: str = HERE,
    progress: Progress = SILENT,
) -> Reproduction:
    """Train what the ledger in `folder` does not hold yet, then arrange and judge all of it."""
    where = plan.default_folder if folder is None else Path(folder)
    started = time.perf_counter()
    ended = run(VectorRun(plan.identity, plan.wanted), where, workers=workers, on=on, progress=progress)
    results = {key: row.result for key, row in ended.rows.items()}
    findings = vector_findings(plan, results)
    return Reproduction(
        findings=findings,
        folder=where,
        trials=len(ended.rows),
        trained=ended.trained,
        seconds=time.perf_counter() - started,
        processor_seconds=_processor_seconds(findings),
        failed=ended.failed,
    )


def _processor_seconds(findings: VectorFindings) -> float:
    """Of all trials behind the figure, whenever they ran; other figures of the run may have had more.

    The search for all labels includes the tries of that for .99 of them, so that the longer one counts.
    """
    longest: dict[tuple[VectorSetting, float, str], float] = {}
    for series in findings.series:
        for point in series.points:
            name = "" if isinstance(findings.plan.figure, CapacityFigure) else series.name
            key = (point.setting, point.x, name)
            longest[key] = max(longest.get(key, 0.0), point.seconds)
    return sum(longest.values())
