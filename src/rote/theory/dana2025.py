"""Dana, Pydi and Chevaleyre 2025, "Memorization in Attention-only Transformers" (AISTATS): associations.

Notation: `vocab` is N, `context` S, `dim` d, `head_dim` k (the paper's d_h), `heads` H, p = Hk + d. The results about
distributions are in `dana2025_distributions`.
"""

from __future__ import annotations

from rote.models.attention_only import AttentionOnly
from rote.theory.bound import Refusal, Value, bound, contexts_up_to
from rote.theory.dana2025_conditions import broken_condition
from rote.theory.dana2025_conditions import promised as promised

PAPER = "Dana, Pydi, Chevaleyre 2025"


@bound("dana2025.theorem1", kind="lower", source=f"{PAPER}, Theorem 1", statement="T = Hk + d")
def theorem1(spec: AttentionOnly) -> Value | Refusal:
    """One layer stores p = Hk + d associations with d(S + 2N + 4kH) parameters."""
    broken = broken_condition(spec)
    if broken:
        return Refusal(broken, spec.parameters())
    return Value(promised(spec), spec.parameters(), f"H k + d = {spec.heads} x {spec.head_dim} + {spec.dim}")


@bound("dana2025.remark2", kind="lower", source=f"{PAPER}, Remark 2", statement="T = Hk + d with W_Q W_K of rank 1")
def remark2(spec: AttentionOnly) -> Value | Refusal:
    """The same p associations when every W_Q^T W_K has rank one: d(S + 2N + 2(k + 1)H) parameters."""
    thin = spec.model_copy(update={"query_key_rank": 1})
    broken = broken_condition(spec)
    if broken:
        return Refusal(broken, thin.parameters())
    return Value(promised(spec), thin.parameters(), "the same sizes with a query and a key vector per head")


@bound(
    "dana2025.corollary1",
    kind="lower",
    source=f"{PAPER}, Corollary 1",
    statement="T = Hk + 2 at d = 2, in 2(S + 2N + 4(T - 2)) parameters, k <= 2",
)
def corollary1(spec: AttentionOnly) -> Value | Refusal:
    """Embedding dimension 2 suffices for associations. As Theorem 1 it needs k <= d, so k <= 2 here."""
    flat = spec.model_copy(
        update={"dim": 2, "head_dim": min(2, spec.head_dim), "query_key_rank": None, "variant": "per-head"}
    )
    broken = broken_condition(flat)
    if broken:
        return Refusal(f"with dim 2 and head_dim {flat.head_dim}: {broken}", flat.parameters())
    return Value(
        promised(flat),
        flat.parameters(),
        f"the same heads with dim 2 and head_dim {flat.head_dim}: {flat.heads} x {flat.head_dim} + 2; a head of "
        "dim 2 adds no more than 2, whatever its head_dim",
    )


@bound(
    "dana2025.corollary2",
    kind="lower",
    source=f"{PAPER}, Corollary 2",
    statement="accuracy >= phi(Hk + d), phi(X) = 1/N + (1 - 1/N) X/T",
)
def corollary2(spec: AttentionOnly) -> Value | Refusal:
    """Asked for all N^S contexts alike, a model is right on p of them and guesses the others."""
    broken = broken_condition(spec)
    if broken:
        return Refusal(broken, spec.parameters())
    asked = contexts_up_to(10**12, spec)
    if asked > 10**12:
        accuracy = f"1/N = {1 / spec.vocab:.3g}, p being next to nothing of N^S contexts"
    else:
        share = min(1.0, promised(spec) / asked)
        accuracy = f"phi(p) = {1 / spec.vocab + (1 - 1 / spec.vocab) * share:.4g} over all {asked} contexts"
    return Value(promised(spec), spec.parameters(), f"accuracy at least {accuracy}")


@bound(
    "dana2025.previous",
    kind="lower",
    source=f"{PAPER}, quoting Mahdavi, Liao, Thrampoulidis 2024",
    statement="T = H(k - 1) + 1, S <= d",
)
def previous(spec: AttentionOnly) -> Value | Refusal:
    """The previous bound as quoted and plotted there; the theorem itself has min(n, k) in place of k."""
    broken = broken_condition(spec)
    if broken:
        return Refusal(broken, spec.parameters())
    if spec.context > spec.dim:
        return Refusal(f"quoted for context <= dim = {spec.dim}, given {spec.context}", spec.parameters())
    return Value(
        spec.heads * (spec.head_dim - 1) + 1,
        spec.parameters(),
        f"H (k - 1) + 1 = {spec.heads} x {spec.head_dim - 1} + 1; the theorem itself says H (min(n, k) - 1) + 1, see "
        "mahdavi2024.theorem1",
    )


@bound(
    "dana2025.proposition3",
    kind="upper",
    source=f"{PAPER}, Propositions 1 and 3",
    statement="T = N^S: at d >= 2 the embedding dimension alone forbids nothing",
)
def proposition3(spec: AttentionOnly) -> Value | Refusal:
    """A Transformer is a sequence encoder of rank d, and at d = 2 one of these answers any look-up table."""
    if spec.dim < 2:
        return Refusal("needs dim >= 2: at dim 1 only the two tokens at the ends of a line can be the maximum")
    asked = contexts_up_to(2**63, spec)
    if asked > 2**63:
        return Value(None, None, f"all {spec.vocab}^{spec.context} contexts, more than can be written down")
    return Value(asked, spec.dim * (spec.vocab + asked), "a sequence encoder with one row per context holds them all")
