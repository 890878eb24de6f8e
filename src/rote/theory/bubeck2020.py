"""Bubeck, Eldan, Lee and Mikulincer 2020: two-layer ReLU networks fit T reals with 4 ceil(T/d) neurons."""

from __future__ import annotations

from rote.models.attention_only import AttentionOnly
from rote.tasks.shape import TaskShape
from rote.theory.bound import Refusal, Value
from rote.theory.result import result
from rote.theory.sizes import COMFORTABLE_DIM
from rote.theory.smallest import SmallestSize

NEURONS_PER_HYPERPLANE = 4
"""One hyperplane passes through d points; fitting d real labels on it takes four ReLU neurons."""


def smallest_two_layer(shape: TaskShape) -> SmallestSize:
    """4 ceil(T/d) ReLU neurons of d + 2 numbers, behind one random head that brings contexts into general position."""
    dim = COMFORTABLE_DIM
    neurons = NEURONS_PER_HYPERPLANE * -(-shape.associations // dim)
    return SmallestSize(
        "one real target per fact; that random attention brings contexts into general position is taken for granted",
        description=f"one random head and a two-layer ReLU network of {neurons} neurons on R^{dim}",
        parameters=neurons * (dim + 2) + dim * (shape.context + shape.key_tokens + 4 * dim),
    )


@result(
    "bubeck2020.two_layer",
    kind="lower",
    subject="two-layer ReLU network",
    statement="T = d floor(m/4) with m ReLU neurons on points of R^d in general position",
    smallest=(smallest_two_layer,),
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
