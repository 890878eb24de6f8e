"""Capacities drawn from what ships: every bound is one value per size, a line for each number of heads."""

from __future__ import annotations

import pytest

from rote.experiments.vectors.findings import shipped_findings
from rote.papers.mahdavi2024.capacity import BY_CONTEXT, BY_HEAD_DIM, BY_HEADS


@pytest.mark.parametrize(("figure", "numbers"), [(BY_HEADS, 1), (BY_CONTEXT, 2), (BY_HEAD_DIM, 2)])
def test_bounds_do_not_jump_between_numbers_of_heads(figure, numbers):
    (chart,) = shipped_findings(figure).charts().values()
    bounds = [series for series in chart.series if series.name.startswith("H")]
    assert sum("Theorem 1" in series.name for series in bounds) == numbers
    for series in bounds:
        xs = [mark.x for mark in series.marks]
        assert xs == sorted(set(xs))
