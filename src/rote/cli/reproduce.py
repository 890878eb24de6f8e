"""`rote reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from rote.cli.options import bars
from rote.cli.output import AsJson, complain, print_json, print_pairs, print_table

if TYPE_CHECKING:
    from rote.experiments.findings import FigureFindings
    from rote.experiments.reproduce import Reproduction


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
    engine: Literal["auto", "native", "torch"] = "auto",
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
    engine
        Native where it can, else torch.
    """
    from rote.papers import VECTOR_FIGURES

    if name.partition(".")[0] in VECTOR_FIGURES:
        from rote.cli.reproduce_vectors import reproduce_vector_figures

        return reproduce_vector_figures(name, output, protocol, quick, repeats, workers, as_json)
    import time

    from rote.experiments.figure_plan import FigurePlan
    from rote.experiments.reproduce import reproduce as run
    from rote.experiments.reproduce import write_summary
    from rote.papers import PAPER_FIGURES, figures_named
    from rote.report.scaling_figure import scaling_figure

    documents = []
    for figure in figures_named(name):
        plan = FigurePlan.of(figure, protocol=protocol, variant=variant, quick=quick, repeats=repeats)
        folder = plan.default_folder if output is None else output
        if output is not None and name in PAPER_FIGURES:
            folder = output / plan.default_folder.name
        started = time.perf_counter()
        try:
            done = run(plan, folder, workers=workers, engine=engine, progress=bars())
        except KeyboardInterrupt:
            return complain(f"interrupted; trials that ended are kept in {folder}, the same command goes on", 130)
        seconds = time.perf_counter() - started
        drawn = [
            path for kind in ("sampled", "uniform") for path in scaling_figure(done.findings, _figures(done), kind)
        ]
        document = {
            **done.findings.summary(),
            "run": str(done.folder),
            "trained_now": done.trained,
            "processor_seconds": done.processor_seconds,
            "seconds": seconds,
            "engines": done.engines,
            "note": figure.experiment.note,
            "figures": [str(path) for path in drawn],
        }
        write_summary(_figures(done) / f"{figure.id}.json", document)
        documents.append(document)
        if not as_json:
            _show(done, document)
    if as_json:
        print_json(documents[0] if name not in PAPER_FIGURES else documents)
    return 0


def _figures(done: Reproduction) -> Path:
    return done.folder / "figures"


def _show(done: Reproduction, document: dict[str, Any]) -> None:
    found = done.findings
    show_cells(found)
    show_fits(found)
    show_verdicts(found)
    print_pairs(
        f"{found.figure.id}" + (" (QUICK: fewer cells and repeats)" if found.quick else ""),
        {
            "trials": f"{done.trained} trained now, {document['repeats'] * _cells(found)} in all",
            "time": f"{document['seconds']:.1f} s now; {done.processor_seconds:.1f} s of processor for all trials",
            "engine": ", ".join(done.engines),
            **({"note": document["note"]} if document["note"] else {}),
            "run": str(done.folder),
            "figure": document["figures"][0],
        },
    )


def _cells(found: FigureFindings) -> int:
    return sum(len(one.places) for one in found.source or found.series)


def show_cells(found: FigureFindings) -> None:
    """Every cell: both weightings, what was published, the difference."""
    name = found.figure.y
    print_table(
        f"{found.figure.id}: {found.figure.title}, protocol {found.protocol}"
        + (" (QUICK: fewer cells and repeats)" if found.quick else ""),
        ["series", found.figure.x, f"{name}, sampled", "spread", "all pairs", "published", "difference", "diverged"],
        [
            [
                one.name,
                int(place.x) if float(place.x).is_integer() else place.x,
                *(_short(value) for value in (place.mean("sampled"), place.spread("sampled"), place.mean("uniform"))),
                _short(place.published),
                "-" if place.difference is None else f"{place.difference:+.4f}",
                place.diverged or None,
            ]
            for one in found.series
            for place in one.places
        ],
    )


def show_fits(found: FigureFindings) -> None:
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
            for series, fits in found.fits["sampled"].items()
            for fit in fits.values()
        ],
    )


def show_verdicts(found: FigureFindings) -> None:
    """Each claim, what became of it, and the numbers."""
    print("claims, in the published weighting of pairs (and over all pairs alike)")
    for claim, both in found.verdicts:
        print(f"  {both['sampled'].outcome.upper():<10} {claim.statement}")
        print(f"  {'':<10} {both['sampled'].why}")
        if both["uniform"].outcome != both["sampled"].outcome:
            print(f"  {'':<10} over all pairs alike: {both['uniform'].outcome}, {both['uniform'].why}")
    print()


def _ends(ends: tuple[float, float]) -> str:
    return f"{ends[0]:.3g} to {ends[1]:.3g}"


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
