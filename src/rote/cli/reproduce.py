"""`rote reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from rote.cli.options import Figures, On, PartOfTrials, bars
from rote.cli.output import AsJson, print_json
from rote.cli.trials import show_part


def reproduce(
    name: str,
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    quick: Annotated[bool, Parameter(name=["--quick", "--laptop"], negative="")] = False,
    repeats: int | None = None,
    protocol: Literal["fast", "paper", "best"] = "fast",
    variant: Literal["per-head", "shared"] | None = None,
    positions: Literal["stream", "every-layer", "attention"] | None = None,
    workers: int | None = None,
    texts: str | None = None,
    engine: Literal["auto", "native", "torch"] = "auto",
    on: On = "here",
    part: PartOfTrials = None,
    strict: Annotated[bool, Parameter(negative="")] = False,
    figures: Figures = ("png", "svg"),
    as_json: AsJson = False,
) -> int:
    """Reproduce a published figure or check a statement, and judge each of its claims.

    Every finished trial is kept: after an interruption the same command resumes.

    Examples:

    - `rote reproduce dana2025.fig1a`
    - `rote reproduce dana2025.theorem2-checked`

    Parameters
    ----------
    name
        A figure (`dana2025.fig1a`), a checked statement (`dana2025.theorem2-checked`), all of a paper's
        (`dana2025.statements`), or a paper (`dana2025`); see `rote list papers`.
    output
        Folder of the run. Default: runs/FIGURE-PROTOCOL. With a paper, a folder that holds its runs.
    quick
        Fewer cells and repeats, minutes on a laptop; results say so.
    repeats
        Models per cell, seeds 0, 1, ... Default: the paper's number.
    protocol
        fast: the fewest steps that match the released accuracies; paper: the released schedule; best: as much as can
        be memorized.
    variant
        Heads of the paper's equation (per-head) or of the released code (shared) where d and k differ. Default: both.
    positions
        Of dana2025, where positions enter: attention (each layer reads one table of them beside the stream, as the
        released code of Figures 8 to 10), every-layer (each layer adds its own to the stream) or stream (added once, as
        in the paper's equation). Default: as the figure has them.
    workers
        Models trained at once. Default: one per core. Results do not depend on it.
    texts
        Of kajitsuka2025: wordnet (noun definitions, needs no network; the default), multinli or imdb from the hub, or a
        file (.jsonl, .csv, .tsv, .parquet) with a text and a label in each row.
    engine
        Training engine. auto: native where possible, else torch.
    strict
        Exit 1 if a claim is not supported, in the published weighting of pairs.
    figures
        Formats of the figures.
    """
    from rote.cli.reproduced import show
    from rote.report.reproduction import ReproducedFigure, ReproducedPart
    from rote.report.reproduction import reproduce as reproduce_figures

    def ended(result: ReproducedFigure | ReproducedPart) -> None:
        if as_json:
            return
        if isinstance(result, ReproducedPart):
            show_part(result.folder, result.part, result.trained, result.trials, result.failed, as_json)
        else:
            show(result)

    reproduced = reproduce_figures(
        name, output, quick=quick, repeats=repeats, protocol=protocol, variant=variant, texts=texts,
        positions=positions, workers=workers, engine=engine, on=on, part=part, formats=figures, ended=ended,
        progress=bars(),
    )  # fmt: skip
    if as_json:
        print_json(reproduced.summary())
    elif reproduced.report is not None:
        print(f"Report: {reproduced.report} (open it in a browser; it needs no network)")
    return 1 if strict and reproduced.refuted else 0
