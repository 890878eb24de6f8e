"""`rote capacity --densest`: the search for the shape that holds most bits per parameter."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Group, Parameter

from rote.cli.options import bars
from rote.cli.output import print_json, print_table
from rote.cli.trials import failures

if TYPE_CHECKING:
    from rote.experiments.densest import Densest, ShapeResult

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
    as_json: bool,
) -> int:
    """Search, print what was found, and return the exit code."""
    from rote.charts.drawing import write_chart
    from rote.errors import InputError
    from rote.experiments.densest import densest_shape
    from rote.report.measured_charts import FORMATS, density_chart

    figure = options.figure
    if figure is not None and figure.suffix not in FORMATS:
        raise InputError(f"--figure {figure}: the name must end in {' or '.join(FORMATS)}")
    folder = options.output or Path("runs") / f"densest-{parameters}"
    search = densest_shape(
        parameters, vocabs=vocab, dims=dim, head_dims=head_dim, context=context, by=options.count,
        rounds=options.rounds, seeds=options.seeds, keep=options.keep, folder=folder, workers=options.workers,
        engine=options.engine, on=on, progress=bars(),
    )  # fmt: skip
    figures = [] if figure is None else [str(write_chart(density_chart(search), figure))]
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
