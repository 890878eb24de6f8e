"""Recall: which facts a model holds.

A fact is recalled when its answer's logit is the strict maximum; a tie is a miss, and so is anything that is not a
number.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from rote.errors import InputError
from rote.measure.bits import bits_memorized
from rote.measure.streaming import stream_logits
from rote.models.model import Model
from rote.progress import SILENT, Progress
from rote.tasks import AssociationTask, DistributionTask, Task, VectorTask


@dataclass(frozen=True)
class Recall:
    """What a model holds of a task."""

    facts: int
    recalled: int
    ceiling: float
    """Best recall any model could reach on this table."""
    min_margin: float
    """Smallest difference between an answer's logit and the best other one; negative where a fact is missed."""
    parameters: int
    bits: float | None
    """Bits memorized (see `rote.measure.bits`)."""
    missed: np.ndarray = field(repr=False)
    """Rows that are not recalled."""

    @property
    def recall(self) -> float:
        return self.recalled / self.facts

    @property
    def bits_per_parameter(self) -> float | None:
        return None if self.bits is None else self.bits / self.parameters

    @property
    def storable(self) -> int:
        """Facts any model could recall."""
        return round(self.ceiling * self.facts)

    @property
    def complete(self) -> bool:
        """Whether the model recalls all that any model could."""
        return self.recalled >= self.storable

    def summary(self) -> dict[str, float | int | None]:
        """The numbers, by the names the command line prints."""
        return {
            "facts": self.facts,
            "recalled": self.recalled,
            "recall": self.recall,
            "ceiling": self.ceiling,
            "min_margin": self.min_margin,
            "parameters": self.parameters,
            "bits": self.bits,
            "bits_per_parameter": self.bits_per_parameter,
        }


def recall(model: Model, task: Task, progress: Progress = SILENT) -> Recall:
    """Run the model on every fact, in the dtype of its weights.

    A distribution task is asked for each context's likeliest token.
    """
    task = for_model(task, model)
    answers = _answers(task)
    missed, smallest = [], float("inf")
    for rows, logits in stream_logits(model, task, progress):
        margin = margins(logits, torch.from_numpy(answers[rows]).long())
        # A margin that is not a number is a miss, hence the negated comparison.
        missed.append(np.flatnonzero(~(margin > 0).numpy()) + rows.start)
        smallest = min(smallest, float(margin.nan_to_num(nan=-float("inf")).min()))
    rows_missed = np.concatenate(missed)
    recalled = task.facts - len(rows_missed)
    choices = task.vocab if not isinstance(task, VectorTask) else task.outputs
    bits = None
    if task.entropy_bits is not None and not isinstance(task, DistributionTask):
        bits = bits_memorized(task.entropy_bits, task.facts, recalled, choices)
    # A distribution task is asked for likeliest tokens, one per context: nothing contradicts there.
    ceiling = 1.0 if isinstance(task, DistributionTask) else task.ceiling
    return Recall(task.facts, recalled, ceiling, smallest, model.parameters, bits, rows_missed)


def margins(logits: Tensor, answers: Tensor) -> Tensor:
    """Answer's logit less the best other logit, per row."""
    at = answers[:, None]
    own = logits.gather(1, at).squeeze(1)
    if logits.shape[1] == 1:
        return torch.full_like(own, float("inf"))
    others = logits.scatter(1, at, -float("inf")).max(1).values
    return (own - others).double()


TaskKind = TypeVar("TaskKind", AssociationTask, DistributionTask, VectorTask)


def for_model(task: TaskKind, model: Model) -> TaskKind:
    """The task in the model's vocabulary; a mismatch of kind or context is one clear error."""
    if isinstance(task, VectorTask):
        return task
    context = getattr(model.spec, "context", None)
    if context is not None and context != task.context:
        raise InputError(
            f"the model reads contexts of {context} tokens but these facts have {task.context}; "
            "read the facts the way the model's were (--keys, --key, --context)"
        )
    return task if model.vocabulary is None else task.in_vocabulary(model.vocabulary)


def _answers(task: Task) -> np.ndarray:
    if isinstance(task, AssociationTask):
        return task.answers
    if isinstance(task, DistributionTask):
        return task.likeliest().answers
    if task.labels is None:
        raise InputError("recall needs labels; this vector task has real targets: measure its error instead")
    return task.labels
