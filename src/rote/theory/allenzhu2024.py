"""Allen-Zhu and Li 2024, "Physics of Language Models: Part 3.3, Knowledge Capacity Scaling Laws"."""

from __future__ import annotations

from rote.models.attention_only import AttentionOnly
from rote.theory.bound import Value, bound
from rote.theory.rote_counting import measured_bits

BITS_PER_PARAMETER = 2.0


@bound(
    "allenzhu2024.two_bits",
    kind="estimate",
    source="Allen-Zhu, Li 2024",
    statement="about 2 bits per parameter after 1000 exposures",
)
def two_bits(spec: AttentionOnly) -> Value:
    """Measured on trained GPT-2-like models."""
    return measured_bits(spec, BITS_PER_PARAMETER)
