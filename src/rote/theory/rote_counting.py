"""What no model can exceed: a file of B bits tells at most 2^B tables apart."""

from __future__ import annotations

import math

from rote.models.attention_only import AttentionOnly
from rote.theory.bound import Value, bound

FLOAT32_BITS = 32


def facts_in(bits: float, vocab: int) -> int:
    """Facts of log2 N bits each that fit in so many bits."""
    return int(bits / math.log2(vocab)) if vocab > 1 else 1


@bound(
    "rote.counting",
    kind="upper",
    source="counting: N^T tables of answers, 2^(32 P) settings of P float32 parameters",
    statement="T <= 32 P/log2 N in float32",
)
def counting(spec: AttentionOnly) -> Value:
    """T facts with any of N answers each make N^T tables, and each needs its own setting of the parameters."""
    parameters = spec.parameters()
    bits = float(FLOAT32_BITS * parameters)
    return Value(
        facts_in(bits, spec.vocab),
        parameters,
        f"{parameters} float32 parameters hold {bits:.0f} bits, a fact log2 {spec.vocab} of them",
        bits=bits,
    )


def measured_bits(spec: AttentionOnly, bits_per_parameter: float) -> Value:
    """Facts that a rate measured on trained language models allows: one of N answers counts as log2 N bits."""
    parameters = spec.parameters()
    bits = bits_per_parameter * parameters
    reason = (
        f"measured on trained language models with MLPs; {bits_per_parameter:g} x {parameters} bits at log2 "
        f"{spec.vocab} bits a fact"
    )
    return Value(facts_in(bits, spec.vocab), parameters, reason, bits=bits)
