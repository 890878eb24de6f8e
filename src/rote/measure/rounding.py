"""Rounding: how far a model's margins move when the same weights are run in float64.

A model whose margins move by a large share of the smallest one recalls its facts by luck: a library that sums in
another order, or keeps fewer digits, loses some of them.
"""

from __future__ import annotations

import numpy as np

from rote.measure.recall import Recall, recall
from rote.models.model import Model
from rote.progress import SILENT, Progress
from rote.tasks import Task

MOST_ROUNDING = 0.05
"""Share of the smallest margin that rounding may move a margin by in a float32 model that is built by default."""


def margin_rounding(model: Model, task: Task, seen: Recall, progress: Progress = SILENT) -> float | None:
    """Largest change of a recalled fact's margin between the model's dtype and float64, over the smallest such margin.

    `seen` is what the model recalls in its own dtype. At 1 or more, rounding may decide an answer. Weights in float64
    are compared with themselves, which gives 0; where no fact is recalled there is no margin to speak of.
    """
    right = seen.margins > 0
    if not right.any():
        return None
    if model.dtype_name == "float64":
        return 0.0
    own, exact = seen.margins[right], recall(model.to("float64"), task, progress).margins[right]
    # A vocabulary of one word has infinite margins, which rounding does not move.
    change = np.subtract(own, exact, where=own != exact, out=np.zeros_like(own))
    return float(np.abs(change).max() / own.min())
