"""The rank of attention features: how many facts one solve for W_O can fit, corrected from Lemma 2 of Dana et al.

Every attention output is sum_n c_n e(n) + sum_s a_s pos_s, where the weights c of the N tokens and the weights a of
the S positions each sum to one. A head therefore adds at most N + S - 2 dimensions to those of the skip connection,
whatever its width, and the skip connection itself takes one value per last token:

    rank(features) <= min(d, last tokens) + H min(k, d, N + S - 2).

Almost all weights reach it on all contexts, so that many associations can be stored by a linear solve: proved or
certified for the sizes of `rote.theory.rank_range`, with proof in docs/lemma2.md. N counts tokens that occur in
contexts. When positions share no tokens (as in relation, country), each group of positions that does share tokens
fixes one more sum: with g groups a head adds at most N + S - g - 1.
The bound holds for every subset of the facts as well, with the tokens of that subset: facts that crowd on few tokens
can need more, narrower heads than their number alone (`rote.theory.exact_rank` computes the rank of given facts).
"""

from __future__ import annotations

from rote.models.attention_only import AttentionOnly
from rote.models.reduced_attention import ReducedAttention
from rote.theory.bound import Refusal, Value
from rote.theory.contexts import not_one_layer
from rote.theory.papers import PAPERS
from rote.theory.rank_range import CERTIFIED_CONTEXTS, rank_is_known
from rote.theory.result import result

AT_DIM_1 = "needs dim >= 2: at dim 1 only the two tokens at the ends of a line can be the maximum"


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


def any_facts(spec: AttentionOnly) -> int:
    """The number of facts that one layer stores whatever they are (docs/lemma2.md, parts 3 and 4).

    For pairs of tokens and H >= k - 1, k <= N: Hk + l, where l last tokens are the fewest that so many pairs have.
    Otherwise one dimension per head is sure, and one for the last token.
    """
    width = min(spec.head_dim, spec.dim)
    if spec.context == 2 and spec.vocab >= 2 and width <= min(spec.vocab, spec.heads + 1):
        sure = spec.heads * width
        last = max(1, -(-(sure + spec.vocab) // (spec.vocab - 1)) - 1)
        return sure + min(spec.dim, spec.vocab, last)
    return spec.heads + 1


def facts_condition(spec: AttentionOnly) -> str:
    """Which facts can be as many as the rank: the condition that subsets of them must meet."""
    if any_facts(spec) >= rank_of(spec):
        return "whatever the facts"
    if spec.context == 2 and any_facts(spec) > spec.heads + 1:
        last = min(spec.dim, spec.vocab)
        return f"for facts with at least {last} different last tokens; whatever the facts, {any_facts(spec):,}"
    return (
        "for facts that do not crowd on few tokens (each subset of them needs at most min(d, its last tokens) + "
        f"H min(k, its tokens + S - 2)); whatever the facts, {any_facts(spec):,}"
    )


def rank_unknown(spec: AttentionOnly) -> str | None:
    """Why the rank of this layer's features is not known, if so."""
    if spec.dim < 2:
        return AT_DIM_1
    if spec.heads == 0 or rank_is_known(spec.vocab, spec.context, spec.dim, spec.head_dim):
        return None
    return (
        "outside the sizes for which the rank of the features is proved (head_dim <= vocab, or context 2) or "
        f" certified (at most {CERTIFIED_CONTEXTS:,} contexts); conjectured there: {rank_of(spec):,}"
    )


@result(
    "rote.rank",
    where=f"correcting Lemma 2 of {PAPERS['dana2025'].name}",
    kind="lower",
    statement="T = min(d, N) + H min(k, d, N + S - 2), for facts that do not crowd on few tokens",
)
def rank(spec: AttentionOnly) -> Value | Refusal:
    """One layer stores as many associations as its features have rank: Theorem 1 of Dana et al. without its gap."""
    broken = not_one_layer(spec) or rank_unknown(spec)
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
        f"{facts_condition(spec)}",
    )


@result(
    "rote.any_facts",
    where="docs/lemma2.md, parts 3 and 4",
    kind="lower",
    statement="T = Hk + l for any facts of two tokens, l <= d their fewest last tokens, H >= k - 1; else T = H + 1",
)
def any_set_of_facts(spec: AttentionOnly) -> Value | Refusal:
    """What one layer stores of whatever facts it is given, those that crowd on few tokens included."""
    broken = not_one_layer(spec) or (AT_DIM_1 if spec.dim < 2 else None)
    if broken:
        return Refusal(broken, spec.parameters())
    return Value(any_facts(spec), spec.parameters(), "whatever the facts, those that crowd on few tokens included")


@result(
    "rote.reduced_rank",
    where="a change of basis in each head and in the residual stream",
    kind="lower",
    about=ReducedAttention,
    statement="as many facts as `rote.rank` gives the attention-only model of the same sizes, with fewer parameters",
)
def reduced_rank(spec: ReducedAttention) -> Value | Refusal:
    """What the model with all of its parameters stores.

    A strict maximum survives small changes, and almost all weights have the invertible blocks that the reduced form
    needs, so that weights which store the facts can be taken among those.
    """
    full = rank.evaluate(spec.full)
    if isinstance(full, Refusal):
        return Refusal(full.reason, spec.parameters())
    return Value(full.associations, spec.parameters(), full.reason)
