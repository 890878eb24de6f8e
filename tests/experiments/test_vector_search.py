"""Capacity by bisection: the search itself, replayed from what is known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.experiments.vector_capacity import bracket, capacity_of, trial_at, wanted_trials
from rote.experiments.vector_search import LAST_RUNG, bisect, rung_of, size
from rote.papers.vector_figures import AT_99, AT_ALL, AT_ERROR, VectorSetting


def run(limit, start):
    """Search for the last rung that succeeds, keeping what was tried."""
    tried = {}
    for _ in range(60):
        ended = bisect(tried.get, start)
        if ended.wanted is None:
            return ended, tried
        assert ended.wanted not in tried
        tried[ended.wanted] = ended.wanted <= limit
    raise AssertionError("the search does not end")


@given(st.integers(-1, LAST_RUNG), st.integers(0, LAST_RUNG))
def test_a_search_ends_at_the_boundary_from_anywhere(limit, start):
    ended, tried = run(limit, start)
    assert ended.recalled == (None if limit < 0 else limit)
    assert ended.refused == (None if limit == LAST_RUNG else limit + 1)
    assert len(tried) < 20


@given(st.integers(0, 200), st.integers(0, 200), st.integers(0, 19))
def test_a_search_that_was_cut_short_goes_on_where_it_was(limit, start, cut):
    _, tried = run(limit, start)
    kept = dict(list(tried.items())[:cut])
    while (ended := bisect(kept.get, start)).wanted is not None:
        assert ended.wanted in tried  # nothing is tried that the whole search would not have tried
        kept[ended.wanted] = tried[ended.wanted]
    assert kept == tried


def test_sizes_rise_by_a_twentieth():
    assert [size(rung) for rung in (0, 100, 150)] == [1, 132, 1508]
    assert all(size(rung_of(count)) == pytest.approx(count, rel=0.026) for count in (100, 1560, 13_070))


def results(setting, accuracies, seed=0):
    """Ended trials whose accuracy falls off beyond limits: all recalled up to the first, .995 up to the second."""
    everything, nearly = accuracies
    found = {}
    for rung in range(200):
        accuracy = 1.0 if rung <= everything else 0.995 if rung <= nearly else 0.5
        result = {"accuracy": accuracy, "mean_square": None, "seconds": 1.0}
        found[trial_at(setting, rung, "fast", seed).key] = result
    return found


def test_both_thresholds_are_searched_and_share_their_tries():
    setting = VectorSetting(5, 32)
    known = results(setting, (120, 130))
    all_of_them = capacity_of(setting, AT_ALL, "fast", 0, known)
    nearly = capacity_of(setting, AT_99, "fast", 0, known)
    assert (all_of_them.recalled, all_of_them.refused) == (size(120), size(121))
    assert (nearly.recalled, nearly.refused) == (size(130), size(131))
    assert nearly.tries < all_of_them.tries < 2 * nearly.tries + 4  # the second search starts where the first ended
    assert all_of_them.seconds == all_of_them.tries


def test_a_search_that_has_not_ended_has_no_capacity_but_a_next_trial():
    setting = VectorSetting(2, 5, classes=None)
    assert capacity_of(setting, AT_ERROR, "fast", 0, {}) is None
    assert bracket(setting, AT_ERROR, "fast", 0, {}).wanted is not None
    (trial,) = wanted_trials([setting], "fast", range(1), {})
    assert trial.protocol.method == "projection"
    assert wanted_trials([VectorSetting(5, 32)], "fast", range(1), results(VectorSetting(5, 32), (120, 130))) == []


def test_nothing_recalled_is_a_capacity_of_nought():
    setting = VectorSetting(1, 5)
    assert capacity_of(setting, AT_99, "fast", 0, results(setting, (-1, -1))).recalled == 0
