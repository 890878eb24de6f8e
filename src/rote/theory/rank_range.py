"""The sizes for which the rank of attention features is known: proved, or certified by an exact instance.

Proved (docs/lemma2.md), for d >= 2: min(k, d) <= N, or S = 2. Certified: the other sizes with at most
`CERTIFIED_CONTEXTS` contexts, any k, d and H, W_Q^T W_K of rank one. One instance covers many sizes. The rank grows
with d, k and H, each head adds the same as long as contexts are left, and dimensions beyond N + S - 2 add nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

CERTIFIED_CONTEXTS = 1100
"""Largest N^S for which sizes outside the proof were checked, all of them, by `benchmarks/certify_rank.py`."""


@dataclass(frozen=True)
class CertifiedSize:
    """A layer with k = d whose features on all contexts have this rank at one exact instance."""

    vocab: int
    context: int
    dim: int
    heads: int
    rank: int


def rank_is_known(vocab: int, context: int, dim: int, head_dim: int) -> bool:
    """Whether the rank of a layer of these sizes, with any number of heads, is proved or certified."""
    return dim >= 2 and (context == 2 or min(head_dim, dim) <= vocab or _few_contexts(vocab, context))


def certified_sizes() -> Iterator[CertifiedSize]:
    """The instances that certify every size outside the proof with at most `CERTIFIED_CONTEXTS` contexts.

    For each N, S and r = min(k, d): the most heads that contexts are left for, and one more.
    """
    for vocab in range(2, CERTIFIED_CONTEXTS + 1):
        context = 3
        while _few_contexts(vocab, context):
            contexts = vocab**context
            for dim in range(vocab + 1, vocab + context - 1):
                left = contexts - vocab
                for heads in dict.fromkeys((left // dim, -(-left // dim))):
                    yield CertifiedSize(vocab, context, dim, heads, min(contexts, vocab + heads * dim))
            context += 1


def _few_contexts(vocab: int, context: int) -> bool:
    return context < 64 and vocab**context <= CERTIFIED_CONTEXTS
