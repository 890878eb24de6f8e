"""Running a model over a task a few contexts at a time, so that a million facts fit in memory."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor

from rote.models.budget import FORWARD_FLOATS
from rote.models.model import Model
from rote.progress import SILENT, Progress
from rote.tasks import Task

MOST_ROWS = 2**14
"""Beyond so many rows at once nothing is gained."""


def rows_at_once(model: Model) -> int:
    """The largest power of two of rows whose forward pass stays within `FORWARD_FLOATS`; at least one."""
    rows = MOST_ROWS
    while rows > 1 and model.spec.floats_held(rows) > FORWARD_FLOATS:
        rows //= 2
    return rows


def stream_logits(
    model: Model,
    task: Task,
    progress: Progress = SILENT,
    label: str = "recalling facts",
    rows: int | None = None,
) -> Iterator[tuple[slice, Tensor]]:
    """Slices of the task's rows with their logits; at most `rows` at a time, or as many as are fast."""
    step = rows_at_once(model) if rows is None else rows
    with progress.stage(label, task.facts) as stage:
        for start in range(0, task.facts, step):
            end = min(start + step, task.facts)
            for logits in model.logits_in_parts(task.inputs(slice(start, end))):
                taken = slice(start, start + len(logits))
                yield taken, logits
                stage.advance(len(logits))
                start = taken.stop
