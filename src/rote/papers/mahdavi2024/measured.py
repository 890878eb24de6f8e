"""Capacities as they were searched for last, protocol `fast`: shipped, so that verdicts can be recomputed from them.

`capacities.csv` has a row for each search: the setting, the threshold, the seed, the most examples that met it and the
fewest, next to them, that did not.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rote.papers.kinds.vectors import AT_99, AT_ALL, AT_ERROR, Threshold, VectorSetting

PATH = Path(__file__).parent / "capacities.csv"
THRESHOLDS = {threshold.in_words: threshold for threshold in (AT_99, AT_ALL, AT_ERROR)}


@dataclass(frozen=True)
class MeasuredCapacity:
    setting: VectorSetting
    threshold: Threshold
    seed: int
    recalled: int
    """Most examples that met the threshold; 0 if one did not."""
    too_many: int | None
    """Fewest that did not, among the sizes tried."""


@cache
def measured_capacities() -> tuple[MeasuredCapacity, ...]:
    """Every search, in the order of settings."""
    with PATH.open(encoding="utf-8", newline="") as file:
        return tuple(
            MeasuredCapacity(
                VectorSetting(
                    int(row["heads"]),
                    int(row["context"]),
                    int(row["head_dim"]),
                    shared=row["contexts"] == "shared",
                    classes=100 if row["answers"] == "labels" else None,
                ),
                THRESHOLDS[row["threshold"]],
                int(row["seed"]),
                int(row["recalled"]),
                int(row["too_many"]),
            )
            for row in csv.DictReader(file)
        )
