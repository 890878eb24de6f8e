"""`rote capacity`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from rote.cli.densest_shape import SearchOptions, Sizes, search_for_densest
from rote.cli.options import On, Seed, bars, read_facts
from rote.cli.output import AsJson, print_json, print_table
from rote.errors import InputError

if TYPE_CHECKING:
    from rote.models.attention_only import AttentionOnly
    from rote.tasks import AssociationTask

SHOWN_BOUNDS = ("dana2025.theorem1", "rote.rank", "rote.readout", "morris2025.bits", "rote.counting")
"""Bounds named above the table."""
METHODS = ("dana2025.theorem1", "rote.readout")
TOLERANCE = 0.02


def capacity(
    *,
    dim: Sizes = None,
    head_dim: Sizes = None,
    heads: int | None = None,
    vocab: Sizes = None,
    context: int = 2,
    facts: str | None = None,
    by: Literal["building", "training"] = "building",
    method: Annotated[tuple[str, ...], Parameter(negative="")] = METHODS,
    tolerance: float = TOLERANCE,
    seed: Seed = 0,
    densest: int | None = None,
    search: SearchOptions | None = None,
    on: On = "here",
    as_json: AsJson = False,
) -> int:
    """Measure the most facts that a model of these sizes stores, all recalled by the saved float32 model.

    Models of more and more facts are built (or trained) until one fails, then the number is bisected; what is printed
    was stored. With `--densest PARAMETERS` the sizes are searched for instead: shapes of at most that many parameters
    are trained on random tables of all contexts, and the one that holds most bits per parameter wins.

    Examples:

    - `rote capacity --vocab 50 --dim 10 --head-dim 10 --heads 20`
    - `rote capacity --densest 600 --dim 4 --dim 6 --rounds 200 --rounds 600`

    Parameters
    ----------
    dim
        Embedding dimension d; with --densest repeat it for every value to try.
    head_dim
        Head dimension k; with --densest repeat it for every value to try.
    heads
        Number of heads H. With --densest every shape has as many as the budget pays for.
    vocab
        Vocabulary size N of the random look-up table to store; with --densest repeat it for every value to try.
        Default with --densest: those whose tables hold 2.4 to 3.6 bits per parameter.
    context
        Context length S of the random table.
    facts
        A table to store instead of a random one: the first facts of a random order of it.
    by
        Store facts by building (weights in closed form) or by training.
    method
        Construction to try; may be repeated.
    tolerance
        Stop when what was stored and what failed are this close, relatively.
    densest
        Search for the densest shape of at most this many parameters.
    """
    if densest is not None:
        own = {
            "--heads": heads is not None, "--facts": facts is not None, "--by": by != "building",
            "--method": method != METHODS, "--tolerance": tolerance != TOLERANCE,
        }  # fmt: skip
        if misplaced := [flag for flag, given in own.items() if given]:
            raise InputError(f"{', '.join(misplaced)}: not with --densest, which trains shapes on random tables")
        return search_for_densest(densest, vocab, dim, head_dim, context, search or SearchOptions(), on, as_json)
    if search is not None:
        raise InputError("--rounds, --keep, --seeds, --count, --output, --figure, --workers and --engine belong to "
                         "--densest PARAMETERS, the search for the densest shape")  # fmt: skip

    from rote.experiments.capacity import capacity as measure_capacity

    task = None if facts is None else _associations(facts)
    spec = _spec(dim, head_dim, heads, vocab, context, task)
    document = measure_capacity(
        spec, by=by, methods=method, task=task, tolerance=tolerance, seed=seed, on=on, progress=bars()
    ).summary()
    if as_json:
        print_json(document)
        return 0
    guaranteed = document["bounds"]
    theory = ", ".join(f"{name} {guaranteed[name]:,}" for name in SHOWN_BOUNDS if guaranteed.get(name) is not None)
    print_table(
        f"{spec.parameters():,} parameters; theory: {theory}",
        ["method", "facts recalled", "not recalled", "bits per parameter", "tries", "seconds"],
        [
            [row["method"], row["recalled"], row["rejected"], row["bits_per_parameter"], row["tries"], row["seconds"]]
            for row in document["capacities"]
        ],
    )
    return 0


def _associations(facts: str) -> AssociationTask:
    from rote.tasks import require_associations

    return require_associations(read_facts(facts, None), "capacity counts associations; give a table without weights")


def _spec(
    dim: Sizes, head_dim: Sizes, heads: int | None, vocab: Sizes, context: int, task: AssociationTask | None
) -> AttentionOnly:
    """The one shape that the sizes describe, or everything that is wrong with them."""
    from rote.models.attention_only import AttentionOnly

    sizes = {"dim": dim, "head_dim": head_dim, "heads": None if heads is None else (heads,), "vocab": vocab}
    if task is not None:
        sizes["vocab"], context = (task.vocab,), task.context
    flags = {name: f"--{name.replace('_', '-')}" for name in sizes}
    if missing := [flags[name] for name, values in sizes.items() if not values]:
        instead = " (or --facts TABLE in place of --vocab)" if "--vocab" in missing else ""
        raise InputError(f"rote capacity: missing {', '.join(missing)}{instead}. See `rote capacity --help`")
    if several := [flags[name] for name, values in sizes.items() if values and len(values) > 1]:
        raise InputError(f"{', '.join(several)}: give one value, or --densest PARAMETERS to search among several")
    return AttentionOnly(context=context, **{name: values[0] for name, values in sizes.items() if values})
