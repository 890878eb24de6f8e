"""The figure of what memorizers cost."""

from __future__ import annotations

import numpy as np
import pytest

from studies.memorizer_figure import Cost, fitted_exponent, memorizer_figure


def test_exponent_of_a_power_law_is_found_within_its_interval():
    sizes = np.repeat([16.0, 64.0, 256.0, 1024.0], 3)
    noise = np.exp(np.random.default_rng(0).normal(0, 0.05, len(sizes)))
    found = fitted_exponent(sizes.tolist(), (3 * sizes**0.5 * noise).tolist())
    assert found.low <= 0.5 <= found.high
    assert found.high - found.low < 0.1
    assert fitted_exponent([1, 10, 100], [2, 20, 200]).value == pytest.approx(1)


def test_figure_is_written_and_names_what_it_shows(tmp_path):
    costs = [Cost(kind, size, 10 * size, 99.0 * size) for kind in ("faithful", "lean") for size in (16, 64, 256)]
    costs += [Cost("look-up table", size, size, size, built=False) for size in (16, 256)]
    path = memorizer_figure(costs, 1.0, "a title", tmp_path / "costs.svg")
    text = path.read_text()
    for shown in ("a title", "faithful: $N^a$, a = 1.00", "look-up table (counted)", "lower bound", "entropy"):
        assert f"<!-- {shown}" in text
