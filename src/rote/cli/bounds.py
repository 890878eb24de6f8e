"""`rote bounds`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from rote.cli.output import AsJson, print_json, print_table
from rote.display import number

if TYPE_CHECKING:
    from rote.theory import Bound

FIRST = ("dana2025.theorem1", "rote.rank", "rote.counting")
"""Results named first where several give the same number."""


def bounds(
    *,
    vocab: int,
    context: int,
    dim: int,
    head_dim: int,
    heads: int,
    layers: int = 1,
    variant: Literal["per-head", "shared"] = "per-head",
    query_key_rank: int | None = None,
    everything: Annotated[bool, Parameter(name="--all", negative="")] = False,
    why: Annotated[bool, Parameter(negative="")] = False,
    as_json: AsJson = False,
) -> None:
    """Evaluate the published capacity results for a Transformer of these sizes, their conditions checked.

    Bounds on this architecture come first; results about other architectures are evaluated for a model of matched size
    and say nothing about this one.

    Example: `rote bounds --vocab 50 --context 2 --dim 10 --head-dim 10 --heads 20`

    Parameters
    ----------
    vocab
        Vocabulary size N.
    context
        Context length S.
    dim
        Embedding dimension d.
    head_dim
        Head dimension k.
    heads
        Number of heads H.
    layers
        Number of layers.
    variant
        per-head: every head has its own projections, as in the equation of Dana et al. 2025; shared: all heads read one
        shared compression, as in their released code.
    query_key_rank
        Rank of each head's query-key matrix. Default: --head-dim.
    everything
        Also print the results that reach all possible contexts, which say nothing here.
    why
        Print every reason in full.
    """
    from rote.models.attention_only import AttentionOnly
    from rote.theory import bounds as every_bound

    spec = AttentionOnly(
        vocab=vocab,
        context=context,
        dim=dim,
        head_dim=head_dim,
        heads=heads,
        layers=layers,
        variant=variant,
        query_key_rank=query_key_rank,
    )
    every = every_bound(spec)
    if as_json:
        print_json([bound.model_dump() for bound in every])
        return
    contexts = vocab**context
    print(f"attention-only Transformer, {spec.parameters():,} parameters, {number(contexts)} possible contexts")
    applying = [bound for bound in every if bound.applies]
    own = [bound for bound in applying if not bound.matched]
    proved = [bound for bound in own if bound.kind in ("lower", "upper")]
    for words, kind, best in (("guaranteed: at least", "lower", max), ("impossible: more than", "upper", min)):
        numbers = [bound.associations for bound in proved if bound.kind == kind and bound.associations is not None]
        if numbers:
            ids = {bound.id for bound in proved if bound.kind == kind and bound.associations == best(numbers)}
            named = [id for id in FIRST if id in ids] or sorted(ids)
            print(f"  {words} {number(best(numbers))} facts ({', '.join(named)})")
    print()
    tables = {
        "bounds on this architecture": proved,
        "orders of growth and estimates for this architecture": [bound for bound in own if bound not in proved],
        "other architectures, of matched size": [bound for bound in applying if bound.matched],
    }
    hidden = 0
    for title, rows in tables.items():
        shown = [bound for bound in rows if everything or bound.associations != contexts]
        hidden += len(rows) - len(shown)
        if shown:
            _show(title, shown, why)
    if hidden:
        print(f"{hidden} results reach all {number(contexts)} contexts and are left out; --all shows them\n")
    if len(applying) < len(every):
        rejected = [[bound.id, bound.reason] for bound in every if not bound.applies]
        print_table("results whose conditions do not hold", ["result", "reason"], rejected, whole=why)


def _show(title: str, rows: list[Bound], why: bool) -> None:
    if rows[0].matched:
        columns = ["result", "facts", "kind", "parameters", "architecture"]
        cells = [[bound.id, bound.associations, bound.kind, bound.parameters, _about(bound, why)] for bound in rows]
    else:
        columns = ["result", "facts", "kind", "reason"]
        cells = [[bound.id, bound.associations, bound.kind, bound.reason] for bound in rows]
    print_table(title, columns, cells, whole=why)


def _about(bound: Bound, why: bool) -> str:
    """The architecture that a result is about, and the model of it that was evaluated."""
    if not why:
        return bound.about
    return bound.reason if bound.reason.startswith(bound.about) else f"{bound.about}: {bound.reason}"
