"""Madden, Fox and Thrampoulidis 2025: how many contexts an MLP behind random attention can predict after.

Random attention makes the contexts' features distinct; the output weights of m MLP neurons, with an activation that is
analytic and no polynomial, then solve m contexts.
"""

from __future__ import annotations

from rote.models.attention_only import AttentionOnly
from rote.models.mlp_transformer import MlpTransformer
from rote.tasks.shape import TaskShape
from rote.theory.bound import Refusal, Value
from rote.theory.one_layer import not_one_layer
from rote.theory.result import result
from rote.theory.sizes import COMFORTABLE_DIM, widest_head
from rote.theory.smallest import SmallestModel


def matched(spec: AttentionOnly) -> MlpTransformer | None:
    """One head and as many MLP neurons as fit in the parameters of the other heads; none if not even one does.

    A neuron takes 2d + 1 parameters (two vectors and a bias). Constructed unchecked: only its parameters are asked for.
    """
    bare = MlpTransformer.model_construct(
        vocab=spec.vocab, context=spec.context, dim=spec.dim, head_dim=spec.head_dim, heads=1, width=0
    )
    neurons = (spec.parameters() - bare.parameters()) // (2 * spec.dim + 1)
    return bare.model_copy(update={"width": neurons}) if neurons > 0 else None


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
    statement="T >= m with m MLP neurons (analytic activation, such as GELU) after one attention layer",
    smallest=(smallest_comfortable, smallest_flat),
)
def lower(spec: AttentionOnly) -> Value | Refusal:
    """As many contexts as neurons, by one linear solve for the MLP's output matrix."""
    broken = not_one_layer(spec)
    if broken:
        return Refusal(broken)
    if spec.dim < 2:
        return Refusal("needs dim >= 2, so that any answer can be the maximum")
    model = matched(spec)
    if model is None:
        return Refusal("the heads beyond the first hold too few parameters for a single MLP neuron")
    return Value(
        model.width,
        model.parameters(),
        f"an MLP of {model.width} GELU neurons in place of all heads but one, in the same parameters",
    )


@result(
    "madden2025.upper",
    where="upper bound",
    kind="upper",
    statement="T <= P/(N - 1) contexts, if any next-token distributions are to be met",
)
def upper(spec: AttentionOnly) -> Refusal:
    """Counting dimensions: T distributions over N tokens have T(N - 1) degrees of freedom."""
    parameters = spec.parameters()
    number = f"at most {parameters // (spec.vocab - 1)} contexts" if spec.vocab > 1 else "no limit with one token"
    return Refusal(
        f"about arbitrary next-token distributions ({number} with {parameters} parameters); an association needs only "
        "the maximum, see rote.counting",
        parameters,
    )
