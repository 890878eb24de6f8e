"""`rote runs`: list, show, fit, export, diff, merge."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from rote.cli.options import bars
from rote.cli.output import AsJson, print_json, print_pairs, print_table

if TYPE_CHECKING:
    from rote.experiments.runs.laws import SizeExponent
    from rote.experiments.size_laws import SizeSweep
    from rote.measure.laws import LawFit


def fit(
    run: Path,
    /,
    *,
    weighting: Literal["uniform", "sampled"] = "uniform",
    as_json: AsJson = False,
) -> None:
    """Fit how capacity grows with heads, head dimension and dimension: exponents with intervals.

    Capacity is the number of associations implied by the measured accuracy, corrected for guessing. Every series of the
    run in which one size varies is fitted with a line, a quadratic, a power law and a saturating form.

    Example: `rote runs fit runs/dana2025.fig1a-fast`

    Parameters
    ----------
    run
        Folder of a run of `rote reproduce` or `rote sweep`.
    weighting
        uniform: accuracy over all contexts; sampled: weighted as contexts were sampled, as published.
    """
    from rote.experiments.runs.laws import fit_run

    laws = fit_run(run, weighting, progress=bars())
    if as_json:
        print_json(laws.summary())
        return
    several = len({size.architecture for size in laws.sizes}) > 1
    print_table(
        f"{run}: capacity in associations against each size ({weighting} weighting, {laws.trials} trials)",
        ["size", "fixed", "points", "exponent", "95 % interval", "forms, best first (AICc)"],
        [
            [
                law.sweep.size,
                _fixed(law.sweep, several),
                f"{law.fits[0].points - law.fits[0].saturated}"
                + (f" + {law.fits[0].saturated} saturated" if law.fits[0].saturated else ""),
                *_power(law.power),
                ", ".join(f"{fit.law} {fit.aicc:.1f}" for fit in law.fits if math.isfinite(fit.aicc))
                or "too few points",
            ]
            for law in laws.laws
        ],
    )
    determined = {law.sweep.size for law in laws.laws if _power(law.power)[0] != "-"}
    sizes = [size for size in laws.sizes if size.size in determined]
    if sizes:
        print_pairs(
            "capacity grows as size^exponent",
            {f"{size.size}, {size.architecture}" if several else size.size: _exponent(size) for size in sizes},
        )


def _power(fit: LawFit | None) -> tuple[str, str]:
    """The exponent of a power law and its interval, where the points determine one."""
    if fit is None:
        return "-", "-"
    low, high = fit.hull("exponent")
    if not (math.isfinite(low) and math.isfinite(high)):
        return "-", "not determined"
    return f"{fit.values['exponent']:.2f}", f"{low:.2f} to {high:.2f}"


def _exponent(size: SizeExponent) -> str:
    median = f"exponent {size.median_exponent:.2f}"
    if size.sweeps == 1:
        return f"{median} in one sweep"
    return f"{median} in the median of {size.sweeps} sweeps ({size.least:.2f} to {size.most:.2f})"


def _fixed(sweep: SizeSweep, several: bool) -> str:
    """What the models of a sweep have in common, in symbols; the architecture where the run has several."""
    fixed, size = sweep.fixed, sweep.size
    symbols = {"vocab": "N", "dim": "d", "head_dim": "k", "heads": "H", "width": "w"}
    parts = [f"{symbol} {fixed[name]}" for name, symbol in symbols.items() if name in fixed]
    if size == "heads" and fixed.get("dim") == fixed.get("head_dim"):
        parts = [part for part in parts if not part.startswith("k ")]
        parts = [part.replace("d ", "d = k = ") if part.startswith("d ") else part for part in parts]
    if fixed.get("layers", 1) > 1:
        parts.append(f"{fixed['layers']} layers")
    if fixed.get("dim") != fixed.get("head_dim") and "variant" in fixed and size != "dim = head_dim":
        parts.append(fixed["variant"])
    return ", ".join([*([sweep.architecture] if several else []), *parts])


SHOWN = 20
"""Rows of a table that are shown."""

runs = App(
    name="runs",
    help="List, show, fit, export, compare and merge runs.",
    help_epilogue="",
)


@runs.command(name="list", sort_key=0)
def list_(folder: Path = Path("runs"), /, *, as_json: AsJson = False) -> int:
    """List every run below a folder, with its trials: finished, planned and failed.

    Example: `rote runs list runs`

    Parameters
    ----------
    folder
        Folder to search.
    """
    from rote.experiments.runs.listing import list_runs

    listed = list_runs(folder)
    if as_json:
        print_json([run.summary() for run in listed])
        return 0
    if not listed:
        print(f"no runs below {folder}")
        return 0
    print_table(
        f"runs below {folder}",
        ["name", "trials", "failed", "CPU s", "folder"],
        [
            [
                run.name,
                f"{run.overview.trials:,}" + (f" of {run.planned:,}" if run.planned else ""),
                run.overview.failed,
                round(run.overview.seconds),
                str(run.folder.relative_to(folder)),
            ]
            if run.overview is not None
            else ["-", None, None, None, run.problem]
            for run in listed
        ],
    )
    return 0


@runs.command(sort_key=1)
def show(
    run: Path,
    /,
    *,
    where: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    most: int = SHOWN,
    as_json: AsJson = False,
) -> int:
    """Show a run: the mean score of every cell (combination of sizes), and every failure with its reason.

    Example: `rote runs show runs/sweep --where heads=5`

    Parameters
    ----------
    run
        Folder of the run.
    where
        Only cells with this value of a field (heads=5, protocol.name=fast); may be repeated.
    most
        Number of cells to show.
    """
    from rote.errors import InputError
    from rote.experiments.runs.listing import show_run

    wrong = [pair for pair in where if not all(pair.partition("=")[::2])]
    if wrong:
        raise InputError(f"--where {wrong[0]}: expected name=value, such as heads=5")
    content = show_run(run, dict(pair.split("=", 1) for pair in where), most)
    if as_json:
        print_json(content.summary())
        return 0
    overview = content.overview
    print_pairs(
        str(run),
        {
            **overview.identity,
            "trials": f"{overview.trials:,} finished, {overview.failed:,} failed",
            **({"planned": overview.about["trials"]} if "trials" in overview.about else {}),
            "CPU time": f"{overview.seconds:,.1f} s",
            "last finished": overview.last_ended or "-",
        },
    )
    if content.cells:
        names = list(content.cells[0].sizes)
        rest = content.matching - len(content.cells)
        print_table(
            f"{content.matching:,} cells" + (f", the first {len(content.cells)}" if rest else ""),
            [*names, "trials", f"mean {content.score or 'score'}"],
            [[*cell.sizes.values(), cell.trials, cell.score] for cell in content.cells],
        )
    if content.failed:
        print_table(
            "failed trials; the command of the run retries them",
            ["seed", "reason"],
            [[failure.key.seed, failure.reason] for failure in content.failed[:most]],
        )
    return 0


runs.command(fit, sort_key=2)


@runs.command(sort_key=3)
def export(
    run: Path,
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    times: bool = True,
    as_json: AsJson = False,
) -> int:
    """Write the trials of a run as one table, CSV or Parquet: one row per trial, one column per value.

    Example: `rote runs export runs/sweep -o trials.parquet`

    Parameters
    ----------
    run
        Folder of the run.
    output
        File to write, .csv or .parquet.
    times
        Include how long each trial took and when it finished. Without times, the same trials give the same bytes.
    """
    from rote.experiments.runs.export import export_run

    path, trials = export_run(run, output, times)
    if as_json:
        print_json({"run": str(run), "file": str(path), "trials": trials})
    else:
        print(f"{trials:,} trials written to {path}")
    return 0


@runs.command(sort_key=4)
def diff(first: Path, second: Path, /, *, as_json: AsJson = False) -> int:
    """Compare two runs: the same trials with the same results, times aside. Exits 1 if they differ.

    Example: `rote runs diff here/sweep there/sweep`

    Parameters
    ----------
    first
        Folder of a run.
    second
        Folder of another run.
    """
    from rote.experiments.runs.merge import diff_runs

    found = diff_runs(first, second)
    if as_json:
        print_json(found.summary())
        return 0 if found.equal else 1
    print_pairs(
        "the runs agree" if found.equal else "the runs differ",
        {
            **({"plans": found.identity} if found.identity else {}),
            "equal trials": found.same,
            f"only in {first}": len(found.only_first),
            f"only in {second}": len(found.only_second),
            "different": len(found.different),
        },
    )
    if found.different:
        print_table(
            "trials that differ",
            ["seed", "difference"],
            [[trial.key.seed, _fields(trial.fields)] for trial in found.different[:SHOWN]],
        )
    return 0 if found.equal else 1


@runs.command(sort_key=5)
def merge(
    *folders: Path,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    as_json: AsJson = False,
) -> int:
    """Merge the parts of one run that were trained apart, for example on several machines.

    The command of the run then resumes in the merged folder.

    Example: `rote runs merge here/sweep there/sweep -o runs/merged`

    Parameters
    ----------
    folders
        Folders of runs.
    output
        Folder to write, which must not exist.
    """
    from rote.experiments.runs.merge import merge_runs

    merged = merge_runs(folders, output)
    if as_json:
        print_json(merged.summary())
        return 0
    planned = f" of {merged.planned:,} planned" if merged.planned is not None else ""
    twice = f"; {merged.shared:,} were in several parts and agree" if merged.shared else ""
    print(f"{merged.trials:,} trials{planned} are in {merged.folder}{twice}")
    return 0


def _fields(fields: dict[str, tuple[Any, Any]]) -> str:
    return ", ".join(f"{name} {first} and {second}" for name, (first, second) in fields.items())
