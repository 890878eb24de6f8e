"""`rote capacity`."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from rote.cli.options import On, Seed, bars, read_facts
from rote.cli.output import AsJson, print_json, print_table

SHOWN_BOUNDS = ("dana2025.theorem1", "rote.rank", "rote.readout", "morris2025.bits", "rote.counting")
"""Bounds named above the table."""


def capacity(
    *,
    dim: int,
    head_dim: int,
    heads: int,
    vocab: int | None = None,
    context: int = 2,
    facts: str | None = None,
    by: Literal["building", "training"] = "building",
    method: Annotated[tuple[str, ...], Parameter(negative="")] = ("dana2025.theorem1", "rote.readout"),
    tolerance: float = 0.02,
    seed: Seed = 0,
    on: On = "here",
    as_json: AsJson = False,
) -> None:
    """The most facts that a model of these sizes stores, all recalled by the saved float32 model.

    Models of more and more facts are built (or trained) until one fails, then bisected; what is printed was stored.
    Tries follow one another: on a cluster (`--on`) only the seeds of a try by training run at once.

    Example: `rote capacity --vocab 50 --dim 10 --head-dim 10 --heads 20`

    Parameters
    ----------
    dim
        Embedding dimension d.
    head_dim
        Head dimension k.
    heads
        Number of heads H.
    vocab
        Vocabulary of the random look-up table to store.
    context
        Its context length.
    facts
        A table to store instead of a random one: the first facts of a random order of it.
    by
        Weights in closed form, or found by training.
    method
        Constructions to try; may be repeated.
    tolerance
        Stop when what was stored and what failed are this close, relatively.
    """
    from rote.errors import InputError
    from rote.experiments.capacities.capacity import capacity as measure_capacity
    from rote.models.attention_only import AttentionOnly
    from rote.tasks import require_associations

    task = None
    if facts is not None:
        why = "capacity counts associations; give a table without weights"
        task = require_associations(read_facts(facts, None), why)
        vocab, context = task.vocab, task.context
    if vocab is None:
        raise InputError("--vocab is missing: how many tokens has the random table to be stored? Or give --facts")
    spec = AttentionOnly(vocab=vocab, context=context, dim=dim, head_dim=head_dim, heads=heads)
    capacities = measure_capacity(
        spec, by=by, methods=method, task=task, tolerance=tolerance, seed=seed, on=on, progress=bars()
    )
    document = capacities.summary()
    if as_json:
        print_json(document)
        return
    promised = document["bounds"]
    theory = ", ".join(f"{name} {promised[name]:,}" for name in SHOWN_BOUNDS if promised.get(name) is not None)
    print_table(
        f"{spec.parameters():,} parameters; theory: {theory}",
        ["method", "facts recalled", "not recalled", "bits per parameter", "tries", "seconds"],
        [
            [row["method"], row["recalled"], row["refused"], row["bits_per_parameter"], row["tries"], row["seconds"]]
            for row in document["capacities"]
        ],
    )
