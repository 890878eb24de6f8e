"""Dana, Pydi and Chevaleyre 2025, what is said about distributions: no number of associations, but conditions.

Notation: `vocab` is N, `dim` d; L(N, S, d) are the sequence encoders of rank d, which every Transformer of that
dimension belongs to (Proposition 1).
"""

from __future__ import annotations

import math

from rote.models import AttentionOnly, SequenceEncoder, Spec
from rote.theory.bound import Refusal, Value
from rote.theory.dana2025_encoders import READS_VECTORS
from rote.theory.result import result
from rote.theory.rote_rank import facts_condition
from rote.theory.sizes import broken_condition, guaranteed


@result(
    "dana2025.proposition2",
    where="Propositions 1 and 2",
    kind="lower",
    about=Spec,
    statement="some sequence encoder matches every distribution iff d >= N - 1",
)
def proposition2(spec: Spec) -> Value | Refusal:
    """Below d = N - 1 there are distributions that no Transformer of this dimension comes arbitrarily close to."""
    if spec.vocab is None or spec.reads == "vectors":
        return Refusal(READS_VECTORS)
    dim = spec.dim or 2
    if dim < spec.vocab - 1:
        return Refusal(
            f"needs dim >= vocab - 1 = {spec.vocab - 1}, given {dim}: some next-token distributions are out of "
            "reach of every Transformer of this dim; associations are not, see dana2025.proposition1"
        )
    return Value(None, None, f"dim {dim} >= vocab - 1: the embedding dimension forbids no next-token distribution")


@result(
    "dana2025.theorem1_distributions",
    where="Theorem 1 at epsilon = 0",
    kind="lower",
    statement="T = Hk + d contexts at the divergence of the best sequence encoder",
)
def theorem1_distributions(spec: AttentionOnly) -> Value | Refusal:
    """p contexts whose distributions are met as well as any Transformer of this dimension can."""
    broken = broken_condition(spec)
    if broken:
        return Refusal(broken, spec.parameters())
    exact = "exactly" if spec.dim >= spec.vocab - 1 else "as closely as rank d allows"
    return Value(
        guaranteed(spec),
        spec.parameters(),
        f"distributions of {guaranteed(spec)} contexts are met {exact}, {facts_condition(spec)}",
    )


@result(
    "dana2025.theorem2",
    where="Theorem 2, with h = -H the entropy and without its total-variation term",
    kind="upper",
    about=SequenceEncoder,
    statement="KL <= E[(1 - pi(g|t)) log((N - 1)/(e^h - 1))] (1 + 2C)/(1 - 2C), C = sqrt(32 ln(N + 1)/d) < 1/2",
)
def theorem2(spec: SequenceEncoder) -> Value | Refusal:
    """Noisy look-up tables with entropy h per row. Since d >= N - 1 already gives divergence 0 (Proposition 2), the
    bound says something only for d > 128 ln(N + 1) below N - 1, hence for N >= 869."""
    needed = math.floor(128 * math.log(spec.vocab + 1)) + 1
    if spec.dim < needed:
        return Refusal(f"needs dim > 128 ln(vocab + 1), so at least {needed}, given {spec.dim}")
    if spec.dim >= spec.vocab - 1:
        return Refusal(f"dim {spec.dim} >= vocab - 1 already gives divergence 0; see dana2025.proposition2")
    C = math.sqrt(32 * math.log(spec.vocab + 1) / spec.dim)
    return Value(
        None, None, f"bounds the divergence on noisy look-up tables, with factor {(1 + 2 * C) / (1 - 2 * C):.3g}"
    )
