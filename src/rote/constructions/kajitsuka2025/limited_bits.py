"""Theorem F.1 (limited bits): B bits a parameter give about N / B parameters."""

from __future__ import annotations

from pydantic import Field

from rote.constructions.construction import Construction, Draft, Request, register_construction
from rote.constructions.kajitsuka2025.estimate import cpu_seconds, estimator
from rote.constructions.kajitsuka2025.variant import MemorizerOptions, Variant
from rote.tasks import AssociationTask

ID = "kajitsuka2025.limited_bits"


class LimitedBitsOptions(MemorizerOptions):
    """Settings of the memorizer with short words."""

    bits: int = Field(default=20, ge=4, le=53)
    """B: every weight, and every sum in a neuron, stays below 2^B. (Logits are outside the theorem, and of this.)"""


def build(request: Request[AssociationTask, LimitedBitsOptions]) -> Draft:
    """As Theorem 4.1, with groups cut so short that their words fit B bits."""
    from rote.constructions.kajitsuka2025.construct import build_memorizer

    return build_memorizer(request, Variant(ID, bits=request.options.bits))


register_construction(
    Construction(
        id=ID,
        summary="the deep ReLU memorizer with words of a given number of bits",
        paper="kajitsuka2025",
        passage="Theorem F.1",
        meets="kajitsuka2025.theoremF_1",
        sizes=(),
        tasks=(AssociationTask,),
        build=build,
        options=LimitedBitsOptions,
        default_dtype="auto",
        estimate=estimator(ID),
        cpu_seconds=cpu_seconds,
    )
)
