"""`rote densest`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from rote.cli.options import bars
from rote.cli.output import AsJson, complain, print_json, print_table

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
    from rote.experiments.densest import densest as search
    from rote.report.density_figure import FORMATS, density_figure

    if figure is not None and figure.suffix not in FORMATS:
        raise InputError(f"--figure {figure}: the name must end in {' or '.join(FORMATS)}")
    folder = Path("runs") / f"densest-{parameters}" if output is None else output
    try:
        found = search(
            parameters, vocabs=vocab, dims=dim, head_dims=head_dim, context=context, by=by, rounds=rounds, seeds=seeds,
            keep=keep, folder=folder, workers=workers, engine=engine, progress=bars(),
        )  # fmt: skip
    except KeyboardInterrupt:
        return complain(f"interrupted; trials that ended are kept in {folder}, the same command goes on", 130)
    drawn = None if figure is None else str(density_figure(found, figure))
    if as_json:
        print_json(_document(found, parameters, folder, drawn))
    else:
        _show(found, parameters, folder, drawn)
    return 0


def _document(found: Densest, parameters: int, folder: Path, drawn: str | None) -> dict[str, Any]:
    return {
        "run": str(folder),
        "budget": parameters,
        "by": found.by,
        "best": None if found.best is None else found.best.summary(),
        "square": None if found.square is None else found.square.summary(),
        "rounds": [[held.summary() for held in one] for one in found.rounds],
        "trained_now": found.trained,
        "figure": drawn,
    }


def _show(found: Densest, parameters: int, folder: Path, drawn: str | None) -> None:
    last = found.rounds[-1]
    shown = list(last[:SHOWN])
    shown += [held for held in (found.best, found.square) if held is not None and held not in shown]
    tried = len(found.rounds[0])
    print_table(
        f"densest of {tried} shapes of at most {parameters:,} parameters, {last[0].steps:,} steps, "
        f"{last[0].seeds} seed{'s' if last[0].seeds > 1 else ''}",
        ["N", "d", "k", "H", "parameters", "recall", "bits/param: code", "answers", "if all", "whole", ""],
        [
            [
                held.spec.vocab, held.spec.dim, held.spec.head_dim, held.spec.heads, held.spec.parameters(),
                f"{held.accuracy:.4f}", f"{held.code:.3f}", f"{held.answers:.3f}", f"{held.full:.3f}",
                f"{held.complete} of {held.seeds}", _remark(held, found),
            ]
            for held in shown
        ],
    )  # fmt: skip
    if found.best is None:
        print("  no shape recalled every context: give more --rounds, or smaller vocabularies")
    elif found.square is not None and found.square != found.best:
        held, than = _counted(found.best, found), _counted(found.square, found)
        ratio = f", {held / than:.2f} times" if than else ""
        print(f"  k = {found.best.spec.head_dim} holds {held:.3f} bits per parameter, k = d at best {than:.3f}{ratio}")
    print(f"  {found.trained} models trained now; trials are in {folder}" + (f", figure {drawn}" if drawn else ""))


def _counted(held: ShapeResult, found: Densest) -> float:
    return held.score(found.by)


def _remark(held: ShapeResult, found: Densest) -> str:
    marks = ["densest"] if held == found.best else []
    if held == found.square:
        marks.append("best k = d")
    if held.diverged:
        marks.append(f"{held.diverged} diverged")
    return ", ".join(marks)
