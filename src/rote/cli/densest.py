"""`rote densest`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from rote.cli.options import On, bars
from rote.cli.output import AsJson, complain, print_json, print_table
from rote.cli.trials import failures

if TYPE_CHECKING:
    from rote.experiments.densest import Densest, ShapeResult

SHOWN = 10
"""Shapes of the last round in the table."""

Sizes = Annotated[tuple[int, ...] | None, Parameter(negative="")]


def densest(
    *,
    parameters: int,
    vocab: Sizes = None,
    dim: Sizes = None,
    head_dim: Sizes = None,
    context: int = 2,
    by: Literal["code", "recall"] = "code",
    rounds: Annotated[tuple[int, ...], Parameter(negative="")] = (1000, 3000, 10_000),
    seeds: int = 2,
    keep: float = 0.25,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    figure: Path | None = None,
    workers: int | None = None,
    engine: Literal["auto", "native", "torch"] = "auto",
    on: On = "here",
    as_json: AsJson = False,
) -> int:
    """The shape of an attention-only model that holds most bits per parameter, found by training.

    Shapes that fill the budget memorize random tables of all contexts, in rounds of more and more steps; after each
    round the better quarter goes on, with the best shape whose heads are as wide as the model (k = d) to compare.
    Every trial is kept when it ends: start the same command again after an interruption and it goes on.

    Example: `rote densest --parameters 600 --rounds 200 --rounds 600 --dim 4 --dim 6`

    Parameters
    ----------
    parameters
        Budget; each shape gets as many heads as it pays for.
    vocab
        Vocabularies N to try; may be repeated. Those whose tables hold 2.4 to 3.6 bits per parameter when absent.
    dim
        Dimensions d to try; may be repeated.
    head_dim
        Head dimensions k to try; may be repeated.
    context
        Context length S.
    by
        code: bits by the code that the logits give; recall: only models that recall every context count in the end.
    rounds
        Steps of each round; may be repeated.
    seeds
        Models per shape in the last round; one in the others.
    keep
        Share of the shapes that goes on to the next round.
    output
        Folder of the search; runs/densest-PARAMETERS when absent.
    figure
        Also draw bits per parameter against the head dimension, as this PNG or SVG file.
    workers
        Models trained at once; one per core when absent. Results do not depend on it.
    engine
        Native where it can, else torch.
    """
    from rote.errors import InputError
    from rote.experiments.densest import densest as search_densest
    from rote.report.density_figure import FORMATS, density_figure

    if figure is not None and figure.suffix not in FORMATS:
        raise InputError(f"--figure {figure}: the name must end in {' or '.join(FORMATS)}")
    folder = Path("runs") / f"densest-{parameters}" if output is None else output
    try:
        search = search_densest(
            parameters, vocabs=vocab, dims=dim, head_dims=head_dim, context=context, by=by, rounds=rounds, seeds=seeds,
            keep=keep, folder=folder, workers=workers, engine=engine, on=on, progress=bars(),
        )  # fmt: skip
    except KeyboardInterrupt:
        return complain(f"interrupted; trials that ended are kept in {folder}, the same command goes on", 130)
    figures = [] if figure is None else [str(density_figure(search, figure))]
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
        f"densest of {len(search.rounds[0])} shapes of at most {search.budget:,} parameters, {last[0].steps:,} steps, "
        f"{last[0].seeds} seed{'s' if last[0].seeds > 1 else ''}",
        ["N", "d", "k", "H", "parameters", "recall", "bits/param: code", "answers", "if all", "whole", ""],
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
        print("  no shape recalled every context: give more --rounds, or smaller vocabularies")
    elif square is not None and square != best:
        most, than = best.score(search.by), square.score(search.by)
        ratio = f", {most / than:.2f} times" if than else ""
        print(f"  k = {best.spec.head_dim} holds {most:.3f} bits per parameter, k = d at best {than:.3f}{ratio}")
    for reason in failures(search.failed).values():
        print(f"  failed: {reason}")
    drawn = f", figure {figures[0]}" if figures else ""
    print(f"  {search.trained} models trained now; trials are in {search.folder}{drawn}")


def _remark(shape: ShapeResult, search: Densest) -> str:
    marks = ["densest"] if shape == search.best else []
    if shape == search.square:
        marks.append("best k = d")
    if shape.diverged:
        marks.append(f"{shape.diverged} diverged")
    return ", ".join(marks)
