"""Files beside a ledger, written atomically: JSON, text, and training curves as Parquet."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rote.experiments.ledgers.ledger import TrialRow
from rote.experiments.trial import TokenResult
from rote.files import replacing

SIZES = ("vocab", "dim", "head_dim", "heads", "layers", "variant", "width", "architecture")


def write_json(path: Path, document: dict[str, Any]) -> Path:
    return write_text(path, json.dumps(document, indent=1, ensure_ascii=False))


def write_text(path: Path, text: str) -> Path:
    with replacing(path) as aside:
        aside.write_text(text, encoding="utf-8")
    return path


def write_curves(path: Path, rows: Sequence[TrialRow]) -> Path:
    """Write the training curves as a Parquet table, one row per trial and step."""
    import polars

    table: dict[str, list[Any]] = {name: [] for name in (*SIZES, "seed", "step", "loss")}
    for row in rows:
        for step, loss in TokenResult.of(row.result).curve:
            for name in SIZES:
                table[name].append(row.cell["spec"].get(name))
            for name, value in (("seed", row.seed), ("step", step), ("loss", loss)):
                table[name].append(value)
    with replacing(path) as aside:
        polars.DataFrame(table).write_parquet(aside)
    return path
