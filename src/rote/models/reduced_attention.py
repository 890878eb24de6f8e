"""Attention-only Transformers without redundant parameters: numbers that would change nothing are fixed, not stored.

One layer of attention is the same function of its tokens after each of these changes:

- any invertible matrix between query and key of a head (r^2 numbers) and between value and output (k^2);
- any basis of the residual stream (d^2);
- one vector added to all tokens and taken from all positions (d);
- one vector added to all rows of the unembedding, which moves all logits alike (d).

So the first r columns of every query and the first k of every value are the identity, and so are the embeddings of the
first d tokens; the first position and the first row of the unembedding are zero. Every function of an `AttentionOnly`
layer has this form, except where one of these blocks is singular.
"""

from __future__ import annotations

from typing import ClassVar

from rote.models.attention_only import AttentionOnly
from rote.models.spec import Count, Spec


class ReducedAttention(Spec, frozen=True):
    """One layer of `AttentionOnly` that stores only the numbers that matter.

    Parameters: d(S + 2N + 2(k + r)H) - (k^2 + r^2)H - d^2 - 2d. `rote.models.redundancy` converts in both directions.

    >>> from rote.models import AttentionOnly, ReducedAttention
    >>> full = AttentionOnly(vocab=50, context=2, dim=10, head_dim=2, heads=46)
    >>> full.parameters(), ReducedAttention.of(full).parameters()
    (4700, 4212)
    """

    architecture: ClassVar[str] = "reduced-attention"

    vocab: Count
    dim: Count
    head_dim: Count
    heads: Count
    query_key_rank: Count | None = None
    """Rank of W_Q^T W_K per head. Default: head_dim."""
    scale_scores: bool = False
    """Divide scores by sqrt(head_dim)."""

    @classmethod
    def of(cls, spec: AttentionOnly) -> ReducedAttention:
        """The sizes of an attention-only model of one layer without its redundant parameters."""
        names = ("vocab", "context", "dim", "head_dim", "heads", "query_key_rank", "scale_scores")
        return cls(**{name: getattr(spec, name) for name in names})

    @property
    def full(self) -> AttentionOnly:
        """The same model with all of its parameters."""
        return AttentionOnly(**self.model_dump())

    def refusals(self) -> list[str]:
        refused = AttentionOnly.model_construct(**self.model_dump()).refusals()
        if self.vocab < self.dim:
            refused.append(f"`dim={self.dim}`: a basis needs as many tokens, but the vocabulary has {self.vocab}")
        return refused

    def shapes(self) -> dict[str, tuple[int, ...]]:
        dim, rank, head_dim, heads = self.dim, self.full.rank, self.head_dim, self.heads
        return {
            "tokens": (self.vocab - dim, dim),
            "positions": (self.context - 1, dim),
            "layers.0.query": (heads, rank, dim - rank),
            "layers.0.key": (heads, rank, dim),
            "layers.0.value": (heads, head_dim, dim - head_dim),
            "layers.0.output": (heads, dim, head_dim),
            "unembed": (self.vocab - 1, dim),
        }

    def head_axes(self) -> dict[str, int]:
        return self.full.head_axes()

    def parameters(self) -> int:
        rank, dim = self.full.rank, self.dim
        return self.full.parameters() - self.heads * (rank**2 + self.head_dim**2) - dim**2 - 2 * dim

    def floats_per_input(self) -> int:
        return self.full.floats_per_input()

    def floats_held(self, inputs: int) -> int:
        return self.full.floats_held(inputs) + self.full.parameters()
