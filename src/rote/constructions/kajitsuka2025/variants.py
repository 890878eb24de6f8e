"""Theorem 4.1 and its variants: N sequences with about sqrt(N) parameters, one construction each.

Theorem 4.1 (next-token prediction): width at most 14, one uniform attention, depth about sqrt(N log N) +
sqrt(N / log N) max(log R, log C), with words of about sqrt(N log N) bits in exact arithmetic. A dtype bounds the words,
and parameters then grow as N over their length. Codes for a few tokens are averaged to the sequence's id, and the id's
label is read from packed words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import Field

from rote.constructions.common.rebuilding import rebuilt_by
from rote.constructions.construction import Construction, Draft, Request, register_construction
from rote.constructions.kajitsuka2025.estimate import cpu_seconds, estimator
from rote.constructions.kajitsuka2025.variant import MemorizerOptions, Variant
from rote.tasks import AssociationTask, Task, VectorTask


class LimitedBitsOptions(MemorizerOptions):
    """Settings of the memorizer with short words."""

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
