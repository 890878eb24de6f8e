"""Sizes for a task: the smallest number of heads whose features have the rank that the facts need.

Theorem 1 of Dana et al. states p = Hk + d associations; what one layer can hold by a linear solve is the rank of
its features (`rote.theory.rote_rank`), which depends on the tokens that occur, not on the size of the vocabulary.

What Theorem 1 of Dana, Pydi and Chevaleyre 2025 states for one layer, and the conditions under which that is proved.

Notation: `vocab` is N, `context` S, `dim` d, `head_dim` k (the paper's d_h), `heads` H.
"""

from __future__ import annotations

from rote.errors import InputError
from rote.models.attention_only import AttentionOnly
from rote.tasks.shape import TaskShape
from rote.theory.contexts import not_one_layer
from rote.theory.rote_rank import feature_rank, rank_unknown, reach


def guaranteed(spec: AttentionOnly) -> int:
    """p = Hk + d: the associations that Theorem 1 states for one layer of these sizes."""
    return spec.heads * spec.head_dim + spec.dim


def broken_condition(spec: AttentionOnly) -> str | None:
    """The first condition under which p = Hk + d is the rank of the features and that does not hold.

    Lemma 2 needs k <= N + S - 2 and k <= d; the skip connection's d needs d <= N, since x_S takes only N values. The
    theorem itself may hold where its proof fails, and is false in places (docs/errata.md). `rote.rank` counts what is
    proved there.
    """
    other = not_one_layer(spec)
    if other:
        return other
    if spec.heads == 0:
        return "needs at least one head: without any, contexts that end in the same token look alike; see rote.rank"
    limit = reach(spec.vocab, spec.context)
    if spec.head_dim > limit:
        return (
            f"Lemma 2 needs head_dim <= vocab + context - 2 = {limit}, given {spec.head_dim}: attention outputs span "
            "no more dimensions than that; see rote.rank"
        )
    if spec.head_dim > spec.dim:
        return (
            f"needs head_dim <= dim = {spec.dim}, given {spec.head_dim}: a head adds no more dimensions than it "
            "reads; see rote.rank"
        )
    if spec.dim > spec.vocab:
        return (
            f"needs dim <= vocab = {spec.vocab}, given {spec.dim}: beyond, its proof fails, and so does the theorem "
            "where parameters are too few (docs/errata.md); see rote.rank"
        )
    return rank_unknown(spec)


COMFORTABLE_DIM = 20
"""The formula d(S + 2N + 4kH) with Hk + d >= T favours small d; float32 solves are safe from about 16 on."""

FEWEST_HEADS = 64
"""The rank bound holds for every subset of the facts, too. A subset that uses few tokens gains less from a wide head,
so a few wide heads can fail where more narrow ones, of as many parameters, do not: of 400 random tables of up to 170
facts crowded on few tokens, 118 were out of reach of heads as wide as possible and none with at least 16 heads; of
tables of up to 1000 facts, 6 in 60 with at least 16 heads and none in 30 with 64."""


def task_rank(shape: TaskShape, dim: int, head_dim: int, heads: int) -> int:
    """Rank of one layer's features on this task's contexts."""
    return feature_rank(
        dim=dim,
        head_dim=head_dim,
        heads=heads,
        context=shape.context,
        key_tokens=shape.key_tokens,
        last_tokens=shape.last_tokens,
        groups=shape.groups,
    )


def fewest_heads(shape: TaskShape, dim: int, head_dim: int) -> int:
    """Smallest H >= 1 with min(d, last tokens) + H min(k, d, N + S - g - 1) >= T."""
    skip = task_rank(shape, dim, head_dim, 0)
    per_head = task_rank(shape, dim, head_dim, 1) - skip
    return max(1, -(-(shape.associations - skip) // per_head))


def widest_head(shape: TaskShape) -> int:
    """A head width that is never redundant: N - 1 is within reach however positions share tokens."""
    return max(1, shape.key_tokens - 1)


def theorem1_spec(
    shape: TaskShape,
    dim: int | None = None,
    head_dim: int | None = None,
    heads: int | None = None,
    query_key_rank: int | None = None,
) -> AttentionOnly:
    """One attention-only layer that holds the task's facts; sizes that are absent are chosen.

    Without any size: dim 20, head_dim as large as dim, the tokens and `FEWEST_HEADS` allow, and the fewest heads that
    do. With heads given and dim absent, dim grows from 20 until the facts fit.
    """
    chosen = _dim(shape, head_dim, heads) if dim is None else dim
    width = _head_dim(shape, chosen, heads) if head_dim is None else head_dim
    number = fewest_heads(shape, max(1, chosen), max(1, width)) if heads is None else heads
    spec = AttentionOnly(
        vocab=shape.vocab,
        context=shape.context,
        dim=chosen,
        head_dim=width,
        heads=number,
        query_key_rank=query_key_rank,
    )
    if task_rank(shape, chosen, width, number) < shape.associations:
        raise InputError(_too_small(shape, spec))
    return spec


def _head_dim(shape: TaskShape, dim: int, heads: int | None) -> int:
    """As wide as dim, the tokens and `FEWEST_HEADS` allow; with heads given, as wide as they need."""
    safe = min(dim, widest_head(shape))
    if heads is None:
        left = shape.associations - min(dim, shape.last_tokens)
        return min(safe, max(1, left // FEWEST_HEADS))
    if dim < 1 or task_rank(shape, dim, safe, heads) >= shape.associations:
        return safe
    return min(dim, reach(shape.key_tokens, shape.context, shape.groups))


def _dim(shape: TaskShape, head_dim: int | None, heads: int | None) -> int:
    """Dim 20, or what a given head_dim needs, or the smallest above it with which the given heads suffice."""
    start = max(COMFORTABLE_DIM, head_dim or 0)
    if heads is None or heads < 0:
        return start

    def holds(dim: int) -> bool:
        width = _head_dim(shape, dim, heads) if head_dim is None else max(1, head_dim)
        return task_rank(shape, dim, width, heads) >= shape.associations

    # Beyond this, neither the skip connection nor a head gains anything from a larger dim.
    largest = max(start, shape.last_tokens, head_dim or reach(shape.key_tokens, shape.context, shape.groups))
    if holds(start) or not holds(largest):
        return start
    low, high = start, largest
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _too_small(shape: TaskShape, spec: AttentionOnly) -> str:
    limit = reach(shape.key_tokens, shape.context, shape.groups)
    rank = task_rank(shape, spec.dim, spec.head_dim, spec.heads)
    needed = fewest_heads(shape, spec.dim, spec.head_dim)
    reached = "tokens + context - 2" if shape.groups == 1 else f"tokens + context - {shape.groups + 1}"
    stated = f"Theorem 1 states H k + d = {spec.heads} x {spec.head_dim} + {spec.dim} = {guaranteed(spec)}"
    if guaranteed(spec) >= shape.associations:
        stated += (
            f", but that needs head_dim <= {reached} and dim <= last tokens "
            f"(here {limit} and {shape.last_tokens}); its features"
        )
    else:
        stated += " and its features"
    return (
        f"dim {spec.dim}, head_dim {spec.head_dim}, heads {spec.heads}: cannot hold {shape.associations} facts. "
        f"{stated} have rank min(dim, last tokens) + heads x min(head_dim, {reached}) = "
        f"{min(spec.dim, shape.last_tokens)} + {spec.heads} x {min(spec.head_dim, limit)} = {rank}. "
        f"Give `heads={needed}` or more at this dim and head_dim, or leave `heads` out"
    )
