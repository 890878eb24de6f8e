"""What `rote plan` says of every method, and what building by it then gives.

    python benchmarks/plan.py [countries airports] [--dtype float32] [--slow] [--method ID ...]

A row is `equal` when parameters and bytes of the built weights are those of the plan, `rejected` when both refuse,
`estimated` where the plan says so, and `DIFFERS` otherwise. Fits and solves that take minutes are built with --slow
only.
"""

from __future__ import annotations

import argparse
import time

import rote
from rote.errors import RoteError
from rote.experiments.sizing.built import PlannedBuild, expected_row, planned_builds
from rote.experiments.sizing.folder_sizes import FolderSizes
from rote.experiments.sizing.row import PlanRow
from rote.folders.folder import weights_bytes
from rote.tasks import AssociationTask


def outcome(row: PlanRow, method: PlannedBuild, task: AssociationTask, dtype: str | None) -> tuple[str, str]:
    """Parameters and bytes as built, and how they compare with the row."""
    try:
        built = method.build(task, dtype)
    except RoteError as error:
        kept = {"rejected": "rejected", "estimates": "estimated"}
        return f"rejected: {str(error).splitlines()[0][:60]}", kept.get(row.section, "DIFFERS")
    parameters, size = built.model.parameters, weights_bytes(built.model)
    if (parameters, size) == (row.parameters, row.weights):
        verdict = "equal"
    else:
        verdict = "estimated" if row.section == "estimates" else "DIFFERS"
    return f"{parameters:,} / {size:,}", verdict


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("facts", nargs="*", default=["countries", "airports"])
    parser.add_argument("--dtype", default=None)
    parser.add_argument("--slow", action="store_true")
    parser.add_argument("--method", action="append")
    given = parser.parse_args()
    print("| facts | method | section | planned parameters / bytes | built parameters / bytes | | seconds |")
    print("|---|---|---|---|---|---|---|")
    for name in given.facts:
        task = rote.facts(name)
        if not isinstance(task, AssociationTask):
            parser.error(f"{name}: this table is of associations")
        for method in planned_builds(task):
            if given.method and method.id not in given.method:
                continue
            row = expected_row(method, task, given.dtype, FolderSizes(task))
            planned = "-" if row.weights is None else f"{row.parameters:,} / {row.weights:,}"
            built, verdict, start = "not built", "-", time.perf_counter()
            if given.slow or row.section != "estimates":
                built, verdict = outcome(row, method, task, given.dtype)
            seconds = time.perf_counter() - start
            print(
                f"| {name} | {method.id} | {row.section} | {planned} | {built} | {verdict} | {seconds:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
