"""Madden, Fox and Thrampoulidis 2025: how many contexts an MLP behind random attention can predict after.

Random attention makes the contexts' features distinct; the output weights of m MLP neurons, with an activation that is
analytic and no polynomial, then solve m contexts.
"""

from __future__ import annotations

from rote.models import MlpTransformer, Spec
from rote.tasks.shape import TaskShape
from rote.theory.bound import Refusal, Value
from rote.theory.contexts import not_one_layer
from rote.theory.result import result
from rote.theory.sizes import COMFORTABLE_DIM, widest_head
from rote.theory.smallest import SmallestModel


def smallest_comfortable(shape: TaskShape) -> SmallestModel:
    """One attention head that tells contexts apart, and one MLP neuron per fact, with an analytic activation."""
    return SmallestModel(
        f"one MLP neuron per fact at dim {COMFORTABLE_DIM}", _one_neuron_per_fact(shape, COMFORTABLE_DIM)
    )


def smallest_flat(shape: TaskShape) -> SmallestModel:
    """The same at d = 2, the smallest by formula."""
    return SmallestModel(
        "one MLP neuron per fact at dim 2, the smallest by formula; expect to need more than float32",
        _one_neuron_per_fact(shape, 2),
    )


def _one_neuron_per_fact(shape: TaskShape, dim: int) -> MlpTransformer:
    return MlpTransformer(
        vocab=shape.vocab,
        context=shape.context,
        dim=dim,
        head_dim=min(dim, widest_head(shape)),
        heads=1,
        width=shape.associations,
    )


@result(
    "madden2025.lower",
    where="lower bound",
    kind="lower",
    about=MlpTransformer,
    statement="T >= m with m MLP neurons (analytic activation, such as GELU) after one attention layer",
    smallest=(smallest_comfortable, smallest_flat),
)
def lower(spec: MlpTransformer) -> Value | Refusal:
    """As many contexts as neurons, by one linear solve for the MLP's output matrix."""
    broken = not_one_layer(spec.attention)
    if not broken and spec.dim < 2:
        broken = "needs dim >= 2, so that any answer can be the maximum"
    if not broken and spec.activation != "gelu":
        broken = f"needs an activation that is analytic and no polynomial, such as gelu, given {spec.activation}"
    if not broken and spec.width == 0:
        broken = "needs at least one MLP neuron"
    if broken:
        return Refusal(broken, spec.parameters())
    return Value(spec.width, spec.parameters(), f"one context per neuron, {spec.width} GELU neurons")


@result(
    "madden2025.upper",
    where="upper bound",
    kind="upper",
    about=Spec,
    statement="T <= P/(N - 1) contexts, if any next-token distributions are to be met",
)
def upper(spec: Spec) -> Refusal:
    """Counting dimensions: T distributions over N tokens have T(N - 1) degrees of freedom."""
    parameters, answers = spec.parameters(), spec.answers
    if answers is None:
        return Refusal("about next-token distributions, given real targets", parameters)
    number = f"at most {parameters // (answers - 1)} contexts" if answers > 1 else "no limit with one token"
    return Refusal(
        f"about arbitrary next-token distributions ({number} with {parameters} parameters); an association needs only "
        "the maximum, see rote.counting",
        parameters,
    )
