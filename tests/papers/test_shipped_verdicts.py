"""The verdicts that ship: each names a claim that exists, and quick runs of the statements find them again."""

from __future__ import annotations

from pathlib import Path

import pytest

from rote.experiments.ledgers.ledger import TrialRow
from rote.experiments.statements.findings import statement_findings
from rote.experiments.statements.measures import measured_record
from rote.experiments.statements.schedule import StatementSchedule
from rote.papers import FIGURES, figure_named
from rote.papers.kinds.statement_settings import Circle, Distributions, Memorizer
from rote.papers.kinds.statements import Statement, Study
from rote.papers.verdicts import shipped_verdicts, verdicts_on

CLAIMS = {(figure.id, claim.id) for figures in FIGURES.values() for figure in figures for claim in figure.claims}
STATEMENTS = [
    figure
    for figures in FIGURES.values()
    for figure in figures
    if isinstance(figure, Statement) and not isinstance(figure, Study)
]
SLOW = (
    "dana2025.theorem1-checked",
    "dana2025.theorem3-checked",
    "dana2025.proposition1-checked",
    "dana2025.proposition2-checked",
    "kajitsuka2025.theoremF_1-checked",
)


def needs_a_package(statement: Statement) -> bool:
    """Whether a cell reads WordNet or the table of airports, which are not shipped."""
    for cell in statement.cells:
        setting = cell.setting
        kind = getattr(setting, "distributions", None)
        if isinstance(kind, Distributions) and kind.source == "definitions":
            return True
        if isinstance(setting, Memorizer) and setting.texts == "definitions":
            return True
        if isinstance(setting, Circle) and not setting.facts.startswith("countries"):
            return True
    return False


QUICK = [statement for statement in STATEMENTS if not needs_a_package(statement) and statement.id not in SLOW]


def test_every_row_names_an_existing_figure_and_claim():
    for row in shipped_verdicts():
        assert (row.figure, row.claim) in CLAIMS, row
        assert row.verdict in ("holds", "does not", "undecided")
        assert row.numbers
        assert row.command.startswith(f"rote reproduce {row.figure}")


def test_no_claim_is_judged_twice_under_one_protocol():
    named = [(row.figure, row.claim, row.protocol) for row in shipped_verdicts()]
    assert len(named) == len(set(named))


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda statement: statement.id)
def test_every_claim_of_a_statement_is_judged(statement):
    for claim in statement.claims:
        assert len(verdicts_on(statement.id, claim.id)) == 1


def test_claims_that_fail_as_printed_have_a_corrected_one_beside_them_that_holds():
    for figure in ("dana2025.lemma2-checked", "dana2025.theorem3-checked"):
        assert [row.verdict for row in verdicts_on(figure, "as-printed")] == ["does not"]
        assert [row.verdict for row in verdicts_on(figure, "corrected")] == ["holds"]


def test_theorem_2_holds_as_printed_with_the_papers_sign_of_h():
    for claim in ("as-printed", "corrected"):
        assert [row.verdict for row in verdicts_on("dana2025.theorem2-checked", claim)] == ["holds"]


def test_enough_statements_are_run_again():
    assert len(QUICK) >= 8


@pytest.mark.parametrize("id", [statement.id for statement in QUICK])
def test_a_quick_run_finds_the_shipped_verdicts(id):
    statement = figure_named(id)
    assert isinstance(statement, Statement)
    plan = StatementSchedule.of(statement, quick=True)
    trials = [trial for _, trial in plan.trials()]
    rows = {trial.key: TrialRow(trial.cell, trial.seed, measured_record(trial), 0.0, "") for trial in trials}
    findings = statement_findings(plan, rows)
    assert findings.missing == 0
    found = {claim.id: verdict.outcome for claim, verdict in findings.verdicts}
    assert found == {claim.id: verdicts_on(id, claim.id)[0].verdict for claim in statement.claims}


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda statement: statement.id)
def test_the_page_says_what_ships(statement):
    page = (Path(__file__).parents[2] / "docs" / "statements.md").read_text(encoding="utf-8").replace("\\|", "|")
    assert f"`{statement.id}`" in page
    for claim in statement.claims:
        row = verdicts_on(statement.id, claim.id)[0]
        verdict = "**does not**" if row.verdict == "does not" else row.verdict
        assert f"| {claim.statement} | {verdict} | {row.numbers} |" in page
