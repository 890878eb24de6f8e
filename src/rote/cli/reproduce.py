"""`rote reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from rote.cli.options import Figures, On, PartOfTrials, bars
from rote.cli.output import AsJson, complain, print_json, print_pairs, print_table
from rote.cli.trials import failures, show_part
from rote.errors import InputError

if TYPE_CHECKING:
    from rote.experiments.findings import FigureFindings
    from rote.report.reproduction import ReproducedFigure


def reproduce(
    name: str,
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    quick: Annotated[bool, Parameter(name=["--quick", "--laptop"], negative="")] = False,
    repeats: int | None = None,
    protocol: Literal["fast", "paper", "best"] = "fast",
    variant: Literal["per-head", "shared"] | None = None,
    workers: int | None = None,
    texts: str | None = None,
    engine: Literal["auto", "native", "torch"] = "auto",
    on: On = "here",
    part: PartOfTrials = None,
    strict: Annotated[bool, Parameter(negative="")] = False,
    figures: Figures = ("png", "svg"),
    as_json: AsJson = False,
) -> int:
    """Train a published figure's models, compare with what was published, and judge each of its claims.

    Every trial is kept when it ends: start the same command again after an interruption and it goes on.

    Examples: `rote reproduce dana2025.fig1a`, `rote reproduce mahdavi2024 --laptop`

    Parameters
    ----------
    name
        A figure (`dana2025.fig1a`) or a paper (`dana2025`, all its figures); see `rote papers`.
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
    from rote.cli.reproduce_blocks import reproduce_block_figures
    from rote.cli.reproduce_vectors import REFUTED, reproduce_vector_figures
    from rote.papers import BLOCK_FIGURES, PAPER_FIGURES, VECTOR_FIGURES

    if name.partition(".")[0] in BLOCK_FIGURES:
        if part is not None:
            raise InputError(f"`part={part}`: is for figures on tables; {name} has searches, which take `on`")
        return reproduce_block_figures(
            name, output, protocol, quick, repeats, workers, on, texts, strict, figures, as_json
        )
    if texts is not None:
        raise InputError(f"`texts={texts}`: {name} is not about texts; leave it out")
    if name.partition(".")[0] in VECTOR_FIGURES:
        if part is not None:
            raise InputError(f"`part={part}`: is for figures on tables; {name} has searches, which take `on`")
        return reproduce_vector_figures(name, output, protocol, quick, repeats, workers, on, strict, figures, as_json)

    from rote.experiments.figure_plan import planned_runs
    from rote.experiments.reproduce import reproduce_part
    from rote.report.reproduction import reproduce_figure
    from rote.report.run_report import write_run_report

    documents, folders = [], []
    for plan, folder in planned_runs(name, output, protocol=protocol, variant=variant, quick=quick, repeats=repeats):
        try:
            if part is not None:
                ended = reproduce_part(
                    plan, part, folder, workers=workers, engine=engine, on=on, progress=bars()
                )  # fmt: skip
                show_part(folder, part, ended.trained, len(ended.rows), ended.failed, as_json)
                continue
            figure = reproduce_figure(
                plan, folder, workers=workers, engine=engine, on=on, formats=figures, progress=bars()
            )  # fmt: skip
        except KeyboardInterrupt:
            return complain(f"interrupted; trials that ended are kept in {folder}, the same command goes on", 130)
        documents.append(figure.summary())
        folders.append(folder)
        if not as_json:
            _show(figure)
    if part is not None:
        return 0
    report = write_run_report(name, folders, output)
    if as_json:
        for document in documents:
            document["report"] = str(report)
        print_json(documents[0] if name not in PAPER_FIGURES else documents)
    else:
        print(f"Report: {report} (open it in a browser; it needs no network)")
    refuted = [
        claim for document in documents for claim in document["claims"] if claim["sampled"]["verdict"] == REFUTED
    ]
    return 1 if strict and refuted else 0


def _show(figure: ReproducedFigure) -> None:
    run, findings = figure.reproduction, figure.reproduction.findings
    show_cells(findings)
    show_fits(findings)
    show_verdicts(findings)
    note = findings.figure.experiment.note
    print_pairs(
        f"{findings.figure.id}" + (" (QUICK: fewer cells and repeats)" if findings.quick else ""),
        {
            "trials": f"{run.trained} trained now, {run.trials} in all",
            "time": f"{run.seconds:.1f} s now; {run.processor_seconds:.1f} s of processor for all trials",
            "engine": ", ".join(run.engines),
            **failures(run.failed),
            **({"note": note} if note else {}),
            "run": str(run.folder),
            "figure": str(figure.figures[0]),
        },
    )


def show_cells(findings: FigureFindings) -> None:
    """Every cell: both weightings, what was published, the difference."""
    name = findings.figure.y
    print_table(
        f"{findings.figure.id}: {findings.figure.title}, protocol {findings.protocol}"
        + (" (QUICK: fewer cells and repeats)" if findings.quick else ""),
        ["series", findings.figure.x, f"{name}, sampled", "spread", "all pairs", "published", "difference", "diverged"],
        [
            [
                series.name,
                int(point.x) if float(point.x).is_integer() else point.x,
                *(_short(value) for value in (point.mean("sampled"), point.spread("sampled"), point.mean("uniform"))),
                _short(point.published),
                "-" if point.difference is None else f"{point.difference:+.4f}",
                point.diverged or None,
            ]
            for series in findings.series
            for point in series.points
        ],
    )


def show_fits(findings: FigureFindings) -> None:
    """Every fitted law with its parameters and intervals, in the published weighting."""
    print_table(
        "laws (95 % intervals: hull of resampled seeds and of the points' profile likelihood)",
        ["series", "law", "points", "rms", "parameters"],
        [
            [
                series,
                fit.formula,
                f"{fit.points - fit.saturated}" + (f" + {fit.saturated} full" if fit.saturated else ""),
                f"{fit.residual:.4f}",
                ", ".join(f"{name} {value:.3g} ({_ends(fit.hull(name))})" for name, value in fit.values.items()),
            ]
            for series, fits in findings.fits["sampled"].items()
            for fit in fits.values()
        ],
    )


def show_verdicts(findings: FigureFindings) -> None:
    """Each claim, what became of it, and the numbers."""
    print("claims, in the published weighting of pairs (and over all pairs alike)")
    for claim, both in findings.verdicts:
        print(f"  {both['sampled'].outcome.upper():<10} {claim.statement}")
        print(f"  {'':<10} {both['sampled'].why}")
        if both["uniform"].outcome != both["sampled"].outcome:
            print(f"  {'':<10} over all pairs alike: {both['uniform'].outcome}, {both['uniform'].why}")
    print()


def _ends(ends: tuple[float, float]) -> str:
    return f"{ends[0]:.3g} to {ends[1]:.3g}"


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
