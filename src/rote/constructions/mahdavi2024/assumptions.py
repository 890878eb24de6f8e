"""What Mahdavi, Liao and Thrampoulidis 2024 assume of their examples, measured; and the rank no attention exceeds.

Assumption 1: the queries have Kruskal rank at least n (any n of them are independent). Assumption 2: every context
(n x d) has rank n. Notation: n is `context`, d `dim`, H `heads`, k `head_dim`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

RELATIVE_ZERO = 1e-10
"""A singular value this much smaller than the largest counts as zero: data given in float64 are rounded at 1e-16."""


@dataclass(frozen=True)
class Assumptions:
    """How far the examples satisfy the theorem's assumptions."""

    queries_smallest: float
    """Smallest ratio of extreme singular values over the sampled sets of n queries; zero when some are dependent."""
    query_sets: int
    """Sets of n queries that were drawn: Kruskal rank is checked on samples, since there are too many sets."""
    context_rank: int
    """Smallest rank of a context."""
    context: int

    @property
    def hold(self) -> bool:
        return self.queries_smallest > RELATIVE_ZERO and self.context_rank == self.context

    def measured(self) -> dict[str, Any]:
        return {
            "assumptions_hold": self.hold,
            "query_sets_sampled": self.query_sets,
            "query_sets_smallest_singular_ratio": self.queries_smallest,
            "smallest_context_rank": self.context_rank,
        }


def measure_assumptions(
    contexts: np.ndarray, queries: np.ndarray, generator: np.random.Generator, samples: int = 200
) -> Assumptions:
    """Rank of every context, and singular values of sampled sets of n queries (of all of them if fewer)."""
    examples, dim = queries.shape
    size = min(contexts.shape[1], examples)
    sets = np.stack([generator.permutation(examples)[:size] for _ in range(samples if size < examples else 1)])
    ratios = np.zeros(len(sets)) if size > dim else _ratios(queries[sets])
    singular = np.linalg.svd(contexts, compute_uv=False)
    ranks = (singular > RELATIVE_ZERO * singular[:, :1]).sum(1)
    return Assumptions(float(ratios.min()), len(sets), int(ranks.min()), contexts.shape[1])


def _ratios(matrices: np.ndarray) -> np.ndarray:
    singular = np.linalg.svd(matrices, compute_uv=False)
    return np.divide(singular[:, -1], singular[:, 0], out=np.zeros(len(singular)), where=singular[:, 0] > 0)


@dataclass(frozen=True)
class Reach:
    """Largest rank that attention features can have on these contexts.

    Every head's output is a weighted mean of tokens, so it lies in their affine hull: of dimension a, it gives each
    head at most a directions, and one more for all heads together when the hull misses the origin. For one shared
    context of rank n this is H(n-1) + 1; for distinct contexts that span R^d it is Hd.
    """

    directions: int
    misses_origin: bool

    def rank(self, heads: int) -> int:
        return heads * self.directions + self.misses_origin

    def heads_for(self, examples: int) -> int:
        """Fewest heads whose features can reach rank `examples`."""
        return max(1, -(-(examples - self.misses_origin) // max(1, self.directions)))

    def words(self, heads: int) -> str:
        """The formula with its numbers."""
        return f"{heads} x {self.directions}{' + 1' if self.misses_origin else ''} = {self.rank(heads)}"


def reach(contexts: np.ndarray) -> Reach:
    """The affine hull of all tokens of all contexts."""
    tokens = contexts.reshape(-1, contexts.shape[-1])
    whole = np.linalg.matrix_rank(tokens, rtol=RELATIVE_ZERO)
    directions = np.linalg.matrix_rank(tokens - tokens.mean(0), rtol=RELATIVE_ZERO)
    return Reach(int(directions), bool(whole > directions))
