"""Facts that crowd on few tokens: the subset of given facts that keeps a layer of given sizes from storing them all.

Every subset U of the facts has features of rank at most min(d, last tokens of U) + H min(k, d, tokens of U + S - 2)
(docs/lemma2.md). Facts that take part in a linear dependence of the features, at one exact instance, are such a subset.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rote.theory.exact_rank import dependent_rows, exact_features
from rote.theory.rote_rank import feature_rank

MOST_FACTS = 1_000
"""Facts up to which the dependent ones are searched: elimination in exact arithmetic takes seconds there."""


@dataclass(frozen=True)
class Crowding:
    """A subset of the facts that is larger than the rank that a layer's features can have on it."""

    facts: int
    tokens: int
    last_tokens: int
    rank: int
    """The most that the features can have on these facts."""

    def __str__(self) -> str:
        return (
            f"{self.facts} of the facts use {self.tokens} tokens, {self.last_tokens} of them last, and on those "
            f"the attention features have rank {self.rank} at most"
        )


def crowding(contexts: np.ndarray, dim: int, head_dim: int, heads: int) -> Crowding | None:
    """The subset of these contexts (one per row) that a layer of these sizes cannot hold by a solve, if found."""
    if len(contexts) > MOST_FACTS:
        return None
    chosen = contexts[dependent_rows(exact_features(contexts, dim, head_dim, heads))]
    if not len(chosen):
        return None
    tokens, last = len(np.unique(chosen)), len(np.unique(chosen[:, -1]))
    rank = feature_rank(
        dim=dim, head_dim=head_dim, heads=heads, context=chosen.shape[1], key_tokens=tokens, last_tokens=last
    )
    return Crowding(len(chosen), tokens, last, rank) if rank < len(chosen) else None
