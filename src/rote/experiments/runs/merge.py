"""Two runs of one plan compared, or put together: what several machines trained apart becomes the whole."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rote.errors import InputError
from rote.experiments.ledgers.file import differences, foreign
from rote.experiments.ledgers.ledger import FILE, FailedTrial, Ledger, TrialKey, TrialRow
from rote.experiments.runs.export import flat, lasting
from rote.files import new_file
from rote.folders.destination import written_aside


@dataclass(frozen=True)
class Difference:
    """A trial that two runs give different results of."""

    key: TrialKey
    fields: dict[str, tuple[Any, Any]]
    """By name, what either run says; times of training are left aside."""


@dataclass(frozen=True)
class RunDiff:
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
    with foreign(f"{first}, {second}"):
        return _diff(first, second)


def _diff(first: str | Path, second: str | Path) -> RunDiff:
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
    folder: Path
    trials: int
    shared: int
    """Trials that several of the runs held, and agreed on."""
    planned: int | None

    def summary(self) -> dict[str, Any]:
        return {"run": str(self.folder), "trials": self.trials, "shared": self.shared, "planned": self.planned}


def merge_runs(runs: Sequence[str | Path], output: str | Path) -> MergedRun:
    """A new run with the trials of all; runs of different plans, and trials they disagree on, are rejected.

    The folder is complete or absent. The same command as before, on it, trains what is missing and writes the tables of
    all trials.
    """
    folder = Path(output)
    if folder.exists():
        raise InputError(f"{folder}: exists; merge into a folder that does not")
    if len(runs) < 2:
        raise InputError("merging takes two runs or more")
    with foreign(", ".join(map(str, runs))):
        gathered = _gathered(runs)
    about = {
        **gathered.about,
        **({"asked": gathered.asked} if gathered.asked else {}),
        "merged": [str(run) for run in runs],
    }
    # Made in memory and written at the end, so that one that is killed leaves nothing.
    with Ledger.open(None, gathered.identity, about) as merged:
        failures = [gathered.failures[key] for key in sorted(gathered.failures) if key not in gathered.rows]
        merged.copy([gathered.rows[key] for key in sorted(gathered.rows)], failures)
        content = merged.bytes()
    with (
        written_aside(folder) as aside,
        new_file(aside / FILE) as descriptor,
        os.fdopen(os.dup(descriptor), "wb") as file,
    ):
        file.write(content)
        file.flush()
        os.fsync(descriptor)
    planned = about.get("trials")
    return MergedRun(folder, len(gathered.rows), gathered.shared, planned if type(planned) is int else None)


@dataclass
class _Gathered:
    """What several runs hold together."""

    identity: dict[str, Any] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)
    rows: dict[TrialKey, TrialRow] = field(default_factory=dict)
    failures: dict[TrialKey, FailedTrial] = field(default_factory=dict)
    asked: dict[str, Any] = field(default_factory=dict)
    """Choices by figure, of all runs."""
    shared: int = 0


def _gathered(runs: Sequence[str | Path]) -> _Gathered:
    found = _Gathered()
    for place, run in enumerate(runs):
        with Ledger.reading(run) as ledger:
            identity, about = ledger.description()
            found.asked |= about.get("asked", {})
            if place == 0:
                found.identity, found.about = identity, about
            if identity != found.identity:
                raise InputError(f"{run}: is of another plan than {runs[0]} ({differences(found.identity, identity)})")
            for row in ledger.rows():
                known = found.rows.setdefault(row.key, row)
                if known is not row:
                    found.shared += 1
                    if fields := _differing(known.result, row.result):
                        raise InputError(
                            f"{run}: disagrees with an earlier run on seed {row.seed} of {row.key.cell} "
                            f"({_shown(fields)}); `rote runs diff` shows every such trial"
                        )
            found.failures |= {failure.key: failure for failure in ledger.failures()}
    return found


def _shown(fields: dict[str, tuple[Any, Any]]) -> str:
    return "; ".join(f"{name} {one!r}, {other!r}" for name, (one, other) in list(fields.items())[:3])
