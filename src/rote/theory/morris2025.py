"""Morris et al. 2025, "How much do language models memorize?"."""

from __future__ import annotations

from rote.models.attention_only import AttentionOnly
from rote.theory.bound import Value, bound
from rote.theory.rote_counting import facts_in

BITS_PER_PARAMETER = 3.6


@bound(
    "morris2025.bits",
    kind="estimate",
    source="Morris et al. 2025",
    statement="about 3.6 bits per parameter on random strings",
)
def random_strings(spec: AttentionOnly) -> Value:
    """Measured on trained GPT-like models; a fact with one of N answers counts as log2 N bits."""
    parameters = spec.parameters()
    return Value(
        facts_in(BITS_PER_PARAMETER * parameters, spec.vocab),
        parameters,
        f"measured on trained language models with MLPs; {BITS_PER_PARAMETER:g} x {parameters} bits at log2 "
        f"{spec.vocab} bits a fact",
        bits=BITS_PER_PARAMETER * parameters,
    )
