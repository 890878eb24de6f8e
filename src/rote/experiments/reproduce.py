"""Run a figure's trials, each committed to the run's ledger when it ends, and say what they show.

A trial is named by its cell (specification and protocol) and its seed; seed s trains on the random look-up of seed s
from the initial weights of seed s. A run that was killed goes on where it stopped.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rote import __version__
from rote.experiments.figure_plan import FigurePlan, cell_protocol
from rote.experiments.findings import FigureFindings, findings_of
from rote.experiments.ledger import Ledger, TrialKey, TrialRow
from rote.papers.paper import Cell
from rote.progress import SILENT, Progress
from rote.training.result import Trained
from rote.training.trials import EngineName, Trial, run_trials

CURVE_POINTS = 50


@dataclass(frozen=True)
class Reproduction:
    """A finished run of a figure."""

    findings: FigureFindings
    folder: Path
    trained: int
    """Trials that were trained now; the others were in the ledger."""
    processor_seconds: float
    """Processor time of all its trials, whenever they ran."""
    engines: list[str]


def reproduce(
    plan: FigurePlan,
    folder: str | Path | None = None,
    *,
    workers: int | None = None,
    engine: EngineName = "auto",
    progress: Progress = SILENT,
) -> Reproduction:
    """Train what the ledger in `folder` does not hold yet, then arrange and judge all of it."""
    where = plan.default_folder if folder is None else Path(folder)
    about = {"rote": __version__, "machine": platform.machine(), "python": platform.python_version()}
    with Ledger.open(where, plan.identity, about) as ledger:
        named = plan.named()
        done = ledger.done()
        waiting = [pair for key, pair in named.items() if key not in done]
        for trial, trained in run_trials(_trials(plan, waiting), workers=workers, engine=engine, progress=progress):
            ledger.record(plan.ledger_cell(trial.key), trial.seed, _result(trained), trained.seconds)
        rows = ledger.rows()
    findings, used = arranged(plan, rows)
    (where / "figures").mkdir(exist_ok=True)
    _write_curves(where / "curves.parquet", rows)
    return Reproduction(
        findings,
        where,
        len(waiting),
        sum(row.seconds for row in used),
        sorted({row.result["engine"] for row in used}),
    )


def arranged(plan: FigurePlan, rows: Sequence[TrialRow]) -> tuple[FigureFindings, list[TrialRow]]:
    """What the rows that belong to a plan say; others (more seeds, other cells) are left aside."""
    named = plan.named()
    kept = [(named[key][0], row) for row in rows if (key := TrialKey.of(row.cell, row.seed)) in named]
    found = findings_of(
        plan.figure, plan.cells, kept, quick=plan.quick, protocol=plan.protocol, repeats=plan.repeats
    )  # fmt: skip
    return found, [row for _, row in kept]


def _trials(plan: FigurePlan, waiting: Sequence[tuple[Cell, int]]) -> list[Trial]:
    from rote.tasks.generators import random_associations

    tasks = {}
    trials = []
    for cell, seed in waiting:
        sizes = (cell.spec.vocab, cell.spec.context)
        if (sizes, seed) not in tasks:
            tasks[sizes, seed] = random_associations(*sizes, seed=seed)
        protocol = cell_protocol(cell, plan.protocol)
        trials.append(Trial(tasks[sizes, seed], cell.spec, protocol, seed, key=cell))
    return trials


def _result(trained: Trained) -> dict[str, Any]:
    step = max(1, len(trained.curve) // CURVE_POINTS)
    curve = [[int(at), float(f"{loss:.5g}")] for at, loss in trained.curve[::step].tolist()]
    return {**trained.summary(), "published_accuracy": trained.published_accuracy, "curve": curve}


def _write_curves(path: Path, rows: Sequence[TrialRow]) -> None:
    """Losses along training as a table: one row a trial and step."""
    import polars

    sizes = ("vocab", "dim", "head_dim", "heads", "layers", "variant", "width", "architecture")
    table: dict[str, list[Any]] = {name: [] for name in (*sizes, "seed", "step", "loss")}
    for row in rows:
        for step, loss in row.result["curve"]:
            for name in sizes:
                table[name].append(row.cell["spec"].get(name))
            for name, value in (("seed", row.seed), ("step", step), ("loss", loss)):
                table[name].append(value)
    aside = path.with_name(f".{path.name}.part")
    polars.DataFrame(table).write_parquet(aside)
    aside.replace(path)


def write_summary(path: Path, document: dict[str, Any]) -> Path:
    """A JSON document, complete or not at all."""
    aside = path.with_name(f".{path.name}.part")
    aside.write_text(json.dumps(document, indent=1, ensure_ascii=False))
    aside.replace(path)
    return path
