"""Allen-Zhu and Li 2024: how many bits a trained language model holds per parameter."""

from __future__ import annotations

from rote.models.spec import Spec
from rote.theory.bound import Refusal, Value
from rote.theory.measured_rates import facts_at, smallest_at
from rote.theory.result import result

BITS_PER_PARAMETER = 2.0


@result(
    "allenzhu2024.two_bits",
    kind="estimate",
    about=Spec,
    statement="about 2 bits per parameter after 1000 exposures",
    smallest=(smallest_at(BITS_PER_PARAMETER),),
)
def two_bits(spec: Spec) -> Value | Refusal:
    """The rate was measured on trained GPT-2-like models."""
    return facts_at(BITS_PER_PARAMETER, spec)
