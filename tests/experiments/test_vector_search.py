"""Capacity by bisection: the search itself, replayed from what is known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.experiments.vectors.capacity import bracket, capacity_of, trial_at, wanted_trials
from rote.experiments.vectors.search import GAP, LAST_RUNG, Bracket, rung_of, search, size
from rote.experiments.vectors.trial import VectorResult
from rote.papers.kinds.vectors import AT_99, AT_ALL, AT_ERROR, VectorSetting


def run(limit, start, scale=1.0):
    """Search for the last rung that succeeds, keeping what was tried; scores tell the distance up to a factor."""
    tried = {}
    for _ in range(60):
        ended = search(tried.get, start)
        if ended.wanted is None:
            return ended, tried
        assert ended.wanted not in tried
        tried[ended.wanted] = scale * (limit + 0.5 - ended.wanted)
    raise AssertionError("the search does not end")


@given(st.integers(-1, LAST_RUNG), st.integers(0, LAST_RUNG), st.sampled_from([0.01, 0.3, 1.0, 5.0]))
def test_a_search_ends_at_the_boundary_from_anywhere_however_wrong_its_scores_are(limit, start, scale):
    ended, tried = run(limit, start, scale)
    low = -1 if ended.recalled is None else ended.recalled
    high = LAST_RUNG + 1 if ended.too_many is None else ended.too_many
    assert low <= limit < high
    assert high - low <= GAP or size(high) - size(max(low, 0)) <= 1
    assert len(tried) < 20


@given(st.integers(20, 200), st.integers(-8, 8))
def test_a_search_that_starts_near_and_is_told_how_far_it_is_takes_few_tries(limit, off):
    _, tried = run(limit, limit + off)
    assert len(tried) <= 5


@given(st.integers(0, 200), st.integers(0, 200), st.integers(0, 19))
def test_a_search_that_was_cut_short_goes_on_where_it_was(limit, start, cut):
    _, tried = run(limit, start)
    kept = dict(list(tried.items())[:cut])
    while (ended := search(kept.get, start)).wanted is not None:
        assert ended.wanted in tried  # nothing is tried that the whole search would not have tried
        kept[ended.wanted] = tried[ended.wanted]
    assert kept == tried


def test_sizes_rise_by_a_twentieth():
    assert [size(rung) for rung in (0, 100, 150)] == [1, 132, 1508]
    assert all(size(rung_of(count)) == pytest.approx(count, rel=0.026) for count in (100, 1560, 13_070))


def results(setting, accuracies, seed=0):
    """Ended trials whose accuracy falls off beyond limits: all recalled up to the first, .995 up to the second."""
    everything, nearly = accuracies
    ended = {}
    for rung in range(200):
        accuracy = 1.0 if rung <= everything else 0.995 if rung <= nearly else 0.5
        result = VectorResult(accuracy, mean_square=None, steps=1200, diverged_at=None, seconds=1.0)
        ended[trial_at(setting, rung, "fast", seed).key] = result
    return ended


def test_both_thresholds_are_searched_and_share_their_tries():
    setting = VectorSetting(5, 32)
    known = results(setting, (120, 130))
    all_of_them = capacity_of(setting, AT_ALL, "fast", 0, known)
    nearly = capacity_of(setting, AT_99, "fast", 0, known)
    assert all_of_them.recalled <= size(120) < all_of_them.too_many <= size(122)
    assert nearly.recalled <= size(130) < nearly.too_many <= size(132)
    assert all_of_them.seconds == all_of_them.tries


def test_the_next_seed_starts_where_the_one_before_ended():
    setting = VectorSetting(5, 32)
    known = results(setting, (120, 130))
    (trial,) = wanted_trials([setting], "fast", range(2), known)
    assert trial.seed == 1
    assert abs(trial.examples - size(130)) <= size(132) - size(130)
    alone = results(setting, (120, 130), seed=1)
    assert capacity_of(setting, AT_99, "fast", 1, alone) is None, "its start is not known"
    both = capacity_of(setting, AT_99, "fast", 1, {**known, **alone})
    assert both.recalled <= size(130) < both.too_many
    assert both.tries < capacity_of(setting, AT_99, "fast", 0, known).tries


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


def test_a_search_does_not_jump_over_what_another_has_tried():
    scores = {100: 1.0, 102: 1.0, 104: -1.0}
    alone = search(scores.get, 100)
    assert (alone.wanted, alone.tried) == (106, (100, 102))
    assert search(scores.get, 100, known=[104, 110]) == Bracket(102, 104, None, (100, 102, 104))
    falling = {100: -1.0, 98: -1.0, 96: 1.0}
    assert search(falling.get, 100, known=[96]) == Bracket(96, 98, None, (100, 98, 96))
