"""Huben and Morris 2023: one attention head simulates one neuron of an MLP."""

from __future__ import annotations

from rote.models.attention_only import AttentionOnly
from rote.tasks.shape import TaskShape
from rote.theory.bound import Refusal, Value
from rote.theory.contexts import not_one_layer
from rote.theory.papers import PAPERS
from rote.theory.result import result
from rote.theory.sizes import COMFORTABLE_DIM
from rote.theory.smallest import SmallestModel


def huben_spec(shape: TaskShape, dim: int | None = None, heads: int | None = None) -> AttentionOnly:
    """Two layers of one-dimensional heads, of which the second layer's are neurons: one for each fact.

    The stream holds content and what the first layer gathered, 20 dimensions of each, and two flags.
    """
    return AttentionOnly(
        vocab=shape.vocab,
        context=shape.context,
        dim=dim or 2 * COMFORTABLE_DIM + 2,
        head_dim=1,
        heads=heads or shape.associations,
        layers=2,
    )


def smallest_neurons(shape: TaskShape) -> SmallestModel:
    """A head per simulated neuron and a neuron per fact, as rote builds it: a first layer gathers what neurons read.

    The result is quoted for one layer of dim S + 2 whose positions all hold the whole context already.
    """
    return SmallestModel("one head per simulated neuron, one neuron per fact", huben_spec(shape))


@result(
    "huben2023.neurons",
    where=f"as used by {PAPERS['dana2025'].name}",
    kind="order",
    statement="T = H: one head simulates one MLP neuron, k >= S + 1, d >= S + 2",
    smallest=(smallest_neurons,),
)
def neurons(spec: AttentionOnly) -> Value | Refusal:
    """H heads are H neurons, and a ReLU network memorizes one fact per neuron."""
    broken = not_one_layer(spec)
    if not broken and spec.heads == 0:
        broken = "a head simulates a neuron, and there is none"
    if not broken and spec.head_dim < spec.context + 1:
        broken = (
            f"a head that learns its mask needs head_dim >= context + 1 = {spec.context + 1}, given {spec.head_dim}"
        )
    if not broken and spec.dim < spec.context + 2:
        broken = f"a head that learns its mask needs dim >= context + 2 = {spec.context + 2}, given {spec.dim}"
    if broken:
        return Refusal(broken, spec.parameters())
    return Value(spec.heads, spec.parameters(), f"{spec.heads} heads simulate {spec.heads} neurons, one fact each")
