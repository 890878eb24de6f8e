"""Figures about look-up tables: models trained on random tables of all contexts.

A trial is named by its cell (specification and protocol) and its seed. Seed s trains on the random table of seed s
from the initial weights of seed s.

Cost: a step takes about 10 microseconds and 0.16 nanoseconds per multiply-add of the forward pass: tables over the
vocabulary (4dk per token and head), attention (2k per context and head), MLP (2dw per context) and readout (Nd per
context). Layers after the first cannot be tabulated: over all pairs of tokens each projects the last position of every
pair, over a list of contexts all layers project every position of every context. The two constants were fitted to
1,500 trials of the paper's figures on one core with 8 float lanes. Nine tenths of them took 0.7 to 2.1 times as long.
Expect a factor of two either way on another machine, and several without the native engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rote.experiments.files import write_curves
from rote.experiments.findings import Findings
from rote.experiments.kind import FigureKind, RunChoices
from rote.experiments.ledgers.ledger import TrialRow
from rote.experiments.lookups.schedule import LookupSchedule, cell_protocol
from rote.experiments.runner import Rows, Schedule
from rote.models import MlpTransformer, Transformer
from rote.papers.kinds.lookups import LookupFigure
from rote.training.protocol import EngineName

if TYPE_CHECKING:
    from rote.tasks import AssociationTask
    from rote.training.result import Trained

PER_STEP = 1e-5
PER_PRODUCT = 1.6e-10
PER_POLISH = 2.5
"""An L-BFGS iteration in steps: a step, its line search, its history."""
CURVE_POINTS = 50
"""Points of a loss curve that the ledger keeps, about: enough to draw it, few beside a trial's other numbers."""


def products(spec: Transformer, contexts: int) -> int:
    """Multiply-adds of one forward pass over so many contexts, as the engines do it."""
    d, k, H = spec.dim, spec.head_dim, spec.heads
    neurons = 2 * d * spec.width if isinstance(spec, MlpTransformer) else 0
    mixing = 2 * k * H * spec.context // 2 + neurons
    projections = 4 * d * k * H
    readout = contexts * spec.vocab * d
    tabled = spec.vocab * projections + contexts * mixing
    if spec.layers == 1:
        return tabled + readout
    if contexts == spec.vocab**2 and spec.context == 2:
        return tabled + (spec.layers - 1) * (contexts + spec.vocab) * (projections + mixing) + readout
    return contexts * spec.context * spec.layers * (projections + mixing) + readout


def lookup_cost(schedule: LookupSchedule) -> tuple[int, float]:
    total = 0.0
    for cell in schedule.cells:
        protocol = cell_protocol(cell, schedule.protocol)
        contexts = cell.spec.vocab**cell.spec.context
        step = PER_STEP + PER_PRODUCT * products(cell.spec, protocol.batch or contexts)
        polish = PER_STEP + PER_PRODUCT * products(cell.spec, contexts)
        total += protocol.steps * step + PER_POLISH * protocol.polish * polish
    return len(schedule.cells) * schedule.repeats, total * schedule.repeats


def _schedule(figure: LookupFigure, choices: RunChoices) -> LookupSchedule:
    return LookupSchedule.of(
        figure, protocol=choices.protocol, quick=choices.quick, repeats=choices.repeats, variant=choices.variant,
        positions=choices.positions,
    )  # fmt: skip


def _run(schedule: LookupSchedule, folder: Path, engine: EngineName) -> Schedule[Any, Any]:
    from rote.experiments.token_schedule import RandomTables, TokenSchedule

    return TokenSchedule(schedule.identity, schedule.trials(), RandomTables(), _recorded, engine=engine)


def _recorded(trained: Trained, task: AssociationTask) -> dict[str, Any]:
    from rote.experiments.token_schedule import training_record

    stride = max(1, len(trained.curve) // CURVE_POINTS)
    curve = [[int(step), float(f"{loss:.5g}")] for step, loss in trained.curve[::stride].tolist()]
    return {**training_record(trained), "published_accuracy": trained.published_accuracy, "curve": curve}


def _findings(schedule: LookupSchedule, rows: Rows) -> Findings[LookupFigure, LookupSchedule]:
    from rote.experiments.lookups.findings import lookup_findings

    return lookup_findings(schedule, rows)


def _write_curves(folder: Path, rows: Sequence[TrialRow]) -> Path:
    return write_curves(folder / "curves.parquet", rows)


LOOKUPS = FigureKind(
    name="look-up tables",
    figures=(LookupFigure,),
    schedule=_schedule,
    run=_run,
    findings=_findings,
    cost=lookup_cost,
    options=frozenset({"protocol", "variant", "positions", "part"}),
    written=_write_curves,
)
