"""Scaling laws: known laws are found again, intervals cover, saturation does not bend."""

from __future__ import annotations

import numpy as np
import pytest

from rote.errors import InputError
from rote.measure.laws import Points, compare_laws, fit_law

X = np.arange(1, 32, 3.0)


def sampled(law, noise: float, seed: int = 0, x=X, repeats: int = 5) -> Points:
    generator = np.random.default_rng(seed)
    return Points.of({float(at): law(at) + noise * generator.standard_normal(repeats) for at in x})


@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0, 3.0])
def test_an_exponent_is_found_again_and_covered(exponent):
    fit = fit_law(sampled(lambda x: 0.1 + 2.0 * x**exponent, 0.01), "power", bootstrap=20)
    assert fit.values["exponent"] == pytest.approx(exponent, abs=0.05)
    low, high = fit.profile["exponent"]
    assert low <= exponent <= high
    assert fit(X) == pytest.approx(0.1 + 2.0 * X**exponent, rel=0.1, abs=0.1)


def test_profile_intervals_cover_at_their_rate():
    covered = 0
    for seed in range(20):
        fit = fit_law(sampled(lambda x: 0.2 + 0.03 * x, 0.02, seed), "linear", bootstrap=0)
        low, high = fit.profile["b"]
        covered += low <= 0.03 <= high
    # Binomial(20, .95): fewer than 16 happens three times in a thousand such tests.
    assert covered >= 16


def test_the_right_form_wins():
    assert compare_laws(sampled(lambda x: 0.1 + 0.02 * x, 0.01), bootstrap=0)[0].law == "linear"
    best = compare_laws(sampled(lambda x: 0.1 + 0.002 * x**2, 0.01), ("linear", "quadratic"), bootstrap=0)[0]
    assert best.law == "quadratic"
    saturating = sampled(lambda x: 0.9 * (1 - np.exp(-x / 8)), 0.005)
    assert compare_laws(saturating, ("linear", "saturating"), bootstrap=0)[0].law == "saturating"


def test_saturated_points_do_not_bend_the_fit():
    def full(x):
        return min(1.0, 0.05 * x)

    bent = fit_law(sampled(full, 0.002, x=np.arange(1, 41, 3.0)), "linear", bootstrap=0)
    straight = fit_law(sampled(full, 0.002, x=np.arange(1, 41, 3.0)), "linear", saturation=0.95, bootstrap=0)
    assert straight.values["b"] == pytest.approx(0.05, rel=0.02)
    assert abs(bent.values["b"] - 0.05) > 0.01
    assert straight.saturated == 7


def test_a_saturated_point_still_pulls_a_law_that_misses_it():
    points = Points.of({1.0: [0.1], 2.0: [0.2], 3.0: [0.3], 10.0: [1.0]})
    fit = fit_law(points, "linear", saturation=0.95)
    assert fit(np.array([10.0]))[0] >= 0.94


def test_same_seed_same_intervals():
    points = sampled(lambda x: 0.1 + 0.02 * x, 0.05)
    first, again = (fit_law(points, "power", seed=3, bootstrap=10) for _ in range(2))
    assert first.summary() == again.summary()


def test_what_cannot_be_fitted_is_refused():
    with pytest.raises(InputError, match="unsaturated points"):
        fit_law(sampled(lambda x: 1.0, 0.0), "linear", saturation=0.95)
    with pytest.raises(InputError, match="not one of"):
        fit_law(sampled(lambda x: x, 0.1), "logistic")
    with pytest.raises(InputError, match="finite"):
        Points.of({1.0: [float("nan")]})
    with pytest.raises(InputError, match="at least one"):
        Points.of({1.0: []})
