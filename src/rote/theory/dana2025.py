"""Dana, Pydi and Chevaleyre 2025, "Memorization in Attention-only Transformers" (AISTATS)."""

from __future__ import annotations

from rote.models.attention_only import AttentionOnly
from rote.theory.bound import Bound, bound

PAPER = "Dana, Pydi, Chevaleyre 2025"


@bound("dana2025.theorem1")
def theorem1(spec: AttentionOnly) -> Bound:
    """One layer stores p = Hk + d associations with d(S + 2N + 4kH) parameters.

    The proof's Lemma 2 needs k <= N + S - 2: attention outputs lie in the span of N + S vectors under two affine
    constraints.
    """
    reach = spec.vocab + spec.context - 2
    reason = f"H k + d = {spec.heads} x {spec.head_dim} + {spec.dim}"
    applies = spec.layers == 1 and not spec.compressed and spec.head_dim <= reach
    if spec.layers != 1:
        reason = "the theorem is about one layer"
    elif spec.compressed:
        reason = "the theorem is about equation (2), variant per-head"
    elif not applies:
        reason = f"Lemma 2 needs head_dim <= vocab + context - 2 = {reach}, given {spec.head_dim}; see rote.rank"
    return Bound(
        id="dana2025.theorem1",
        kind="lower",
        associations=min(spec.promised, spec.vocab**spec.context) if applies else None,
        parameters=spec.parameters(),
        applies=applies,
        reason=reason,
        source=f"{PAPER}, Theorem 1",
    )
