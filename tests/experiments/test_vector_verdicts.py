"""Verdicts on vector tasks: every rule can hold, fail and stay undecided."""

import pytest

from rote.experiments.vectors.findings import VectorFindings, VectorPoint, VectorSeries
from rote.experiments.vectors.schedule import VectorSchedule
from rote.experiments.vectors.verdicts import decide_on_vectors
from rote.papers import figures_named
from rote.papers.claims import GrowsAs, Rule
from rote.papers.kinds.vectors import (
    DecreasesWithSize,
    HeadsSplitExamples,
    IncreasesWithSize,
    MeetsPromise,
    NoMoreThanRank,
    NothingBeyond,
    VectorSetting,
)
from rote.papers.mahdavi2024 import MAHDAVI2024


def findings(values, setting=None, overlaps=()):
    """One series: x -> values of its seeds."""
    plan = VectorSchedule.of(figures_named("mahdavi2024.heads")[0])
    points = tuple(
        VectorPoint(x, tuple(seeds), setting or VectorSetting(x, 32), 1.0, overlaps=tuple(overlaps))
        for x, seeds in values.items()
    )
    return VectorFindings(plan, (VectorSeries("a series", points),), 0)


def outcome(rule, *args, **kwargs):
    return decide_on_vectors(rule, findings(*args, **kwargs)).outcome


LINE = {1: [100, 104], 2: [200, 190], 5: [500, 510], 10: [1000, 980], 20: [2000, 2010]}
SQUARE = {1: [11, 12], 2: [40, 43], 5: [255, 245], 10: [1010, 1000], 20: [4020, 3990]}


def test_a_line_is_linear_and_a_parabola_is_not():
    assert outcome(GrowsAs(0.9, 1.1), LINE) == "supported"
    assert outcome(GrowsAs(0.9, 1.1), SQUARE) == "not supported"
    assert outcome(GrowsAs(0.9, 1.1), {1: [1], 2: [2], 3: [3]}) == "undecided"


def test_an_interval_that_four_points_do_not_tell_is_not_printed_as_infinite():
    measured = {1: [7, 7], 2: [132, 119], 5: [5107, 5107], 10: [11147, 11704]}
    why = decide_on_vectors(GrowsAs(0.9, 1.1), findings(measured)).why
    assert "too few points for an interval" in why
    assert "inf" not in why


def test_growth_and_decline():
    assert outcome(IncreasesWithSize(), LINE) == "supported"
    assert outcome(IncreasesWithSize(), {1: [100], 2: [50]}) == "not supported"
    assert outcome(IncreasesWithSize(), {1: [100], 2: [99]}) == "undecided"  # within a rung of the ladder
    assert outcome(DecreasesWithSize(), {1: [0.1], 2: [0.01]}) == "supported"


def test_nothing_beyond():
    assert outcome(NothingBeyond(32), {10: [5, 6], 32: [100, 104], 64: [105, 101]}) == "supported"
    assert outcome(NothingBeyond(32), {32: [100, 104], 64: [140, 150]}) == "not supported"
    assert outcome(NothingBeyond(32), {32: [100, 140], 64: [150, 120]}) == "undecided"
    assert outcome(NothingBeyond(32), {10: [1], 31: [2]}) == "undecided"


def test_promise_and_rank():
    setting = VectorSetting(2, 32)
    assert outcome(MeetsPromise(), {2: [63, 64]}, setting) == "supported"
    assert outcome(MeetsPromise(), {2: [63, 62]}, setting) == "not supported"
    assert outcome(NoMoreThanRank(), {2: [63, 63]}, setting) == "supported"
    assert outcome(NoMoreThanRank(), {2: [63, 70]}, setting) == "not supported"


def test_heads_that_ignore_each_other_do_not_specialise():
    assert outcome(HeadsSplitExamples(), {1: [1]}, overlaps=[1.0, 1.1, 0.98, 1.02]) == "not supported"
    assert outcome(HeadsSplitExamples(), {1: [1]}, overlaps=[0.1, 0.2, 0.0, 0.3]) == "supported"
    assert outcome(HeadsSplitExamples(), {1: [1]}, overlaps=[0.2, 1.5, 0.4, 1.3]) == "undecided"
    assert outcome(HeadsSplitExamples(), {1: [1]}) == "undecided"


@pytest.mark.parametrize("figure", MAHDAVI2024, ids=lambda figure: figure.id)
def test_every_claim_has_a_verdict_even_before_anything_was_run(figure):
    empty = VectorFindings(VectorSchedule.of(figure), (), 1)
    assert {verdict.outcome for _, verdict in empty.verdicts} == {"undecided"}


def test_an_unknown_rule_is_an_error():
    with pytest.raises(TypeError, match="no verdict"):
        decide_on_vectors(Rule(), findings(LINE))
