"""The number of contexts, N^S, which no number of associations exceeds."""

from __future__ import annotations

from rote.models.attention_only import AttentionOnly


def at_most_contexts(associations: int, spec: AttentionOnly) -> int:
    """No more associations than there are contexts, N^S."""
    return min(associations, contexts_up_to(associations, spec))


def contexts_up_to(limit: int, spec: AttentionOnly) -> int:
    """N^S where that is at most `limit`, else some number above it: N^S may be far too long to write out."""
    doublings = spec.vocab.bit_length() - 1  # 2^doublings <= N
    if doublings == 0:
        return 1
    if doublings * spec.context > limit.bit_length():
        return limit + 1
    return spec.vocab**spec.context
