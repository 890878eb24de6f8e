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

COMPARED = 10_000
"""Facts up to which all are run in float64, which takes twice as long as float32."""
SAMPLED = 4_000
"""Of more, so many: half are those with the smallest margins, which rounding endangers, and half are spread evenly. The
largest of their errors is near that of all."""

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
    rows = _compared(np.flatnonzero(right), seen.margins)
    part = task if len(rows) == task.facts else task.take(rows)
    own, exact = seen.margins[rows], recall(model.to("float64"), part, progress).margins
    # A vocabulary of one word has infinite margins, which rounding does not move.
    change = np.subtract(own, exact, where=own != exact, out=np.zeros_like(own))
    return float(np.abs(change).max() / own.min())


def _compared(recalled: np.ndarray, margins: np.ndarray) -> np.ndarray:
    """Rows that are run in float64, in order: all that are recalled, or a sample of very many."""
    if len(recalled) <= COMPARED:
        return recalled
    smallest = recalled[np.argsort(margins[recalled], kind="stable")[: SAMPLED // 2]]
    spread = recalled[np.linspace(0, len(recalled) - 1, SAMPLED // 2).astype(np.int64)]
    return np.union1d(smallest, spread)
