"""`rote bounds`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from rote.cli.output import AsJson, print_json, print_pairs, print_table
from rote.display import number

if TYPE_CHECKING:
    from rote.theory import Bound


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
        Also print the results that reach all possible contexts.
    why
        Print every reason in full.
    """
    from rote.models.attention_only import AttentionOnly
    from rote.theory import bounds as every_bound
    from rote.theory import counted

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
    print_pairs(
        f"attention-only Transformer, {spec.parameters():,} parameters, {vocab:,}^{context} contexts",
        {
            "guaranteed": _facts(every.guaranteed, "nothing"),
            "impossible": f"more than {_facts(every.impossible, 'nothing that is known')}",
            **{
                f"why {bound.section}": bound.reason
                for bound in (every.guaranteed, every.impossible)
                if bound is not None
            },
            "evaluated": counted(),
        },
    )
    shown = [bound for bound in every if bound.applies] if everything else every.listed
    for title, sections in TABLES.items():
        rows = [bound for bound in shown if bound.section in sections]
        if rows:
            _show(title, rows, why)
    if every.folded and not everything:
        contexts, ids = number(every.folded[0].associations), ", ".join(bound.id for bound in every.folded)
        title = f"{len(every.folded)} results reach all {contexts} contexts, for other architectures or up to constants"
        print_pairs(title, {"--all shows": ids})
    rejected = [[bound.id, bound.reason] for bound in every if not bound.applies]
    if rejected:
        print_table("results whose conditions do not hold", ["result", "reason"], rejected, whole=why)


TABLES: dict[str, tuple[str, ...]] = {
    "bounds on this model": ("guaranteed", "impossible"),
    "other architectures, of matched size": ("other architectures",),
    "orders of growth and estimates": ("orders and estimates",),
}


def _show(title: str, rows: list[Bound], why: bool) -> None:
    if any(bound.matched for bound in rows):
        columns = ["result", "facts", "says", "parameters", "architecture"]
        cells = [[bound.id, bound.associations, bound.says, bound.parameters, _about(bound, why)] for bound in rows]
    else:
        columns = ["result", "facts", "says", "reason"]
        cells = [[bound.id, bound.associations, bound.says, bound.reason] for bound in rows]
    print_table(title, columns, cells, whole=why)


def _about(bound: Bound, why: bool) -> str:
    """The architecture that a result is about, and the model of it that was evaluated."""
    about = bound.about if bound.matched else "this model"
    if not why:
        return about
    return bound.reason if bound.reason.startswith(about) else f"{about}: {bound.reason}"


def _facts(bound: Bound | None, otherwise: str) -> str:
    return otherwise if bound is None else f"{number(bound.associations)} facts ({bound.id})"
