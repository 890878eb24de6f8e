"""The rank of attention features: how many facts one solve for W_O can fit, corrected from Lemma 2 of Dana et al.

Every attention output is sum_n c_n e(n) + sum_s a_s pos_s, where the weights c of the N tokens and the weights a of
the S positions each sum to one. A head therefore adds at most N + S - 2 dimensions to those of the skip connection,
whatever its width, and the skip connection itself takes one value per last token:

    rank(features) <= min(d, last tokens) + H min(k, d, N + S - 2).

Generic weights reach it (up to the number of contexts), so that many associations can be stored by a linear solve.
N counts tokens that occur in contexts. When positions share no tokens (as in relation, country), each group of
positions that does share tokens fixes one more sum: with g groups a head adds at most N + S - g - 1.
The bound holds for every subset of the facts as well, with the tokens of that subset: facts that crowd on few tokens
can need more, narrower heads than their number alone.
"""

from __future__ import annotations

from rote.models.attention_only import AttentionOnly
from rote.theory.bound import Refusal, Value
from rote.theory.one_layer import not_one_layer
from rote.theory.papers import PAPERS
from rote.theory.result import result


def reach(key_tokens: int, context: int, groups: int = 1) -> int:
    """Dimensions one head can add to the skip connection: N + S - g - 1, at least one."""
    return max(1, key_tokens + context - groups - 1)


def feature_rank(
    *, dim: int, head_dim: int, heads: int, context: int, key_tokens: int, last_tokens: int, groups: int = 1
) -> int:
    """min(d, last tokens) + H min(k, d, N + S - g - 1)."""
    per_head = min(head_dim, dim, reach(key_tokens, context, groups))
    return min(dim, last_tokens) + heads * per_head


def rank_of(spec: AttentionOnly) -> int:
    """Feature rank when every token may stand anywhere."""
    return feature_rank(
        dim=spec.dim,
        head_dim=spec.head_dim,
        heads=spec.heads,
        context=spec.context,
        key_tokens=spec.vocab,
        last_tokens=spec.vocab,
    )


@result(
    "rote.rank",
    where=f"correcting Lemma 2 of {PAPERS['dana2025'].name}",
    kind="lower",
    statement="T = min(d, N) + H min(k, d, N + S - 2)",
)
def rank(spec: AttentionOnly) -> Value | Refusal:
    """One layer stores as many associations as its features have rank: Theorem 1 of Dana et al. without its gap."""
    broken = not_one_layer(spec)
    if broken:
        return Refusal(broken, spec.parameters())
    if spec.heads == 0:
        return Value(
            rank_of(spec),
            spec.parameters(),
            f"min(d, N) = {rank_of(spec)}: the residual stream alone, for contexts that end in different tokens",
        )
    per_head = min(spec.head_dim, spec.dim, reach(spec.vocab, spec.context))
    return Value(
        rank_of(spec),
        spec.parameters(),
        f"min(d, N) + H min(k, d, N + S - 2) = {min(spec.dim, spec.vocab)} + {spec.heads} x {per_head}, "
        "if every token occurs in contexts",
    )
