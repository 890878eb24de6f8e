"""Two runs of one plan compared, or put together: what several machines trained apart becomes the whole."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rote.errors import InputError
from rote.experiments.ledgers.file import differences
from rote.experiments.ledgers.ledger import Ledger, TrialKey, TrialRow
from rote.experiments.runs.table import flat, lasting


@dataclass(frozen=True)
class Difference:
    """A trial that two runs give different results of."""

    key: TrialKey
    fields: dict[str, tuple[Any, Any]]
    """By name, what either run says; times of training are left aside."""


@dataclass(frozen=True)
class RunDiff:
    """Two runs, trial by trial."""

    first: Path
    second: Path
    identity: str
    """What the runs themselves differ in; empty when they are of one plan."""
    same: int
    only_first: list[TrialKey]
    only_second: list[TrialKey]
    different: list[Difference]

    @property
    def equal(self) -> bool:
        return not (self.identity or self.only_first or self.only_second or self.different)

    def summary(self) -> dict[str, Any]:
        return {
            "first": str(self.first),
            "second": str(self.second),
            "equal": self.equal,
            "identity": self.identity,
            "same": self.same,
            "only_first": [key._asdict() for key in self.only_first],
            "only_second": [key._asdict() for key in self.only_second],
            "different": [{**trial.key._asdict(), "fields": trial.fields} for trial in self.different],
        }


def diff_runs(first: str | Path, second: str | Path) -> RunDiff:
    """What two runs hold in common and what they do not, whatever time their trials took."""
    said, rows = zip(*(Ledger.read(run) for run in (first, second)), strict=True)
    one, other = ({row.key: row for row in of_run} for of_run in rows)
    common = [key for key in one if key in other]
    different = [
        Difference(key, fields) for key in common if (fields := _differing(one[key].result, other[key].result))
    ]
    return RunDiff(
        Path(first),
        Path(second),
        differences(said[0]["identity"], said[1]["identity"]),
        len(common) - len(different),
        [key for key in one if key not in other],
        [key for key in other if key not in one],
        different,
    )


def _differing(one: dict[str, Any], other: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    first, second = flat(lasting(one)), flat(lasting(other))
    # What is no number differs from itself.
    return {
        name: (first.get(name), second.get(name))
        for name in (*first, *(name for name in second if name not in first))
        if repr(first.get(name)) != repr(second.get(name))
    }


@dataclass(frozen=True)
class MergedRun:
    """A run that was put together."""

    folder: Path
    trials: int
    shared: int
    """Trials that several of the runs held, and agreed on."""
    planned: int | None

    def summary(self) -> dict[str, Any]:
        return {"run": str(self.folder), "trials": self.trials, "shared": self.shared, "planned": self.planned}


def merge_runs(runs: Sequence[str | Path], output: str | Path) -> MergedRun:
    """A new run with the trials of all; runs of different plans, and trials they disagree on, are refused.

    The folder is written whole or not at all. The same command as before, on it, trains what is missing and makes the
    tables of the whole.
    """
    folder = Path(output)
    if folder.exists():
        raise InputError(f"{folder}: exists; merge into a folder that does not")
    if len(runs) < 2:
        raise InputError("merging takes two runs or more")
    rows: dict[TrialKey, TrialRow] = {}
    failures, shared, saids = {}, 0, []
    for run in runs:
        with Ledger.reading(run) as ledger:
            identity, about = ledger.said()
            saids.append((identity, about))
            if identity != saids[0][0]:
                raise InputError(f"{run}: is of another plan than {runs[0]} ({differences(saids[0][0], identity)})")
            for row in ledger.rows():
                known = rows.setdefault(row.key, row)
                if known is not row:
                    shared += 1
                    if fields := _differing(known.result, row.result):
                        raise InputError(
                            f"{run}: disagrees with an earlier run on seed {row.seed} of {row.key.cell} "
                            f"({_shown(fields)}); `rote runs diff` shows every such trial"
                        )
            failures |= {failure.key: failure for failure in ledger.failures()}
    asked = {figure: choices for _, said in saids for figure, choices in said.get("asked", {}).items()}
    about = {**saids[0][1], **({"asked": asked} if asked else {}), "merged": [str(run) for run in runs]}
    aside = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(aside, ignore_errors=True)
    try:
        with Ledger.open(aside, saids[0][0], about) as merged:
            merged.copy(
                [rows[key] for key in sorted(rows)], [failures[key] for key in sorted(failures) if key not in rows]
            )
        aside.rename(folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    planned = about.get("trials")
    return MergedRun(folder, len(rows), shared, planned if isinstance(planned, int) else None)


def _shown(fields: dict[str, tuple[Any, Any]]) -> str:
    return "; ".join(f"{name} {one!r}, {other!r}" for name, (one, other) in list(fields.items())[:3])
