"""Theorem 4.1 and its variants: N sequences with about sqrt(N) parameters, one construction each.

Theorem 4.1 (next-token prediction): width at most 14, one uniform attention, depth about sqrt(N log N) +
sqrt(N / log N) max(log R, log C), with words of about sqrt(N log N) bits in exact arithmetic. A dtype bounds the words,
and parameters then grow as N over their length. Codes for a few tokens are averaged to the sequence's id, and the id's
label is read from packed words.

Estimates of what the deep ReLU memorizers take, since only building tells: packed bytes, parameters, CPU time.

Fitted by relative least squares, coefficients not negative, to 121 builds: 100 to 4,000 random facts (pairs of words,
three letters, seven digits, sixteen letters; 3 to 2,000 answers), countries, airports and 2,000 numbers. The largest
error there is 35 % in bytes and 45 % in parameters.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import Field

from rote.constructions.common.rebuilding import rebuilt_by
from rote.constructions.construction import Construction, Draft, Request, SizeEstimate, register_construction
from rote.constructions.kajitsuka2025.variant import MemorizerOptions, Variant
from rote.tasks import AssociationTask, Task, VectorTask

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


class LimitedBitsOptions(MemorizerOptions):
    bits: int = Field(default=20, ge=4, le=53)
    """B: every weight, and every sum in a neuron, stays below 2^B. (Logits are outside the theorem, and of this.)"""


def _register(
    name: str,
    summary: str,
    passage: str,
    meets: str,
    variant: Callable[[str, Any], Variant],
    tasks: tuple[type[Task], ...] = (AssociationTask, VectorTask),
    options: type[MemorizerOptions] = MemorizerOptions,
) -> None:
    id = f"kajitsuka2025.{name}"

    def build(request: Request[Any, Any]) -> Draft:
        from rote.constructions.kajitsuka2025.construct import build_memorizer

        return build_memorizer(request, variant(id, request.options))

    register_construction(
        Construction(
            id=id,
            summary=summary,
            paper="kajitsuka2025",
            passage=passage,
            meets=f"kajitsuka2025.{meets}",
            sizes=(),
            tasks=tasks,
            build=build,
            edit=rebuilt_by(id),
            options=options,
            default_dtype="auto",
            estimate=estimator(id),
            cpu_seconds=cpu_seconds,
        )
    )


_register(
    "theorem4_1",
    "deep ReLU memorizer: sequence ids by uniform attention, labels from packed words",
    "Theorem 4.1",
    "theorem4_1",
    lambda id, options: Variant(id),
)
# Sequence to sequence: a label for every position, with about sqrt(nN) parameters. F1 passes the token on with its
# code, and F2 maps the sequence's id and the token together. A token that occurs twice in a sequence has one label
# there, unless positions enter. The facts of a task ask for one label each: the last token, or the query, asks within
# what comes before it, so that sequences that recur with other last tokens share one id.
_register(
    "corollary4_1",
    "the deep ReLU memorizer, sequence to sequence: the last token asks for its label",
    "Corollary 4.1",
    "corollary4_1",
    lambda id, options: Variant(id, asked=True),
)
# Deep sets: codes are added up; sums of whole numbers need no snap block, whatever the length.
_register(
    "deep_sets",
    "the deep ReLU memorizer with a plain sum in place of attention",
    "Remark 4.1 and Theorem D.1",
    "theoremD_1",
    lambda id, options: Variant(id, mixing="sum"),
)
# One number per token (and position, where order counts) in place of the layers of F1.
_register(
    "embedding_table",
    "the deep ReLU memorizer with an embedding table in place of its first network",
    "Remark 4.2 and appendix E",
    "remarkE_1",
    lambda id, options: Variant(id, table=True),
    (AssociationTask,),
)
# B bits per parameter give about N / B parameters: groups are cut so short that their words fit B bits.
_register(
    "limited_bits",
    "the deep ReLU memorizer with words of a given number of bits",
    "Theorem F.1",
    "theoremF_1",
    lambda id, options: Variant(id, bits=options.bits),
    (AssociationTask,),
    LimitedBitsOptions,
)
