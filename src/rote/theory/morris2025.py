"""Morris et al. 2025: how many bits of random strings a trained language model holds per parameter."""

from __future__ import annotations

from rote.models.spec import Spec
from rote.theory.bound import Refusal, Value
from rote.theory.measured_rates import facts_at, smallest_at
from rote.theory.result import result

BITS_PER_PARAMETER = 3.6


@result(
    "morris2025.bits",
    kind="estimate",
    about=Spec,
    statement="about 3.6 bits per parameter on random strings",
    smallest=(smallest_at(BITS_PER_PARAMETER),),
)
def random_strings(spec: Spec) -> Value | Refusal:
    """The rate was measured on trained GPT-like models."""
    return facts_at(BITS_PER_PARAMETER, spec)
