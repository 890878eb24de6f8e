"""Verdicts on #blocks: every rule can hold, fail and stay undecided."""

import pytest

from rote.experiments.blocks.findings import BlockCurve, BlockFindings, BlockPoint, BlockSeries
from rote.experiments.blocks.schedule import BlockSchedule
from rote.experiments.blocks.verdicts import decide_on_blocks, exponent_of, on_published
from rote.papers import figure_named, figures_named
from rote.papers.claims import Rule
from rote.papers.kajitsuka2025 import KAJITSUKA2025
from rote.papers.kajitsuka2025.smallest import PUBLISHED
from rote.papers.kinds.blocks import BlocksDoNotGrow, MoreBlocksRecallMore, NoMoreThanPublished, blocks_grow_as


def findings(values, figure="kajitsuka2025.blocks"):
    """One series: x -> #blocks of its seeds."""
    points = tuple(
        BlockPoint(x, tuple(seeds), tuple(((16, 0.9),) for _ in seeds), 10, 1.0, tuple(None for _ in seeds))
        for x, seeds in values.items()
    )
    series = (BlockSeries("a series", points),) if points else ()
    return BlockFindings(BlockSchedule.of(figures_named(figure)[0]), series, (), 0)


def outcome(rule, values, figure="kajitsuka2025.blocks"):
    return decide_on_blocks(rule, findings(values, figure)).outcome


ROOT = {100: [2], 225: [3], 400: [4], 900: [6], 1600: [8]}


def test_a_square_root_holds_and_a_line_does_not():
    assert outcome(blocks_grow_as(0.4, 0.6), ROOT) == "supported"
    assert outcome(blocks_grow_as(0.4, 0.6), {100: [1], 200: [2], 400: [4], 800: [8]}) == "not supported"
    assert outcome(blocks_grow_as(0.4, 0.6), {100: [1], 200: [1], 400: [1]}) == "undecided"
    assert outcome(blocks_grow_as(0.4, 0.6), {100: [2], 400: [4]}) == "undecided"


def test_two_points_are_enough_where_they_are_too_steep():
    verdict = decide_on_blocks(blocks_grow_as(0.4, 0.6), findings({400: [1], 800: [None]}))
    assert verdict.outcome == "not supported"
    assert verdict.numbers["a series"]["at_least"] == pytest.approx(4.0)  # 16 times in one doubling


def test_only_the_largest_of_the_floor_counts_and_the_top_of_the_ladder_is_one_sided():
    floor = exponent_of({10: [1], 100: [1], **{4 * N: seeds for N, seeds in ROOT.items()}}, 16)
    assert floor.fitted is not None
    assert floor.fitted > 0.4
    above = exponent_of({**ROOT, 100_000: [None]}, 16)
    assert above.interval is not None
    assert above.interval[0] <= 0.5 <= above.interval[1]  # sqrt(100,000) would need more than 16 too


def test_the_published_values_themselves_grow_faster_than_a_square_root():
    published = exponent_of({N: [blocks] for N, blocks in PUBLISHED}, 16)
    assert published.interval is not None
    assert published.interval[0] > 0.6


def test_growth_with_the_length():
    length = "kajitsuka2025.length"
    assert outcome(BlocksDoNotGrow(), {10: [2], 100: [3], 10_000: [2]}, length) == "supported"
    assert outcome(BlocksDoNotGrow(), {10: [2], 100: [3], 10_000: [6]}, length) == "not supported"
    assert outcome(BlocksDoNotGrow(), {10: [2], 10_000: [None]}, length) == "not supported"
    assert outcome(BlocksDoNotGrow(), {10: [2], 100: [6], 10_000: [2]}, length) == "undecided"
    assert outcome(BlocksDoNotGrow(), {10: [2]}, length) == "undecided"
    published = on_published(BlocksDoNotGrow(), figure_named("kajitsuka2025.length"))
    assert (published.outcome, published.why) == (
        "supported", "read off the figure: 4 at 10, 4 at 100, 4 at 1,000, 4 at 10,000"
    )  # fmt: skip
    assert on_published(BlocksDoNotGrow(), figure_named("kajitsuka2025.fixed")) is None


def test_published_values_are_compared_where_there_are_any():
    assert outcome(NoMoreThanPublished(), {600: [1], 1700: [12]}) == "supported"
    assert outcome(NoMoreThanPublished(), {600: [1], 1700: [None]}) == "not supported"
    assert outcome(NoMoreThanPublished(), {150: [9]}) == "undecided"


def test_deeper_networks():
    def judged(best):
        curves = tuple(BlockCurve(blocks, (share,), (0.1,), ((),), ((0.1, 1),), 1.0) for blocks, share in best.items())
        plan = BlockSchedule.of(figures_named("kajitsuka2025.three-classes")[0])
        return decide_on_blocks(MoreBlocksRecallMore(), BlockFindings(plan, (), curves, 0)).outcome

    assert judged({1: 0.9, 10: 0.95, 20: 0.96}) == "supported"
    assert judged({1: 0.9, 10: 0.95, 20: 0.9}) == "undecided"
    assert judged({1: 0.9, 10: 0.9, 20: 0.8}) == "not supported"
    assert judged({10: 0.9}) == "undecided"


@pytest.mark.parametrize("figure", KAJITSUKA2025, ids=lambda figure: figure.id)
def test_every_claim_has_a_verdict_even_before_anything_was_run(figure):
    empty = BlockFindings(BlockSchedule.of(figure), (), (), 1)
    assert {verdict.outcome for _, verdict in empty.verdicts} <= {"undecided", "not comparable"}


def test_an_unknown_rule_is_an_error():
    with pytest.raises(TypeError, match="no verdict"):
        decide_on_blocks(Rule(), findings(ROOT))


def test_an_arrow_shows_where_no_ladder_sufficed():
    (chart,) = findings({400: [1, 2], 800: [None, 4]}).charts().values()
    arrows = [series for series in chart.series if series.style == "arrows" and series.marks]
    assert [(series.name, len(series.marks)) for series in arrows] == [("a series: more than 16", 1)]
    assert arrows[0].marks[0].y > 16
    (complete,) = findings({400: [1]}).charts().values()
    assert not any(series.style == "arrows" for series in complete.series)
