"""Export of a run's trials as CSV or Parquet: one row per trial, one column per field of its cell and result.

Nested names are joined by dots: `spec.heads`, `protocol.steps`, `result.accuracy`. Lists, such as a training curve,
are JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from rote.display import DataFrame
from rote.errors import InputError
from rote.experiments.ledgers.file import foreign
from rote.experiments.ledgers.ledger import Ledger, TrialRow
from rote.files import replacing, writing
from rote.words import cell

FORMATS = (".csv", ".parquet")
TIMES = frozenset({"seconds"})
"""Fields of a result that measure time, and differ between machines and days."""


def flat(content: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested names joined by dots."""
    fields: dict[str, Any] = {}
    for name, value in content.items():
        if isinstance(value, Mapping):
            fields |= flat(value, f"{prefix}{name}.")
        else:
            fields[f"{prefix}{name}"] = json.dumps(value) if isinstance(value, list) else value
    return fields


def lasting(result: Mapping[str, Any]) -> dict[str, Any]:
    """A result without its times, which depend on the machine."""
    return {name: value for name, value in result.items() if name not in TIMES}


def trial_record(row: TrialRow, times: bool = True) -> dict[str, Any]:
    """A row of the export; without its times it is the same wherever the trial ran."""
    result = row.result if times else lasting(row.result)
    record = {**flat(row.cell), "seed": row.seed, **flat(result, "result.")}
    return {**record, "seconds": row.seconds, "ended": row.ended} if times else record


def trial_frame(rows: Iterable[TrialRow], times: bool = True) -> DataFrame:
    """The trials as a data frame, in their order."""
    import polars

    return polars.DataFrame([trial_record(row, times) for row in rows], infer_schema_length=None)


def without_formulas(frame: DataFrame) -> DataFrame:
    """The frame with no text that a spreadsheet would take for a formula."""
    import polars

    texts = [name for name, dtype in frame.schema.items() if dtype == polars.String]
    return frame.with_columns(
        polars.Series(name, [cell(value) for value in frame[name].to_list()], dtype=polars.String) for name in texts
    ).rename({name: cell(name) for name in frame.columns})


def export_run(run: str | Path, output: str | Path, times: bool = True) -> tuple[Path, int]:
    """Write a run's trials as CSV or Parquet, by the suffix of `output`; returns the path and the number of trials.

    Without `times` the bytes are equal for equal trials, whenever, wherever and in whatever order they ran.
    """
    path = Path(output)
    if path.suffix not in FORMATS:
        raise InputError(f"`output`: {path} must end in {' or '.join(FORMATS)}")
    rows = Ledger.read(run)[1]
    if not rows:
        raise InputError(f"{run}: no trial has ended yet; there is nothing to export")
    with foreign(run):
        frame = trial_frame(rows, times)
    if path.suffix == ".csv":
        frame = without_formulas(frame)
    write: Callable[[Path], object] = frame.write_csv if path.suffix == ".csv" else frame.write_parquet
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as aside:
        write(aside)
    return path, len(rows)
