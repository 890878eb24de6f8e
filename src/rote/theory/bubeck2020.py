"""Bubeck, Eldan, Lee and Mikulincer 2020: two-layer ReLU networks memorize T reals with about T/d neurons."""

from __future__ import annotations

from rote.models.attention_only import AttentionOnly
from rote.theory.bound import Refusal, Value, bound


@bound(
    "bubeck2020.two_layer",
    kind="order",
    source="Bubeck, Eldan, Lee, Mikulincer 2020",
    statement="T ~ m d with m ReLU neurons on points of R^d in general position",
)
def two_layer(spec: AttentionOnly) -> Value | Refusal:
    """One real per fact is enough: the answer's number y is read by logits 2jy - j^2, whose maximum is at j = y."""
    embeddings = spec.dim * (spec.context + 2 * spec.vocab)
    per_neuron = spec.dim + 2
    neurons = (spec.parameters() - embeddings) // per_neuron
    if neurons < 1:
        return Refusal("the heads hold too few parameters for a single neuron of a two-layer network")
    return Value(
        neurons * spec.dim,
        neurons * per_neuron,
        f"a two-layer ReLU network of {neurons} neurons in the parameters of the heads, each context a point of R^d "
        "in general position and one real target per fact; constants taken as one",
    )
