"""What no model can exceed: a file of B bits tells at most 2^B tables apart."""

from __future__ import annotations

import math

from rote.models.spec import Spec
from rote.theory.bound import Refusal, Value
from rote.theory.result import result

FLOAT32_BITS = 32

NO_ANSWERS = "the result counts facts of log2 N bits with one of N answers each, given real targets"


def facts_in(bits: float, vocab: int) -> int:
    """Facts of log2 N bits each that fit in so many bits."""
    return int(bits / math.log2(vocab)) if vocab > 1 else 1


@result(
    "rote.counting",
    where="counting N^T tables of answers and 2^(32 P) settings of P float32 parameters",
    kind="upper",
    about=Spec,
    statement="T <= 32 P/log2 N in float32",
)
def counting(spec: Spec) -> Value | Refusal:
    """T facts with any of N answers each make N^T tables, and each needs its own setting of the parameters."""
    parameters = spec.parameters()
    if spec.answers is None:
        return Refusal(NO_ANSWERS, parameters)
    bits = float(FLOAT32_BITS * parameters)
    return Value(
        facts_in(bits, spec.answers),
        parameters,
        f"{parameters:,} float32 parameters hold {bits:,.0f} bits; a fact takes log2 {spec.answers}",
        bits=bits,
    )
