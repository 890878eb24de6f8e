"""Mahdavi, Liao and Thrampoulidis 2024, "Memorization Capacity of Multi-Head Attention in Transformers" (ICLR).

Setting: T examples, each a context matrix (n x d), a query (d) and a target; one attention layer, no skip connection,
no MLP. Notation: n is `context`, d `dim`, k `head_dim`, H `heads`.
"""

from __future__ import annotations

from rote.models.attention_only import AttentionOnly
from rote.models.query_attention import QueryAttention
from rote.theory.bound import Refusal, Value, bound, not_one_layer

PAPER = "Mahdavi, Liao, Thrampoulidis 2024"
MATCHED = "for query attention with n = context and one real target, on vectors in general position"


def matched(spec: AttentionOnly) -> QueryAttention:
    """Query attention of the same dim, head_dim and heads, with value dimension 1 and one real target.

    Constructed unchecked: only its parameters are asked for.
    """
    return QueryAttention.model_construct(
        context=spec.context, dim=spec.dim, head_dim=spec.head_dim, heads=spec.heads, value_dim=1, outputs=1
    )


@bound(
    "mahdavi2024.theorem1",
    kind="lower",
    source=f"{PAPER}, Theorem 1",
    statement="T = H(min(n, k) - 1) + 1, n = S < d, every n queries independent, contexts of rank n",
)
def theorem1(spec: AttentionOnly) -> Value | Refusal:
    """Linear in H, growing with the context, and no better for k > n. Parameters Theta(H d (k + d_v))."""
    model = matched(spec)
    other = not_one_layer(spec) or _too_long(spec)
    if other:
        return Refusal(other, model.parameters())
    width = min(spec.context, spec.head_dim, spec.dim)
    return Value(
        spec.heads * (width - 1) + 1,
        model.parameters(),
        f"H (min(n, k) - 1) + 1 = {spec.heads} x {width - 1} + 1 {MATCHED} (Assumptions 1 and 2); tokens that recur "
        "as queries break Assumption 1",
    )


def _too_long(spec: AttentionOnly) -> str | None:
    if spec.context < spec.dim:
        return None
    return f"Assumption 2 needs context < dim = {spec.dim}, given {spec.context}; see dana2025.theorem1"
