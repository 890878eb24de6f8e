"""Running a model over a task a few contexts at a time, so that a million facts fit in memory."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor

from rote.models.model import Model
from rote.progress import SILENT, Progress
from rote.tasks import Task

WORKING_FLOATS = 2**24
"""Numbers held at once while streaming: 64 MiB in float32, well inside which matrix products run at full speed."""


def rows_at_once(model: Model) -> int:
    return max(1, min(65_536, WORKING_FLOATS // model.spec.floats_per_input()))


def stream_logits(
    model: Model, task: Task, progress: Progress = SILENT, label: str = "recalling facts"
) -> Iterator[tuple[slice, Tensor]]:
    """Slices of the task's rows with their logits."""
    step = rows_at_once(model)
    with progress.stage(label, task.facts) as stage:
        for start in range(0, task.facts, step):
            rows = slice(start, min(start + step, task.facts))
            yield rows, model.logits(task.inputs(rows))
            stage.advance(rows.stop - rows.start)
