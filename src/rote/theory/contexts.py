"""The number of contexts, N^S, which no number of associations exceeds."""

from __future__ import annotations

from collections.abc import Callable

from rote.models import AttentionOnly, Spec, Transformer


def largest(holds: Callable[[int], bool], most: int) -> int:
    """Largest whole number in 1..most for which a monotone condition holds; one when it holds for none."""
    low, high = 1, most + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def not_one_layer(spec: AttentionOnly) -> str | None:
    """Why a result about one layer of equation (2) says nothing about this specification, if so."""
    if spec.layers != 1:
        return f"the result is about one layer, given {spec.layers}"
    if spec.compressed:
        return (
            "the result is about heads that read all of R^d, variant per-head; given variant shared, whose heads sit "
            f"behind one compression to {spec.head_dim} dimensions"
        )
    if spec.positions == "attention":
        return (
            "the result is about positions that are added to the tokens, positions stream; given positions attention, "
            "which the skip connection leaves out"
        )
    return None


def at_most_contexts(associations: int, spec: Spec) -> int:
    """No more associations than there are contexts, N^S."""
    return min(associations, sequences_up_to(associations, spec))


def contexts_up_to(limit: int, spec: Spec) -> int:
    """Contexts that a model can tell apart where these are at most `limit`, else some number above it.

    They are N^S, the rows of a model that looks its keys up, or N without heads: the residual stream at the last
    position then depends on the last token alone.
    """
    keys = spec.index_shapes().get("keys")
    if keys is not None:
        return keys[0]
    if isinstance(spec, Transformer) and spec.heads == 0:
        return spec.vocab
    return sequences_up_to(limit, spec)


def sequences_up_to(limit: int, spec: Spec) -> int:
    """N^S where that is at most `limit`, else some number above it: N^S may be far too long to write out.

    Vectors are never too few.
    """
    if spec.vocab is None or spec.reads == "vectors":
        return limit + 1
    doublings = spec.vocab.bit_length() - 1  # 2^doublings <= N
    if doublings == 0:
        return 1
    if doublings * spec.context > limit.bit_length():
        return limit + 1
    return spec.vocab**spec.context
