"""Dana, Pydi and Chevaleyre 2025: the associations that one attention layer stores.

Notation: `vocab` is N, `context` S, `dim` d, `head_dim` k (the paper's d_h), `heads` H, p = Hk + d. What the paper says
about sequence encoders is in `dana2025_encoders`, about distributions in `dana2025_distributions`.
"""

from __future__ import annotations

from rote.models.attention_only import AttentionOnly
from rote.tasks.shape import TaskShape
from rote.theory.bound import Refusal, Value
from rote.theory.contexts import sequences_up_to
from rote.theory.papers import PAPERS
from rote.theory.phi import phi
from rote.theory.result import result
from rote.theory.rote_rank import facts_condition
from rote.theory.sizes import COMFORTABLE_DIM, broken_condition, theorem1_spec, widest_head
from rote.theory.sizes import guaranteed as guaranteed
from rote.theory.smallest import SmallestModel

MOST_CONTEXTS_ASKED = 10**12
"""Beyond so many contexts the accuracy of p recalled associations is that of guessing, to any digit shown."""


def smallest_theorem1(shape: TaskShape) -> SmallestModel:
    """The size that `rote build` picks: d = 20, safe in float32."""
    return SmallestModel(
        f"dim {COMFORTABLE_DIM} keeps the solve safe in float32; the size that rote build picks", theorem1_spec(shape)
    )


@result("dana2025.theorem1", where="Theorem 1", kind="lower", statement="T = Hk + d", smallest=(smallest_theorem1,))
def theorem1(spec: AttentionOnly) -> Value | Refusal:
    """One layer stores p = Hk + d associations with d(S + 2N + 4kH) parameters."""
    broken = broken_condition(spec)
    if broken:
        return Refusal(broken, spec.parameters())
    return Value(
        guaranteed(spec),
        spec.parameters(),
        f"H k + d = {spec.heads} x {spec.head_dim} + {spec.dim}, {facts_condition(spec)}",
    )


def smallest_remark2(shape: TaskShape) -> SmallestModel:
    """One query and one key vector per head: d(S + 2N + 2(k + 1)H)."""
    return SmallestModel(f"rank-one queries and keys at dim {COMFORTABLE_DIM}", theorem1_spec(shape, query_key_rank=1))


def smallest_remark2_flat(shape: TaskShape) -> SmallestModel:
    """Remark 2 at d = 2."""
    return SmallestModel(
        "rank-one queries and keys at dim 2, the smallest by formula; in float32 it depends on the draw",
        _flattest(shape, 1),
    )


def _flattest(shape: TaskShape, query_key_rank: int | None) -> AttentionOnly:
    """The fewest parameters at d = 2, then the fewest heads."""
    specs = [
        theorem1_spec(shape, dim=2, head_dim=head_dim, query_key_rank=query_key_rank)
        for head_dim in range(1, min(2, widest_head(shape)) + 1)
    ]
    return min(specs, key=lambda spec: (spec.parameters(), spec.heads))


@result(
    "dana2025.remark2",
    where="Remark 2",
    kind="lower",
    statement="T = Hk + d with W_Q W_K of rank 1",
    smallest=(smallest_remark2, smallest_remark2_flat),
)
def remark2(spec: AttentionOnly) -> Value | Refusal:
    """The same p associations when every W_Q^T W_K has rank one: d(S + 2N + 2(k + 1)H) parameters."""
    thin = spec.model_copy(update={"query_key_rank": 1})
    broken = broken_condition(spec)
    if broken:
        return Refusal(broken, thin.parameters())
    return Value(guaranteed(spec), thin.parameters(), f"a query and a key vector per head; {facts_condition(spec)}")


def smallest_corollary1(shape: TaskShape) -> SmallestModel:
    """The smallest by the formula d(S + 2N + 4kH) with Hk + d >= T, which is at d = 2."""
    return SmallestModel(
        "dim 2 is the smallest by formula; in float32 it depends on the draw, float64 is safer", _flattest(shape, None)
    )


@result(
    "dana2025.corollary1",
    where="Corollary 1",
    kind="lower",
    statement="T = Hk + 2 at d = 2, in 2(S + 2N + 4(T - 2)) parameters, k <= 2",
    smallest=(smallest_corollary1,),
)
def corollary1(spec: AttentionOnly) -> Value | Refusal:
    """Embedding dimension 2 suffices for associations. The paper has k <= d throughout, so k <= 2 here."""
    flat = spec.model_copy(
        update={"dim": 2, "head_dim": min(2, spec.head_dim), "query_key_rank": None, "variant": "per-head"}
    )
    broken = broken_condition(flat)
    if broken:
        return Refusal(f"with dim 2 and head_dim {flat.head_dim}: {broken}", flat.parameters())
    return Value(
        guaranteed(flat),
        flat.parameters(),
        f"the same heads with dim 2 and head_dim {flat.head_dim}: {flat.heads} x {flat.head_dim} + 2, "
        f"{facts_condition(flat)}",
    )


@result(
    "dana2025.corollary2",
    where="Corollary 2",
    kind="lower",
    statement="accuracy >= phi(Hk + d), phi(X) = 1/N + (1 - 1/N) X/T",
)
def corollary2(spec: AttentionOnly) -> Value | Refusal:
    """Asked for all N^S contexts alike, a model is right on p of them and guesses the others."""
    broken = broken_condition(spec)
    if broken:
        return Refusal(broken, spec.parameters())
    asked = sequences_up_to(MOST_CONTEXTS_ASKED, spec)
    if spec.vocab == 1:
        accuracy = "1, there being one answer only"
    elif asked > MOST_CONTEXTS_ASKED:
        accuracy = f"1/N = {1 / spec.vocab:.3g}, p being next to nothing of N^S contexts"
    else:
        accuracy = f"phi(p) = {phi(guaranteed(spec), asked, spec.vocab):.4g} over all {asked} contexts"
    return Value(guaranteed(spec), spec.parameters(), f"accuracy at least {accuracy}")


@result(
    "dana2025.previous",
    where=f"quoting {PAPERS['mahdavi2024'].name}",
    kind="lower",
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
