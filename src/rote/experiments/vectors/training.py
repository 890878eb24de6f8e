"""Train a planned trial on a vector task, and give what the ledger keeps of it."""

from __future__ import annotations

from typing import Any

from rote.experiments.vectors.saturation import head_shares
from rote.experiments.vectors.trial import VectorTrial
from rote.training.query_attention.result import VectorTrained
from rote.training.query_attention.train import train_vectors

CURVE_POINTS = 25
"""Points of a loss curve that the ledger keeps, about."""


def trained_record(trial: VectorTrial) -> dict[str, Any]:
    """Train, measure on every example, and give what is recorded."""
    task = trial.task()
    trained = train_vectors(task, trial.setting.spec, trial.seed, trial.protocol)
    heads = {"heads": head_shares(trained.model, task)} if trial.heads_measured and not trained.diverged else {}
    return {**_numbers(trained), **heads}


def _numbers(trained: VectorTrained) -> dict[str, Any]:
    stride = max(1, len(trained.curve) // CURVE_POINTS)
    curve = [[int(step), float(f"{loss:.5g}")] for step, loss in trained.curve[::stride].tolist()]
    return {**trained.summary(), "curve": curve}
