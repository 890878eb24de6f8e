"""Huben and Morris 2023, "Attention-only transformers and implementing MLPs with attention heads"."""

from __future__ import annotations

from rote.models.attention_only import AttentionOnly
from rote.theory.bound import Refusal, Value, bound, not_one_layer


@bound(
    "huben2023.neurons",
    kind="order",
    source="Huben, Morris 2023, as used by Dana, Pydi, Chevaleyre 2025",
    statement="T = H: one head simulates one MLP neuron, k >= S + 1, d >= S + 2",
)
def neurons(spec: AttentionOnly) -> Value | Refusal:
    """H heads are H neurons, and a ReLU network memorizes one fact per neuron."""
    other = not_one_layer(spec)
    if not other and spec.head_dim < spec.context + 1:
        other = f"a head that learns its mask needs head_dim >= context + 1 = {spec.context + 1}, given {spec.head_dim}"
    if not other and spec.dim < spec.context + 2:
        other = f"a head that learns its mask needs dim >= context + 2 = {spec.context + 2}, given {spec.dim}"
    if other:
        return Refusal(other, spec.parameters())
    return Value(spec.heads, spec.parameters(), f"{spec.heads} heads simulate {spec.heads} neurons, one fact each")
