"""Statements as data: ids of their own, claims about numbers that their cells have, settings that can be recorded."""

from __future__ import annotations

import json

import pytest

from rote.constructions import CONSTRUCTIONS
from rote.errors import InputError
from rote.experiments.kind import RunChoices
from rote.experiments.reproduce import schedules
from rote.experiments.statements.measures import MEASURES
from rote.experiments.statements.schedule import StatementSchedule
from rote.papers import FIGURES, figure_named, figures_named
from rote.papers.kinds.statement_settings import Setting
from rote.papers.kinds.statements import Statement, Study
from rote.theory import RESULTS

STATEMENTS = [
    figure
    for figures in FIGURES.values()
    for figure in figures
    if isinstance(figure, Statement) and not isinstance(figure, Study)
]
every_statement = pytest.mark.parametrize("statement", STATEMENTS, ids=lambda statement: statement.id)


def test_ids_are_of_no_result_construction_or_other_figure():
    ids = [figure.id for figures in FIGURES.values() for figure in figures]
    assert len(ids) == len(set(ids))
    assert not {statement.id for statement in STATEMENTS} & {*RESULTS, *CONSTRUCTIONS}
    assert all(statement.id.endswith("-checked") for statement in STATEMENTS)


def test_every_kind_of_setting_is_measured():
    assert set(MEASURES) == set(Setting.__args__)


@every_statement
def test_a_statement_has_claims_lines_and_cells_that_differ(statement):
    assert len({claim.id for claim in statement.claims}) == len(statement.claims) > 0
    assert all(claim.rule.in_words for claim in statement.claims)
    assert any(line.bound for line in statement.lines)
    assert any(not line.bound for line in statement.lines)
    trials = [trial for _, trial in StatementSchedule.of(statement).trials()]
    assert len({trial.key for trial in trials}) == len(trials)
    assert all(json.loads(trial.key.cell)["setting"] for trial in trials)


@every_statement
def test_quick_keeps_some_cells_of_every_series_and_costs_no_more(statement):
    quick, whole = StatementSchedule.of(statement, quick=True), StatementSchedule.of(statement)
    assert {cell.series for cell in quick.cells} == {cell.series for cell in whole.cells}
    assert 0 < len(quick.trials()) < len(whole.trials())
    assert 0 < statement.quick_seconds <= statement.seconds


def test_all_statements_are_estimated_below_five_minutes_and_quick_ones_below_one():
    assert sum(statement.seconds for statement in STATEMENTS) < 300
    assert sum(statement.quick_seconds for statement in STATEMENTS) < 60


def test_statements_are_named_one_by_one_or_all_of_a_paper():
    assert figure_named("dana2025.theorem2-checked").id == "dana2025.theorem2-checked"
    named = figures_named("mahdavi2024.statements")
    assert [figure.id for figure in named] == ["mahdavi2024.theorem1-checked", "mahdavi2024.proposition2-checked"]
    assert set(named) < set(figures_named("mahdavi2024"))
    with pytest.raises(InputError, match="names 2 figures"):
        figure_named("mahdavi2024.statements")


def test_a_protocol_is_refused_where_nothing_is_trained(tmp_path):
    with pytest.raises(InputError, match=r"`protocol=paper`: nothing is trained"):
        schedules("dana2025.theorem2-checked", tmp_path, RunChoices("paper"))
    with pytest.raises(InputError, match=r"`repeats=0`: must be at least 1"):
        schedules("dana2025.theorem2-checked", tmp_path, RunChoices(repeats=0))
    scheduled = [schedule for schedule, _ in schedules("mahdavi2024", tmp_path, RunChoices("paper"))]
    assert sum(isinstance(schedule, StatementSchedule) for schedule in scheduled) == 2
