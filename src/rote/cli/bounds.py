"""`rote bounds`."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from rote.cli.output import AsJson, print_json, print_table


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
    why: Annotated[bool, Parameter(negative="")] = False,
    as_json: AsJson = False,
) -> None:
    """What theory promises a Transformer of these sizes: every published bound, its conditions checked.

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
        Heads of the paper's equation, or of its released code.
    query_key_rank
        Rank of each head's query-key matrix; head_dim when absent.
    why
        Print every reason whole.
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
    applying = [bound for bound in every if bound.applies]
    title = f"attention-only Transformer, {spec.parameters():,} parameters, {vocab:,}^{context} possible contexts"
    print_table(
        title,
        ["bound", "associations", "kind", "parameters", "why"],
        [[bound.id, bound.associations, bound.kind, bound.parameters, bound.reason] for bound in applying],
        whole=why,
    )
    if len(applying) < len(every):
        print_table(
            "does not apply",
            ["bound", "why not"],
            [[bound.id, bound.reason] for bound in every if not bound.applies],
            whole=why,
        )
