"""Findings made again from the capacities that ship with rote: points, laws and verdicts without a run."""

from __future__ import annotations

from rote.experiments.vectors.capacity import VectorCapacity
from rote.experiments.vectors.findings import VectorFindings, capacity_findings
from rote.experiments.vectors.schedule import VectorSchedule
from rote.papers.kinds.vectors import CapacityFigure
from rote.papers.mahdavi2024.measured import measured_capacities


def shipped_findings(figure: CapacityFigure) -> VectorFindings:
    """What was measured last for a figure, under protocol `fast`. How long it took is not kept."""
    capacities = [
        VectorCapacity(row.setting, row.threshold, row.seed, row.recalled, row.too_many)
        for row in measured_capacities()
    ]
    return capacity_findings(VectorSchedule.of(figure), capacities)
