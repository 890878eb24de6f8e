"""Findings made again from the capacities that ship with rote: points, laws and verdicts without a run."""

from __future__ import annotations

from rote.experiments.vectors.capacity import VectorCapacity
from rote.experiments.vectors.findings import VectorFindings, capacity_findings
from rote.experiments.vectors.plan import VectorPlan
from rote.papers.mahdavi2024.measured import measured_capacities
from rote.papers.vector_figures import CapacityFigure


def shipped_findings(figure: CapacityFigure) -> VectorFindings:
    """What was measured last for a figure, under protocol `fast`. How long it took is not kept."""
    capacities = [
        VectorCapacity(row.setting, row.threshold, row.seed, row.recalled, row.too_many)
        for row in measured_capacities()
    ]
    return capacity_findings(VectorPlan.of(figure), capacities)
