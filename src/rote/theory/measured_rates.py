"""Rates measured on trained language models, in bits per parameter, as results and turned around."""

from __future__ import annotations

import math

from rote.models.spec import Spec
from rote.tasks.shape import TaskShape
from rote.theory.bound import Refusal, Value
from rote.theory.rote_counting import NO_ANSWERS, facts_in
from rote.theory.smallest import Smallest, SmallestSize


def facts_at(bits_per_parameter: float, spec: Spec) -> Value | Refusal:
    """Facts that so many bits per parameter allow: one of N answers counts as log2 N bits."""
    if spec.answers is None:
        return Refusal(NO_ANSWERS, spec.parameters())
    parameters = spec.parameters()
    bits = bits_per_parameter * parameters
    reason = (
        f"measured on trained language models with MLPs; {bits_per_parameter:g} x {parameters} bits at log2 "
        f"{spec.answers} bits per fact"
    )
    return Value(facts_in(bits, spec.answers), parameters, reason, bits=bits)


def smallest_at(bits_per_parameter: float) -> Smallest:
    """The parameters that hold the bits in a task's answers at this rate."""

    def smallest(shape: TaskShape) -> SmallestSize:
        return SmallestSize(
            f"the answers' {shape.bits:.0f} bits at {bits_per_parameter:g} bits per parameter, as measured on large "
            "language models",
            description="a trained language model",
            parameters=max(1, math.ceil(shape.bits / bits_per_parameter)),
        )

    return smallest
