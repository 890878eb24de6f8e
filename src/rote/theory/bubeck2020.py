"""Bubeck, Eldan, Lee and Mikulincer 2020 (NeurIPS): two-layer ReLU networks fit T reals with 4 ceil(T/d) neurons."""

from __future__ import annotations

from rote.models.attention_only import AttentionOnly
from rote.theory.bound import Refusal, Value, bound

NEURONS_PER_HYPERPLANE = 4
"""One hyperplane passes through d points; fitting d real labels on it takes four ReLU neurons."""


def neurons_for(associations: int, dim: int) -> int:
    """4 ceil(T/d)."""
    return NEURONS_PER_HYPERPLANE * -(-associations // dim)


@bound(
    "bubeck2020.two_layer",
    kind="lower",
    source="Bubeck, Eldan, Lee, Mikulincer 2020",
    statement="T = d floor(m/4) with m ReLU neurons on points of R^d in general position",
)
def two_layer(spec: AttentionOnly) -> Value | Refusal:
    """One real per fact is enough: the answer's number y is read by logits 2jy - j^2, whose maximum is at j = y."""
    embeddings = spec.dim * (spec.context + 2 * spec.vocab)
    per_neuron = spec.dim + 2
    neurons = (spec.parameters() - embeddings) // per_neuron
    if neurons < NEURONS_PER_HYPERPLANE:
        return Refusal("the heads hold too few parameters for four neurons of a two-layer network")
    return Value(
        spec.dim * (neurons // NEURONS_PER_HYPERPLANE),
        neurons * per_neuron,
        f"a two-layer ReLU network of {neurons} neurons in the parameters of the heads, each context a point of R^d "
        "in general position and one real target per fact",
    )
