"""Run a figure about #blocks and say what it shows."""

from __future__ import annotations

import time
from pathlib import Path

from rote.experiments.blocks.findings import block_findings
from rote.experiments.blocks.plan import BlockPlan
from rote.experiments.blocks.queue import BlockRun
from rote.experiments.reproduction import Reproduction
from rote.experiments.runner import run
from rote.experiments.where import HERE
from rote.progress import SILENT, Progress
from rote.tasks.labelled_text import labelled_texts


def reproduce_blocks(
    plan: BlockPlan,
    folder: str | Path | None = None,
    *,
    workers: int | None = None,
    on: str = HERE,
    progress: Progress = SILENT,
) -> Reproduction:
    """Train what the ledger in `folder` does not hold yet, then arrange and judge all of it."""
    where = plan.default_folder if folder is None else Path(folder)
    if plan.reads_texts:
        labelled_texts(plan.texts)  # refused before a folder is made
    started = time.perf_counter()
    ended = run(BlockRun.into(plan, where), where, workers=workers, on=on, progress=progress)
    results = {key: row.result for key, row in ended.rows.items()}
    return Reproduction(
        findings=block_findings(plan, results),
        folder=where,
        trials=len(ended.rows),
        trained=ended.trained,
        seconds=time.perf_counter() - started,
        processor_seconds=sum(row.seconds for row in ended.rows.values()),
        failed=ended.failed,
    )
