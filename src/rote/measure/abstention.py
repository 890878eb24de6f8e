"""Abstention: how often a model calls keys unknown that nobody stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rote.arguments import typed
from rote.errors import InputError
from rote.measure.intervals import Interval, clopper_pearson
from rote.models.model import Model
from rote.tasks import AssociationTask
from rote.tasks.facts import Facts, facts
from rote.tasks.unknown import UNKNOWN, KeySpace, made_up_keys, stored_part

MADE_UP, STATED_SEED, MEASURED_SEED = 10_000, 1, 2
"""Made-up keys that are asked, and the seeds of those: when a model is built, and when it is measured afterwards."""


@dataclass(frozen=True)
class Abstention:
    """Made-up keys that were asked, and how many were called unknown."""

    asked: int
    unknown: int
    interval: Interval
    """95 % interval of the rate (Clopper and Pearson 1934) for keys drawn like these."""

    @property
    def rate(self) -> float:
        return self.unknown / self.asked

    def summary(self) -> dict[str, Any]:
        """As one JSON document."""
        return {
            "made_up_keys": self.asked,
            "called_unknown": self.unknown,
            "unknown_rate": self.rate,
            "unknown_rate_low": self.interval.low,
            "unknown_rate_high": self.interval.high,
        }


@typed
def abstention(model: Model, task: Facts, keys: int = MADE_UP, seed: int = MEASURED_SEED) -> Abstention:
    """Ask a model made-up keys that are in none of these facts, unknown ones included, and count what it calls unknown.

    >>> import rote
    >>> task = rote.facts("random:vocab=30,context=3,facts=40,seed=1", unknown=True, unknown_keys=200)
    >>> seen = rote.abstention(rote.build(task, dtype="int8").model, task, keys=300)
    >>> seen.interval.low < seen.rate < seen.interval.high
    True
    """
    table = facts(task)
    if not isinstance(table, AssociationTask) or UNKNOWN not in table.vocabulary.index:
        raise InputError("made-up keys: these facts have no answer `unknown`; build the model with `unknown=True`")
    if model.vocabulary is None:
        raise InputError("made-up keys: the model has no vocabulary; give the model its vocabulary")
    table = table.in_vocabulary(model.vocabulary)
    unknown = model.vocabulary.index[UNKNOWN]
    said = [logits.argmax(1).numpy() for logits in model.logits_in_parts(made_up_keys(table, keys, seed))]
    count = int((np.concatenate(said) == unknown).sum())
    return Abstention(keys, count, clopper_pearson(count, keys))


def stated_abstention(model: Model, task: Any) -> dict[str, Any]:
    """What a certificate says of a model with the answer `unknown`: the keys, and the rate where not all are stored."""
    if not isinstance(task, AssociationTask) or not task.origin.reading.unknown:
        return {}
    stored = stored_part(task).facts
    counted = {"stored_keys": stored, "unknown_keys": task.facts - stored}
    if task.origin.reading.unknown_keys is None:
        return {**counted, "every_key": True}
    keys = min(MADE_UP, (KeySpace.of(task).size - task.distinct_keys) // 2)
    return {**counted, "every_key": False, **abstention(model, task, keys, STATED_SEED).summary()}
