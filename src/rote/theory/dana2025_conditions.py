"""What Theorem 1 of Dana, Pydi and Chevaleyre 2025 states for one layer, and the conditions under which that is proved.

Notation: `vocab` is N, `context` S, `dim` d, `head_dim` k (the paper's d_h), `heads` H.
"""

from __future__ import annotations

from rote.models.attention_only import AttentionOnly
from rote.theory.one_layer import not_one_layer
from rote.theory.rote_rank import rank_unknown, reach


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
