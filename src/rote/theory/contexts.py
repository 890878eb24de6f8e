"""The number of contexts, N^S, which no number of associations exceeds."""

from __future__ import annotations

from rote.models.attention_only import Transformer
from rote.models.spec import Spec


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
