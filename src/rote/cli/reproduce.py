"""`rote reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from rote.cli.options import Figures, On, PartOfTrials, bars
from rote.cli.output import AsJson, print_json
from rote.cli.trials import show_part
from rote.errors import InputError


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
    """Train a published figure's models, or build what a statement is about, and judge each claim.

    Every trial is kept when it ends: start the same command again after an interruption and it goes on.

    Examples: `rote reproduce dana2025.fig1a`, `rote reproduce dana2025.theorem2-checked`

    Parameters
    ----------
    name
        A figure (`dana2025.fig1a`), a checked statement (`dana2025.theorem2-checked`), all of a paper's
        (`dana2025.statements`), or a paper (`dana2025`); see `rote list papers`.
    output
        Folder of the run; runs/FIGURE-PROTOCOL when absent. With a paper, a folder that holds its runs.
    quick
        Fewer cells and repeats, minutes on a laptop; results say so.
    repeats
        Models per cell, seeds 0, 1, ...; the paper's number when absent.
    protocol
        fast: the fewest steps that match the released accuracies; paper: the released schedule; best: as much as can
        be memorized.
    variant
        Heads of the paper's equation (per-head) or of the released code (shared) where d and k differ; both if absent.
    positions
        Of dana2025, where positions enter: attention (each layer reads one table of them beside the stream, as the
        released code of Figures 8 to 10), every-layer (each layer adds its own to the stream) or stream (added once, as
        in the paper's equation); as the figure has them if absent.
    workers
        Models trained at once; one per core when absent. Results do not depend on it.
    texts
        Of kajitsuka2025: wordnet (noun definitions, needs no network; when absent), multinli or imdb from the hub, or a
        file (.jsonl, .csv, .tsv, .parquet) with a text and a label in each row.
    engine
        Native where it can, else torch.
    strict
        Exit 1 when a claim does not hold, in the published weighting of pairs.
    figures
        Formats of the figures.
    """
    from rote.cli.reproduced import show
    from rote.experiments.lookups.plan import FigurePlan
    from rote.experiments.lookups.reproduce import reproduce_part
    from rote.experiments.planned import RunChoices, planned_runs
    from rote.papers import names_several
    from rote.report.reproduction import reproduce_figure
    from rote.report.run_report import write_run_report

    reproduced = []
    choices = RunChoices(protocol, quick, repeats, variant, texts, positions)
    planned = planned_runs(name, output, choices)
    if part is not None and not any(isinstance(plan, FigurePlan) for plan, _ in planned):
        raise InputError(f"`part={part}`: is for figures on tables; others take `on`")
    for plan, folder in planned:
        if part is not None:
            if not isinstance(plan, FigurePlan):
                continue  # a paper's other figures run with the whole, without `part`
            ended = reproduce_part(
                plan, part, folder, workers=workers, engine=engine, on=on, progress=bars()
            )  # fmt: skip
            show_part(folder, part, ended.trained, len(ended.rows), ended.failed, as_json)
            continue
        figure = reproduce_figure(
            plan, folder, workers=workers, engine=engine, on=on, formats=figures, progress=bars()
        )  # fmt: skip
        reproduced.append(figure)
        if not as_json:
            show(figure)
    if part is not None:
        return 0
    report = write_run_report(name, [figure.reproduction.folder for figure in reproduced], output)
    if as_json:
        documents = [{**figure.summary(), "report": str(report)} for figure in reproduced]
        print_json(documents if names_several(name) else documents[0])
    else:
        print(f"Report: {report} (open it in a browser; it needs no network)")
    return 1 if strict and any(figure.reproduction.refuted for figure in reproduced) else 0
