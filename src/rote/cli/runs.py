"""`rote runs`: list, show, fit, export, diff, merge."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from rote.cli.output import AsJson, print_json, print_pairs, print_table
from rote.cli.runs_fit import fit

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
