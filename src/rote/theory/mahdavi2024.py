"""Mahdavi, Liao and Thrampoulidis 2024: what multi-head attention with a separate query memorizes.

The setting is T examples, each a context matrix (n x d), a query (d) and a target; one attention layer without a skip
connection or an MLP. Notation: n is `context`, d `dim`, k `head_dim`, H `heads`.
"""

from __future__ import annotations

from rote.errors import InputError
from rote.models.query_attention import QueryAttention
from rote.tasks.shape import TaskShape
from rote.theory.bound import Refusal, Value
from rote.theory.result import result
from rote.theory.smallest import SmallestModel

SETTING = "for one real target on vectors in general position"


def smallest_theorem1(shape: TaskShape) -> SmallestModel:
    """H(min(n, k) - 1) + 1 >= T with k = n = S and d = S + 1, if the queries allow it at all."""
    if shape.associations > shape.last_tokens:
        raise InputError(
            f"Assumption 1 wants independent queries, and {shape.associations} facts share {shape.last_tokens} last "
            "tokens; the theorem is about vectors, as in images"
        )
    heads = max(1, -(-(shape.associations - 1) // (shape.context - 1))) if shape.context > 1 else 1
    if heads * (shape.context - 1) + 1 < shape.associations:
        raise InputError("with contexts of one token every head is constant")
    return SmallestModel(
        "query attention, the last token as query, one real target",
        QueryAttention(context=shape.context, dim=shape.context + 1, head_dim=shape.context, heads=heads, outputs=1),
    )


@result(
    "mahdavi2024.theorem1",
    where="Theorem 1",
    kind="lower",
    about=QueryAttention,
    statement="T = H(min(n, k) - 1) + 1, n = S < d, every n queries independent, contexts of rank n",
    smallest=(smallest_theorem1,),
)
def theorem1(spec: QueryAttention) -> Value | Refusal:
    """Linear in H, growing with the context, and no better for k > n. Parameters Theta(H d (k + d_v))."""
    if spec.context >= spec.dim:
        return Refusal(
            f"Assumption 2 needs context < dim = {spec.dim}, given {spec.context}; see dana2025.theorem1",
            spec.parameters(),
        )
    width = min(spec.context, spec.head_dim, spec.dim)
    return Value(
        spec.heads * (width - 1) + 1,
        spec.parameters(),
        f"H (min(n, k) - 1) + 1 = {spec.heads} x {width - 1} + 1 {SETTING} (Assumptions 1 and 2); tokens that recur "
        "as queries break Assumption 1",
    )
