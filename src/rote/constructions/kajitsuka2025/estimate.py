"""Estimates of what the deep ReLU memorizers take, since only building tells: packed bytes, parameters, CPU time.

Fitted by relative least squares, coefficients not negative, to 121 builds: 100 to 4,000 random facts (pairs of words,
three letters, seven digits, sixteen letters; 3 to 2,000 answers), countries, airports and 2,000 numbers. The largest
error there is 35 % in bytes and 45 % in parameters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from rote.constructions.construction import Request, SizeEstimate
from rote.tasks import AssociationTask, Task

BASIS = "fitted to 121 builds, at most 35 % off in bytes and 45 % in parameters"
SECONDS_PER_FACT = 0.0007
"""CPU time of a build in either precision, the largest that was seen beyond 1,000 facts."""


@dataclass(frozen=True)
class Fit:
    """Coefficients of one method. Bytes: times those of an embedding table, a constant, per token of a position.

    Parameters: a constant, per fact, per token, per token of a position, per bit of a fact's answer.
    """

    bytes: tuple[float, float, float]
    parameters: tuple[float, float, float, float, float]


FITS = {
    "kajitsuka2025.embedding_table": Fit((1.0, 0, 0.02), (4318, 2.46, 0, 1.3, 1.43)),
    "kajitsuka2025.deep_sets": Fit((1.075, 166, 0.28), (4874, 6.74, 23, 1.19, 0.67)),
    "kajitsuka2025.theorem4_1": Fit((1.086, 197, 0.2), (5755, 6.24, 10.1, 0.98, 1.46)),
    "kajitsuka2025.corollary4_1": Fit((1.06, 157, 0.9), (6746, 5.27, 0, 0.87, 1.7)),
    "kajitsuka2025.limited_bits": Fit((1.061, 212, 0.29), (5358, 5.4, 22.8, 0, 1.68)),
}


def estimator(id: str) -> Any:
    """The estimate of a method, as its record holds it."""

    def estimate(request: Request[Any, Any]) -> SizeEstimate:
        return estimated(request.task.majority(), FITS[id])

    return estimate


def estimated(task: AssociationTask, fit: Fit) -> SizeEstimate:
    """The expected size of a network that holds these facts, one per key."""
    shape = task.shape
    facts, answers = shape.associations, shape.answers
    used = [len(np.unique(column)) for column in task.contexts.T]
    spread = min(2.0, max(0.0, sum(map(math.log2, used)) - math.log2(facts)))
    table = 516 + facts * (0.123 + 0.113 * spread) + 0.251 * shape.bits + 0.435 * answers
    share, constant, per_token = fit.bytes
    terms = (1.0, facts, task.vocab, task.vocab * task.context, facts * math.log2(max(2, answers)))
    return SizeEstimate(
        parameters=round(sum(map(math.prod, zip(fit.parameters, terms, strict=True)))),
        bytes=round(share * table + constant + per_token * sum(used)),
        basis=BASIS,
    )


def cpu_seconds(request: Request[Task, Any]) -> float:
    return 0.1 + SECONDS_PER_FACT * request.task.facts
