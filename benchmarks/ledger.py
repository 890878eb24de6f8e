"""A ledger of a million trials: how long to decide what is left, to list, to filter.

    python benchmarks/ledger.py [TRIALS]

10,000 cells with as many seeds as that takes. Opening checks the file whole. Times are of the processor and of the
clock, since other work may share the machine.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from rote.experiments.ledgers.ledger import FILE, Ledger, canonical
from rote.experiments.ledgers.schema import checksum
from rote.experiments.runner import LedgerRows
from rote.experiments.runs.listing import list_runs, show_run
from rote.experiments.token_schedule import RandomTables, TokenSchedule
from rote.experiments.trial import TokenTrial
from rote.models.attention_only import AttentionOnly
from rote.training.protocol import protocol_named

CELLS = 10_000
IDENTITY = {"experiment": "million"}
RESULT = {
    "seed": 0, "protocol": "fast", "steps": 1000, "engine": "native (8 lanes)", "accuracy": 0.8734375,
    "sampled_accuracy": 0.8734375, "batch_accuracy": None, "loss": 0.1234567890123, "diverged_at": None,
    "parameters": 12345, "seconds": 0.123456, "published_accuracy": 0.8734375,
}  # fmt: skip


@contextmanager
def timed(what: str) -> Iterator[None]:
    processor, clock = time.process_time(), time.perf_counter()
    yield
    print(
        f"{what:<44} {time.process_time() - processor:6.2f} s processor {time.perf_counter() - clock:6.2f} s clock",
        flush=True,
    )


def write(folder: Path, cells: list[dict], seeds: int) -> None:
    """All trials at once, in SQL: one by one they would take minutes."""
    with Ledger.open(folder, IDENTITY, {}):
        pass
    with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as ledger:
        ledger.create_function("checksum", 4, checksum, deterministic=True)
        ledger.execute("BEGIN")
        ledger.executemany("INSERT INTO cells (cell) VALUES (?)", [(canonical(cell),) for cell in cells])
        ledger.execute(
            "INSERT INTO trials (cell, seed, seconds, ended, checksum) SELECT cells.id, value, 0.123, "
            "'2026-01-01T00:00:00+00:00', checksum(cells.cell, value, ?, 0.123) FROM cells, json_each(?)",
            (json.dumps(RESULT), json.dumps(list(range(seeds)))),
        )
        ledger.execute("INSERT INTO results SELECT id, ? FROM trials", (json.dumps(RESULT),))
        ledger.execute("COMMIT")


def main(trials: int) -> None:
    seeds = trials // CELLS
    specs = [
        AttentionOnly(vocab=8 + number % 100, context=2, dim=4, head_dim=4, heads=1 + number // 100)
        for number in range(CELLS)
    ]
    planned = [
        TokenTrial(spec, protocol, seed)
        for spec in specs
        for protocol in (protocol_named("fast", spec, spec.vocab**2),)
        for seed in range(seeds + 1)
    ]
    plan = TokenSchedule(IDENTITY, planned, RandomTables(), lambda trained, task: {})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "run"
        cells = [planned[number * (seeds + 1)].cell for number in range(CELLS)]
        write(folder, cells, seeds)
        print(f"{(folder / FILE).stat().st_size / 1e6:.0f} MB")
        with timed("resume: open, check, decide what is left"), Ledger.open(folder, IDENTITY, {}) as ledger:
            left = plan.pending(LedgerRows(ledger))
        print(f"  {len(left):,} of {len(planned):,} are left")
        with timed("list"):
            listed = list_runs(folder)
        print(f"  {listed[0].overview.trials if listed[0].overview else 0:,} trials")
        with timed("filter: one vocabulary and number of heads"):
            content = show_run(folder, {"vocab": "42", "heads": "7"})
        print(f"  {content.matching} cell, mean {content.cells[0].score}")
        with timed("filter: one number of heads, first 20 cells"):
            content = show_run(folder, {"heads": "7"})
        print(f"  {content.matching} cells")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
