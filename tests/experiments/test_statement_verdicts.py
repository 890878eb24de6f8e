"""Verdicts on statements: every rule can hold, fail and stay undecided."""

from __future__ import annotations

import pytest

from rote.experiments.statements.findings import StatementFindings, StatementPoint, decide_on_statement
from rote.experiments.statements.schedule import StatementSchedule
from rote.papers import FIGURES, figure_named
from rote.papers.claims import Rule
from rote.papers.kinds.statements import AtMost, Statement, StaysInProportion, number_grows_as


def findings(values, name="one series"):
    """x -> the numbers of its seeds."""
    statement = figure_named("dana2025.theorem2-checked")
    assert isinstance(statement, Statement)
    points = tuple(
        StatementPoint(name, float(x), seed, numbers, 0.1)
        for x, seeds in values.items()
        for seed, numbers in enumerate(seeds)
    )
    return StatementFindings(StatementSchedule.of(statement), points, 0)


def judged(rule, values):
    return decide_on_statement(rule, findings(values))


def test_a_bound_holds_where_every_cell_keeps_it_and_names_the_closest():
    verdict = judged(AtMost("gap", "bound"), {1: [{"gap": 1.0, "bound": 4.0}], 2: [{"gap": 3.0, "bound": 4.0}]})
    assert verdict.outcome == "supported"
    assert "all 2 trials" in verdict.why
    assert "dimension d = 2: gap = 3 against bound = 4" in verdict.why
    assert verdict.numbers["median_share"] == pytest.approx(0.5)


def test_one_cell_above_refutes_and_is_named():
    verdict = judged(AtMost("gap", "bound"), {1: [{"gap": 1.0, "bound": 4.0}], 7: [{"gap": 5.0, "bound": 4.0}]})
    assert verdict.outcome == "not supported"
    assert "fails in 1 of 2 trials, most at one series, dimension d = 7: gap = 5 against bound = 4" in verdict.why


def test_cells_without_both_numbers_say_nothing():
    assert (
        judged(AtMost("gap", "bound"), {1: [{"gap": 9.0, "bound": None}], 2: [{"bound": 1.0}]}).outcome == "undecided"
    )
    mixed = {1: [{"gap": 9.0, "bound": None}], 2: [{"gap": 1.0, "bound": 1.0}]}
    assert judged(AtMost("gap", "bound"), mixed).why == "in all 1 trials, with equality"


def test_rounding_is_forgiven_and_no_more():
    assert judged(AtMost("gap", "bound"), {1: [{"gap": 1 + 1e-12, "bound": 1.0}]}).outcome == "supported"
    assert judged(AtMost("gap", "bound"), {1: [{"gap": 1 + 1e-6, "bound": 1.0}]}).outcome == "not supported"
    assert judged(AtMost(1e-12, "error", within=0), {1: [{"error": 1e-13}]}).outcome == "not supported"
    assert judged(AtMost(1e-12, "error", within=0), {1: [{"error": 1e-11}]}).outcome == "supported"


def test_exponents():
    root = {x: [{"size": 3 * x**0.5}] for x in (16, 64, 256, 1024)}
    assert judged(number_grows_as("size", 0.4, 0.6), root).outcome == "supported"
    assert judged(number_grows_as("size", 0.9, 1.1), root).outcome == "not supported"
    assert judged(number_grows_as("size", 0.4, 0.6), {16: [{"size": 4.0}]}).outcome == "undecided"
    scattered = {x: [{"size": x**0.5 * factor} for factor in (0.3, 3.0)] for x in (16, 24, 32)}
    assert judged(number_grows_as("size", 0.9, 1.1), scattered).outcome == "undecided"


def test_proportions_may_fall_as_x_shrinks_but_not_grow():
    rule = StaysInProportion("gap", "order")
    assert judged(rule, {0.1: [{"gap": 1.0, "order": 1.0}], 0.4: [{"gap": 2.0, "order": 1.0}]}).outcome == "supported"
    assert (
        judged(rule, {0.1: [{"gap": 9.0, "order": 1.0}], 0.4: [{"gap": 2.0, "order": 1.0}]}).outcome == "not supported"
    )
    assert judged(rule, {0.1: [{"gap": 9.0, "order": 1.0}]}).outcome == "undecided"


@pytest.mark.parametrize(
    "statement",
    [figure for figures in FIGURES.values() for figure in figures if isinstance(figure, Statement)],
    ids=lambda statement: statement.id,
)
def test_every_claim_has_a_verdict_even_before_anything_was_run(statement):
    empty = StatementFindings(StatementSchedule.of(statement), (), 1)
    assert {verdict.outcome for _, verdict in empty.verdicts} <= {"undecided", "not tested"}


def test_an_unknown_rule_is_an_error():
    with pytest.raises(TypeError, match="no verdict"):
        decide_on_statement(Rule(), findings({}))
