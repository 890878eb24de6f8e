"""Every measure that makes sense for a task, taken together.

Recall where a row has one answer, divergence besides where it has a distribution, error where it has real targets.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rote.measure.divergence import Divergence, divergence
from rote.measure.error import Error, error
from rote.measure.recall import Recall, recall
from rote.models.model import Model
from rote.progress import SILENT, Progress
from rote.tasks import DistributionTask, Task, VectorTask


@dataclass(frozen=True)
class Measures:
    """What was measured of a model on a task; either recall or error is present."""

    scored: Recall | Error
    """What was recalled: answers that are the strict maximum, or targets met within the tolerance."""
    divergence: Divergence | None = None

    @property
    def recall(self) -> Recall | None:
        return self.scored if isinstance(self.scored, Recall) else None

    @property
    def largest_error(self) -> float | None:
        return self.scored.largest if isinstance(self.scored, Error) else None

    @property
    def recalled(self) -> int:
        return self.scored.recalled

    @property
    def missed(self) -> np.ndarray:
        """Rows that are not recalled."""
        return self.scored.missed


def measures(model: Model, task: Task, progress: Progress = SILENT) -> Measures:
    """Run the model on every row, once for each measure."""
    if isinstance(task, VectorTask) and task.targets is not None:
        return Measures(error(model, task, progress))
    scored = recall(model, task, progress)
    if isinstance(task, DistributionTask):
        return Measures(scored, divergence(model, task, progress))
    return Measures(scored)
