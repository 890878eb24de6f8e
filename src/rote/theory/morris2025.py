"""Morris et al. 2025, "How much do language models memorize?"."""

from __future__ import annotations

from rote.models.attention_only import AttentionOnly
from rote.theory.bound import Value, bound
from rote.theory.rote_counting import measured_bits

BITS_PER_PARAMETER = 3.6


@bound(
    "morris2025.bits",
    kind="estimate",
    source="Morris et al. 2025",
    statement="about 3.6 bits per parameter on random strings",
)
def random_strings(spec: AttentionOnly) -> Value:
    """Measured on trained GPT-like models."""
    return measured_bits(spec, BITS_PER_PARAMETER)
