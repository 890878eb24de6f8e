"""Recall: which facts a model holds.

A fact is recalled when its answer's logit is the strict maximum; a tie is a miss, and so is anything that is not a
number.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Float, Integer
from torch import Tensor

from rote.errors import InputError
from rote.measure.bits import bits_memorized
from rote.measure.matching import for_model
from rote.measure.streaming import stream_logits
from rote.models.model import Model
from rote.progress import SILENT, Progress
from rote.tasks import AssociationTask, DistributionTask, Task
from rote.tasks.rows import distinct_rows


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
    def recallable(self) -> int:
        """Facts any model could recall."""
        return round(self.ceiling * self.facts)

    @property
    def complete(self) -> bool:
        """Whether the model recalls all that any model could."""
        return self.recalled >= self.recallable

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
    answers = answers_of(task)
    missed, smallest, choices = [], float("inf"), 0
    for rows, logits in stream_logits(model, task, progress):
        margin = margins(logits, torch.from_numpy(answers[rows]).long())
        # A margin that is not a number is a miss, hence the negated comparison.
        missed.append(np.flatnonzero(~(margin > 0).numpy()) + rows.start)
        smallest = min(smallest, float(margin.masked_fill(margin.isnan(), -float("inf")).min()))
        choices = logits.shape[1]
    rows_missed = np.concatenate(missed)
    # A distribution task is asked for likeliest tokens, one per context: nothing contradicts there.
    ceiling = 1.0 if isinstance(task, DistributionTask) else task.ceiling
    return Recall(
        facts=task.facts,
        recalled=task.facts - len(rows_missed),
        ceiling=ceiling,
        min_margin=smallest,
        parameters=model.parameters,
        bits=_bits(task, rows_missed, choices),
        missed=rows_missed,
    )


def margins(logits: Float[Tensor, "batch vocab"], answers: Integer[Tensor, " batch"]) -> Float[Tensor, " batch"]:
    """Answer's logit less the best other logit, per row, in float64 so that unequal logits never give zero."""
    at = answers[:, None]
    own = logits.gather(1, at).squeeze(1).double()
    if logits.shape[1] == 1:
        return torch.where(own.isnan(), own, float("inf"))
    return own - logits.scatter(1, at, -float("inf")).amax(1).double()


def answers_of(task: Task) -> np.ndarray:
    """The answer of each row: a fact's, a context's likeliest token, or a label."""
    if isinstance(task, AssociationTask):
        return task.answers
    if isinstance(task, DistributionTask):
        return task.likeliest().answers
    if task.labels is None:
        raise InputError("recall needs labels; this vector task has real targets: measure its error instead")
    return task.labels


def _bits(task: Task, missed: np.ndarray, choices: int) -> float | None:
    """Bits memorized. Rows that repeat a key add none: a key counts once, as recalled when any of its rows is."""
    if isinstance(task, DistributionTask) or task.entropy_bits is None:
        return None
    keys, recalled = task.facts, task.facts - len(missed)
    if isinstance(task, AssociationTask) and task.distinct_keys < task.facts:
        keys = task.distinct_keys
        held = np.delete(task.contexts, missed, axis=0)
        recalled = len(distinct_rows(held, task.vocab)[0]) if len(held) else 0
    return bits_memorized(task.entropy_bits, keys, recalled, choices)
