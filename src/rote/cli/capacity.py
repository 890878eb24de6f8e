"""`rote capacity`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Group, Parameter

from rote.cli.options import On, ReportTo, Seed, read_facts, reported
from rote.cli.output import AsJson, failures, print_json, print_table
from rote.errors import InputError
from rote.models.grid import GridName

if TYPE_CHECKING:
    from rote.experiments.densest import Densest, ShapeResult
    from rote.models.attention_only import AttentionOnly
    from rote.tasks import AssociationTask

SHOWN = 10
"""Shapes of the last round in the table."""

SEARCH = Group("Searching for the densest shape (--densest)", sort_key=92)
Sizes = Annotated[tuple[int, ...] | None, Parameter(negative="")]


@Parameter(name="*", group=SEARCH)
@dataclass(frozen=True)
class SearchOptions:
    """How the densest shape is searched for."""

    count: Literal["code", "recall"] = "code"
    "What counts: bits by the cross-entropy (codelength) of the answers, or only models with full recall."
    rounds: Annotated[tuple[int, ...], Parameter(negative="")] = (1000, 3000, 10_000)
    "Training steps of each round; may be repeated."
    keep: float = 0.25
    "Share of the shapes that the next round trains (successive halving)."
    seeds: int = 2
    "Models per shape in the last round; one in the others."
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None
    "Folder of the search. Default: runs/densest-PARAMETERS."
    figure: Path | None = None
    "Also draw bits per parameter against the head dimension, as this PNG or SVG file."
    workers: int | None = None
    "Models trained at once; results do not depend on it. Default: one per core."
    engine: Literal["auto", "native", "torch"] = "auto"
    "Training engine. auto: native where it can, else torch."


def search_for_densest(
    parameters: int,
    vocab: Sizes,
    dim: Sizes,
    head_dim: Sizes,
    context: int,
    options: SearchOptions,
    on: str,
    report_to: ReportTo,
    as_json: bool,
) -> int:
    """Search, print what was found, and return the exit code."""
    from rote.charts.drawing import SUFFIXES, write_chart
    from rote.errors import InputError
    from rote.experiments.densest import densest_shape

    figure = options.figure
    if figure is not None and figure.suffix not in SUFFIXES:
        raise InputError(f"--figure {figure}: the name must end in {' or '.join(SUFFIXES)}")
    folder = options.output or Path("runs") / f"densest-{parameters}"
    with reported(report_to, f"rote capacity --densest {parameters}", count=options.count) as progress:
        search = densest_shape(
            parameters, vocabs=vocab, dims=dim, head_dims=head_dim, context=context, by=options.count,
            rounds=options.rounds, seeds=options.seeds, keep=options.keep, folder=folder, workers=options.workers,
            engine=options.engine, on=on, progress=progress,
        )  # fmt: skip
    figures = [] if figure is None else [str(write_chart(search.chart(), figure))]
    if as_json:
        print_json({**search.summary(), "figures": figures})
    else:
        _show(search, figures)
    return 0


def _show(search: Densest, figures: list[str]) -> None:
    last, best, square = search.rounds[-1], search.best, search.square
    shown = list(last[:SHOWN])
    shown += [shape for shape in (best, square) if shape is not None and shape not in shown]
    print_table(
        f"the densest of {len(search.rounds[0])} shapes of at most {search.budget:,} parameters, "
        f"{last[0].steps:,} steps, "
        f"{last[0].seeds} seed{'s' if last[0].seeds > 1 else ''}",
        ["N", "d", "k", "H", "parameters", "accuracy", "bits/param: code", "Fano", "if full", "full recall", ""],
        [
            [
                shape.spec.vocab, shape.spec.dim, shape.spec.head_dim, shape.spec.heads, shape.spec.parameters(),
                f"{shape.recall:.4f}", f"{shape.code:.3f}", f"{shape.answers:.3f}", f"{shape.full:.3f}",
                f"{shape.complete} of {shape.seeds}", _remark(shape, search),
            ]
            for shape in shown
        ],
    )  # fmt: skip
    if best is None:
        print("  no shape had full recall: give longer --rounds, or a smaller --vocab")
    elif square is not None and square != best:
        most, than = best.score(search.by), square.score(search.by)
        ratio = f", {most / than:.2f} times" if than else ""
        print(f"  k = {best.spec.head_dim} holds {most:.3f} bits per parameter, k = d at best {than:.3f}{ratio}")
    for reason in failures(search.failed).values():
        print(f"  failed: {reason}")
    drawn = f", figure {figures[0]}" if figures else ""
    print(f"  {search.trained} models trained now; run {search.folder}{drawn}")


def _remark(shape: ShapeResult, search: Densest) -> str:
    marks = ["densest"] if shape == search.best else []
    if shape == search.square:
        marks.append("best k = d")
    if shape.diverged:
        marks.append(f"{shape.diverged} diverged")
    return ", ".join(marks)


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
    dtype: GridName | None = None,
    tolerance: float = TOLERANCE,
    seed: Seed = 0,
    densest: int | None = None,
    search: SearchOptions | None = None,
    on: On = "here",
    report_to: ReportTo = None,
    as_json: AsJson = False,
) -> int:
    """Measure the most facts that a model of these sizes stores, all recalled in the precision that is saved.

    Models of more and more facts are built (or trained) until one fails, then the number is bisected; what is printed
    was stored. With `--densest PARAMETERS` the sizes are searched for instead: shapes of at most that many parameters
    are trained on random tables of all contexts, and the one that holds most bits per parameter wins.

    Examples:

    - `rote capacity --vocab 50 --dim 10 --head-dim 10 --heads 20`
    - `rote capacity --vocab 50 --dim 10 --head-dim 2 --heads 60 --method dana2025.theorem1 --dtype int8`
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
        Construction to try; may be repeated. With --dtype, dana2025.theorem1 alone is tried by default.
    dtype
        Precision of the stored weights: int8, int6, int4, levels12, int3 or ternary. Default: float32.
    tolerance
        Stop when what was stored and what failed are this close, relatively.
    densest
        Search for the densest shape of at most this many parameters.
    """
    if densest is not None:
        own = {
            "--heads": heads is not None, "--facts": facts is not None, "--by": by != "building",
            "--method": method != METHODS, "--tolerance": tolerance != TOLERANCE, "--dtype": dtype is not None,
        }  # fmt: skip
        if misplaced := [flag for flag, given in own.items() if given]:
            raise InputError(f"{', '.join(misplaced)}: not with --densest, which trains shapes on random tables")
        chosen = search or SearchOptions()
        return search_for_densest(densest, vocab, dim, head_dim, context, chosen, on, report_to, as_json)
    if search is not None:
        raise InputError("--rounds, --keep, --seeds, --count, --output, --figure, --workers and --engine belong to "
                         "--densest PARAMETERS, the search for the densest shape")  # fmt: skip

    from rote.experiments.capacity import capacity as measure_capacity

    task = None if facts is None else _associations(facts)
    spec = _spec(dim, head_dim, heads, vocab, context, task)
    grid = {} if dtype is None else {"dtype": dtype}
    with reported(report_to, "rote capacity", spec=spec.to_config(), by=by, facts=facts) as progress:
        document = measure_capacity(
            spec, by=by, methods=method, task=task, tolerance=tolerance, seed=seed, on=on, progress=progress, **grid
        ).summary()
    if as_json:
        print_json(document)
        return 0
    guaranteed = document["bounds"]
    theory = ", ".join(f"{name} {guaranteed[name]:,}" for name in SHOWN_BOUNDS if guaranteed.get(name) is not None)
    print_table(
        f"{spec.parameters():,} parameters; theory: {theory}",
        [
            "method",
            "facts recalled",
            "not recalled",
            "bits per parameter",
            "fact bits per weight bit",
            "tries",
            "seconds",
        ],
        [
            [
                row["method"],
                row["recalled"],
                row["rejected"],
                row["bits_per_parameter"],
                row["bits_per_weight_bit"],
                row["tries"],
                row["seconds"],
            ]
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
