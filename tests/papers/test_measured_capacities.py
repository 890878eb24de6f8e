"""The capacities that ship: complete, as the page says them, and the shipped verdicts follow from them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rote.experiments.vectors.capacity import thresholds
from rote.experiments.vectors.findings import shipped_findings
from rote.experiments.vectors.search import GAP, rung_of, size
from rote.papers.mahdavi2024.capacity import BY_CONTEXT, BY_HEAD_DIM, BY_HEADS
from rote.papers.mahdavi2024.measured import measured_capacities
from rote.papers.verdicts import verdicts_on

PAGE = Path(__file__).parents[2] / "docs" / "mahdavi2024.md"
FIGURES = (BY_HEADS, BY_CONTEXT, BY_HEAD_DIM)


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.id)
def test_shipped_verdicts_are_made_again_from_every_point(figure):
    findings = shipped_findings(figure)
    assert findings.missing == 0
    for claim, verdict in findings.verdicts:
        (shipped,) = verdicts_on(figure.id, claim.id)
        assert (shipped.claim, shipped.verdict) == (claim.id, verdict.outcome)


def test_each_is_where_a_search_of_a_figure_may_end():
    asked = {
        (setting, threshold) for figure in FIGURES for setting in figure.settings for threshold in thresholds(setting)
    }
    rows = measured_capacities()
    assert {(row.setting, row.threshold) for row in rows} == asked
    assert len({(row.setting, row.threshold, row.seed) for row in rows}) == len(rows) == 2 * len(asked)
    for row in rows:
        low, high = rung_of(row.recalled), rung_of(row.too_many)
        assert (size(low), size(high)) == (row.recalled, row.too_many)
        assert high - low <= GAP or row.too_many - row.recalled == 1


def test_the_page_says_them():
    page = PAGE.read_text()
    for row in measured_capacities():
        assert f"{row.recalled:,} to {row.too_many:,}" in page, row
