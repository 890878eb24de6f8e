"""Listing of the runs below a folder, and of the contents of one; results are read only if they are shown."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from rote.errors import InputError, nearest, problems
from rote.experiments.ledgers.file import foreign
from rote.experiments.ledgers.ledger import FILE, FailedTrial, Ledger, LedgerOverview
from rote.experiments.runs.export import flat

SCORES = ("accuracy", "held", "mean_square")
"""Scores of trials by kind of run; the first one that a result has is shown."""


@dataclass(frozen=True)
class ListedRun:
    """A run in a list, or the reason why it cannot be read."""

    folder: Path
    overview: LedgerOverview | None
    problem: str | None = None

    @property
    def name(self) -> str:
        identity = {} if self.overview is None else self.overview.identity
        return str(next((identity[key] for key in ("experiment", "search", "kind") if key in identity), "-"))

    @property
    def planned(self) -> int | None:
        """Number of scheduled trials; None if unknown."""
        planned = None if self.overview is None else self.overview.about.get("trials")
        return planned if type(planned) is int and planned >= 0 else None

    def summary(self) -> dict[str, Any]:
        said = {} if self.overview is None else asdict(self.overview)
        return {"run": str(self.folder), "of": self.name, "planned": self.planned, **said, "problem": self.problem}


def list_runs(folder: str | Path) -> list[ListedRun]:
    """Every run at or below a folder, ordered by name; hidden folders are skipped."""
    root = Path(folder)
    if not root.is_dir():
        raise InputError(f"{folder}: no such folder; name one that holds runs")
    listed = []
    for path, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if FILE in files:
            listed.append(_listed(Path(path)))
    return listed


def _listed(path: Path) -> ListedRun:
    try:
        with foreign(path), Ledger.reading(path, whole=False) as ledger:
            return ListedRun(path, ledger.overview())
    except InputError as error:
        return ListedRun(path, None, str(error))


@dataclass(frozen=True)
class CellSummary:
    sizes: dict[str, Any]
    """The fields that differ between the selected cells."""
    trials: int
    score: float | None
    """Mean score of its trials; None if no trial has one."""


@dataclass(frozen=True)
class RunContent:
    """The contents of a run, or of its selected cells."""

    folder: Path
    overview: LedgerOverview
    matching: int
    """Number of selected cells."""
    cells: list[CellSummary]
    """The first of them."""
    score: str | None
    failed: list[FailedTrial]

    def summary(self) -> dict[str, Any]:
        return {
            **ListedRun(self.folder, self.overview).summary(),
            "matching_cells": self.matching,
            "score": self.score,
            "cells": [{**cell.sizes, "trials": cell.trials, "score": cell.score} for cell in self.cells],
            "failed_trials": [
                {"cell": failure.key.cell, "seed": failure.key.seed, "reason": failure.reason}
                for failure in self.failed
            ],
        }


def show_run(run: str | Path, where: Mapping[str, str] | None = None, most: int = 20) -> RunContent:
    """The cells of a run whose fields have these values (`{"heads": "5"}`), `most` of them with their scores."""
    with foreign(run), Ledger.reading(run, whole=False) as ledger:
        every = [(cell, flat(cell), trials) for cell, trials in ledger.cells()]
        fixed = _named([fields for _, fields, _ in every], where or {})
        chosen = [entry for entry in every if all(str(entry[1].get(name)).lower() == fixed[name] for name in fixed)]
        varying = _varying([fields for _, fields, _ in chosen], fixed)
        scores = _scores(ledger, [cell for cell, _, _ in chosen[:most]])
        cells = [
            CellSummary({short: fields.get(name) for name, short in varying.items()}, trials, score)
            for (_, fields, trials), (_, score) in zip(chosen, scores, strict=False)
        ]
        named = next((name for name, _ in scores if name), None)
        return RunContent(Path(run), ledger.overview(), len(chosen), cells, named, ledger.failures())


def _named(cells: Sequence[Mapping[str, Any]], where: Mapping[str, str]) -> dict[str, str]:
    """The selected values by the full names of their fields."""
    known = sorted({name for fields in cells for name in fields}) if where else []
    full, wrong = {}, []
    for name, value in where.items():
        matching = [field for field in known if field == name or field.endswith(f".{name}")]
        if len(matching) == 1:
            full[matching[0]] = value.lower()
        elif matching:
            wrong.append(f"{name!r} may be {' or '.join(matching)}; give the full name")
        else:
            wrong.append(f"no cell has a field {name!r}{nearest(name, [field.split('.')[-1] for field in known])}")
    if wrong:
        raise problems("`where`", wrong)
    return full


def _varying(cells: Sequence[Mapping[str, Any]], fixed: Mapping[str, str]) -> dict[str, str]:
    """Fields that differ between cells or were selected, shortened to the last word if that is unique."""
    first = cells[0] if cells else {}
    names = [name for name in first if name in fixed or any(fields.get(name) != first[name] for fields in cells)]
    words = [name.split(".")[-1] for name in names]
    return {name: word if words.count(word) == 1 else name for name, word in zip(names, words, strict=True)}


def _scores(ledger: Ledger, cells: Sequence[dict[str, Any]]) -> list[tuple[str | None, float | None]]:
    scores: list[tuple[str | None, float | None]] = []
    for cell in cells:
        results = [row.result for row in ledger.rows([cell])]
        name = next((score for score in SCORES if any(result.get(score) is not None for result in results)), None)
        values = [result[name] for result in results if name and result.get(name) is not None]
        scores.append((name, fmean(values) if values else None))
    return scores
