"""Kim, Kim and Mozafari 2023: deep Transformers with MLPs that label every position of a sequence."""

from __future__ import annotations

import math

from rote.models.spec import Spec
from rote.theory.bound import Refusal, Value
from rote.theory.contexts import largest
from rote.theory.result import result


@result(
    "kim2023.sequences",
    kind="order",
    about=Spec,
    subject="deep Transformer with MLPs",
    statement="parameters ~ d + n + sqrt(nT log(nT)) for a label at every one of n positions, 2n attention layers",
)
def sequences(spec: Spec) -> Value | Refusal:
    """Deep Transformers with MLPs map T sequences of n = S tokens to sequences of labels."""
    budget, n = spec.parameters(), spec.context
    left = budget - (spec.dim or 1) - n
    if left < math.sqrt(n * math.log(max(2, n))):
        return Refusal(f"{budget} parameters do not reach d + n + sqrt(n log n) for one sequence of {n} tokens", budget)
    T = largest(lambda T: math.sqrt(n * T * math.log(max(2, n * T))) <= left, left**2)
    return Value(
        T,
        budget,
        f"a deep Transformer with MLPs and {2 * n} attention layers in the same parameters, which labels every "
        "position; constants taken as one",
    )
