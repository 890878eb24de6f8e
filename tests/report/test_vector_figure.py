"""Capacities drawn from what ships: every bound is one value a size, a line for each number of heads."""

from __future__ import annotations

import numpy as np
import pytest

from rote.experiments.vectors.shipped import shipped_findings
from rote.papers.mahdavi2024.capacity import BY_CONTEXT, BY_HEAD_DIM, BY_HEADS
from rote.report.vector_figure import drawn_vectors


@pytest.mark.parametrize(("figure", "numbers"), [(BY_HEADS, 1), (BY_CONTEXT, 2), (BY_HEAD_DIM, 2)])
def test_bounds_do_not_jump_between_numbers_of_heads(figure, numbers):
    (axes,) = drawn_vectors(shipped_findings(figure)).axes
    bounds = [line for line in axes.lines if str(line.get_label()).startswith("H")]
    assert sum("Theorem 1" in str(line.get_label()) for line in bounds) == numbers
    for line in bounds:
        assert (np.diff(np.asarray(line.get_xdata(), dtype=float)) > 0).all()
