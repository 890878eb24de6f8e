"""Intervals of shares hold the share, at the ends exactly."""

import pytest

from rote.measure.intervals import wilson


@pytest.mark.parametrize("trials", range(1, 400, 7))
def test_the_interval_of_a_share_holds_it(trials):
    for right in {0, 1, trials // 2, trials - 1, trials}:
        low, high = wilson(right, trials)
        assert 0 <= low <= right / trials <= high <= 1
    assert wilson(0, trials).low == 0
    assert wilson(trials, trials).high == 1
    assert wilson(0, trials).high > 0


def test_a_published_interval():
    """81 of 263: Newcombe 1998, Table I."""
    low, high = wilson(81, 263)
    assert (round(low, 4), round(high, 4)) == (0.2553, 0.3662)


def test_no_trials_tell_nothing():
    assert wilson(0, 0) == (0, 1)
