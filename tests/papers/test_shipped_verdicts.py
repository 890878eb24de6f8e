"""The verdicts that ship: each names a claim that exists, and quick runs of the statements find them again."""

from __future__ import annotations

from pathlib import Path

import pytest

from pages.verdicts_page import verdicts_page
from rote.experiments.kinds import kind_of, schedule_of
from rote.experiments.ledgers.ledger import TrialRow
from rote.experiments.statements.findings import statement_findings
from rote.experiments.statements.measures import measured_record
from rote.experiments.statements.schedule import StatementSchedule
from rote.papers import FIGURES, figure_named
from rote.papers.claims import OUTCOMES, GrowsAs
from rote.papers.kinds.statement_settings import Circle, Distributions, Memorizer
from rote.papers.kinds.statements import Statement, Study
from rote.papers.open_questions import OPEN_QUESTIONS
from rote.papers.verdicts import BASES, RELEASED, shipped_verdicts, verdicts_on

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
        assert row.verdict in OUTCOMES
        assert row.numbers
        assert row.basis in BASES
        assert row.basis == "run" or row.protocol != RELEASED
        assert row.command.startswith(f"rote reproduce {row.figure}")


def test_no_claim_is_judged_twice_under_one_protocol():
    named = [(row.figure, row.claim, row.protocol) for row in shipped_verdicts()]
    assert len(named) == len(set(named))


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda statement: statement.id)
def test_every_claim_of_a_statement_is_judged(statement):
    for claim in statement.claims:
        assert len(verdicts_on(statement.id, claim.id)) == 1


def test_a_claim_of_the_paper_is_quoted_with_its_place_and_the_text_that_was_read():
    quoted = [c.quotation for figures in FIGURES.values() for f in figures for c in f.claims if c.owner != "rote"]
    assert len(quoted) > 40
    assert all(said is not None and said.words and said.place and said.text for said in quoted)


def test_outcomes_follow_from_what_the_claim_says_of_itself():
    rows = {(row.figure, row.claim): row for row in shipped_verdicts() if row.protocol != RELEASED}
    for figure in (figure for figures in FIGURES.values() for figure in figures):
        for claim in figure.claims:
            row = rows.get((figure.id, claim.id))
            if row is not None:
                assert (row.verdict == "not tested") == bool(claim.cannot_fail), row
                assert row.verdict != "not comparable" or claim.data, row


def test_the_rules_of_every_figure_are_applied_to_what_was_released():
    for figure in (figure for figures in FIGURES.values() for figure in figures if figure.trains):
        judged = kind_of(figure).findings(schedule_of(figure), {}).on_released
        for claim, verdict in zip(figure.claims, judged, strict=True):
            shipped = [row for row in verdicts_on(figure.id, claim.id) if row.protocol == RELEASED]
            assert [row.verdict for row in shipped] == ([] if verdict is None else [verdict.outcome])
    released = {row.figure for row in shipped_verdicts() if row.protocol == RELEASED}
    assert released >= {f"dana2025.fig{name}" for name in ("1a", "1b", "2a", "2b", 3, 4, 5, 6, 7, 8, 9, 10)}


def test_claims_that_fail_as_printed_have_a_corrected_one_beside_them_that_holds():
    for figure, claim in (("dana2025.lemma2-checked", "as-printed"), ("dana2025.theorem3-checked", "any-features")):
        assert [row.verdict for row in verdicts_on(figure, claim)] == ["not supported"]
        assert [row.verdict for row in verdicts_on(figure, "corrected")] == ["supported"]


def test_theorem_2_holds_as_printed_with_the_papers_sign_of_h():
    for claim in ("as-printed", "bound"):
        assert [row.verdict for row in verdicts_on("dana2025.theorem2-checked", claim)] == ["supported"]


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
    for claim, verdict in findings.verdicts:
        shipped = verdicts_on(id, claim.id)[0].verdict
        # Few points have a wide interval, and may leave undecided what all of them settle.
        open_ = ["undecided"] if isinstance(claim.rule, GrowsAs) else []
        assert verdict.outcome in [shipped, *open_], claim.id


def test_the_page_says_what_ships():
    page = (Path(__file__).parents[2] / "docs" / "verdicts.md").read_text(encoding="utf-8")
    assert page == verdicts_page(), "run python tools/write_pages.py"


@pytest.mark.parametrize("study", OPEN_QUESTIONS, ids=lambda study: study.id)
def test_every_claim_of_a_study_is_judged_and_its_page_shows_figure_and_trials(study):
    docs = Path(__file__).parents[2] / "docs"
    page = (docs / "open_questions.md").read_text(encoding="utf-8")
    assert f"`rote reproduce {study.id}`" in page
    for name in (f"{study.id}.png", f"{study.id}.csv"):
        assert f"({name})" in page
        assert (docs / name).is_file()
    assert all(len(verdicts_on(study.id, claim.id)) == 1 for claim in study.claims)
