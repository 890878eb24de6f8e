"""Run a figure about #blocks and say what it shows."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rote.experiments.block_findings import BlockFindings, block_findings
from rote.experiments.block_plan import BlockPlan
from rote.experiments.block_queue import BlockRun
from rote.experiments.runner import run
from rote.experiments.where import HERE
from rote.progress import SILENT, Progress
from rote.tasks.labelled_text import labelled_texts


@dataclass(frozen=True)
class BlockReproduction:
    """A finished run of a figure."""

    findings: BlockFindings
    folder: Path
    seconds: float
    """Wall clock of this call; trials that the ledger held cost nothing."""
    trials: int
    """Trials behind the figure, whenever they ran."""
    trained: int
    """Trials that ran now."""
    processor_seconds: float
    """Of all trials behind the figure."""

    def summary(self) -> dict[str, Any]:
        return {
            **self.findings.summary(),
            "run": str(self.folder),
            "seconds": self.seconds,
            "trials": self.trials,
            "trained_now": self.trained,
            "processor_seconds": self.processor_seconds,
            "note": self.findings.plan.figure.note,
        }


def reproduce_blocks(
    plan: BlockPlan,
    folder: str | Path | None = None,
    *,
    workers: int | None = None,
    on: str = HERE,
    progress: Progress = SILENT,
) -> BlockReproduction:
    """Train what the ledger in `folder` does not hold yet, then arrange and judge all of it."""
    where = plan.default_folder if folder is None else Path(folder)
    if plan.reads_texts:
        labelled_texts(plan.texts)  # refused before a folder is made
    started = time.perf_counter()
    ended = run(BlockRun.into(plan, where), where, workers=workers, on=on, progress=progress)
    results = {key: row.result for key, row in ended.rows.items()}
    return BlockReproduction(
        block_findings(plan, results),
        where,
        time.perf_counter() - started,
        len(ended.rows),
        ended.trained,
        sum(row.seconds for row in ended.rows.values()),
    )
