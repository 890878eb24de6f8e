"""Claims against invented trials whose law is known: each verdict must come out as the law says."""

from dataclasses import replace

import numpy as np
import pytest

from rote.experiments.ledgers.ledger import TrialRow
from rote.experiments.lookups.findings import lookup_findings
from rote.experiments.lookups.schedule import LookupSchedule
from rote.experiments.lookups.verdicts import decide
from rote.papers import figure_named, figures_named

KEPT = {"loss": 0.1, "parameters": 1, "engine": "none"}
"""What a ledger keeps of a trial besides its accuracy."""


def invented(plan, accuracy, noise=0.002):
    """Rows of a finished run in which a cell's accuracy is a function of it."""
    rng = np.random.default_rng(0)
    rows = []
    for cell in plan.cells:
        for trial in plan.trials_of(cell):
            value = float(np.clip(accuracy(cell) + noise * rng.standard_normal(), 0, 1))
            result = {"published_accuracy": value, "accuracy": 0.9 * value, "diverged_at": None, **KEPT}
            rows.append(TrialRow(trial.cell, trial.seed, result, 1.0, ""))
    return rows


def by_key(rows):
    return {row.key: row for row in rows}


def verdicts(name, accuracy, only=None, **choices):
    plan = LookupSchedule.of(figures_named(f"dana2025.{name}")[0], **choices)
    findings = lookup_findings(plan, by_key(invented(plan, accuracy)))
    return {
        claim.id: decide(claim.rule, findings, "sampled").outcome
        for claim in plan.figure.claims
        if only in (None, claim.id)
    }


@pytest.mark.parametrize(("exponent", "outcome"), [(1.0, "supported"), (0.5, "not supported"), (1.6, "not supported")])
def test_linear_in_heads(exponent, outcome):
    outcomes = verdicts(
        "fig1a",
        lambda cell: 0.05 + 0.004 * cell.spec.dim**1.1 * cell.spec.heads**exponent * 3 ** (1 - exponent),
        quick=True,
    )
    assert outcomes["linear-in-heads"] == outcome


@pytest.mark.parametrize(("scale", "outcome"), [(1.0, "supported"), (0.2, "not supported")])
def test_bound_and_slope(scale, outcome):
    """An accuracy of twice, or a fifth of, what Theorem 1 promises above chance."""
    outcomes = verdicts(
        "fig1a", lambda cell: 0.02 + 2 * scale * 0.98 * (cell.spec.heads + 1) * cell.spec.dim / 2500, quick=True
    )
    assert outcomes["above-bound"] == outcome
    assert outcomes["faster-than-bound"] == outcome


@pytest.mark.parametrize(("off", "protocol", "outcome"), [
    (0.0, "paper", "supported"), (0.05, "paper", "not supported"), (0.05, "fast", "not supported"),
    (-0.05, "fast", "not supported"), (0.02, "fast", "undecided"),
])  # fmt: skip
def test_released_values(off, protocol, outcome):
    outcomes = verdicts("fig4", lambda cell: cell.published + off, protocol=protocol)
    assert outcomes["released-values"] == outcome


def test_variants_are_judged_apart():
    outcomes = verdicts(
        "fig1b",
        lambda cell: 0.1 + 0.006 * cell.x**2 if cell.series == "shared" else 0.1 + 0.25 * cell.x**0.5,
    )
    assert outcomes["quadratic-shared"] == "supported"
    assert outcomes["quadratic-per-head"] == "not supported"


def test_bend_at_head_dim():
    outcomes = verdicts(
        "fig2a",
        lambda cell: 0.2 + 0.06 * (min(cell.x, 10) - 5) if cell.series == "shared" else 0.2 + 0.05 * (cell.x - 5),
    )
    assert outcomes["linear-to-k-shared"] == outcomes["linear-to-k-per-head"] == "supported"
    assert outcomes["flat-beyond-k-shared"] == "supported"
    assert outcomes["flat-beyond-k-per-head"] == "not supported"


def test_a_full_memory_is_not_taken_for_a_flat_law():
    """Accuracy that rises through d = k into its ceiling refutes flatness; one that is full at d = k says nothing."""
    outcomes = verdicts("fig2a", lambda cell: min(1.0, 0.09 * (cell.x if cell.series == "shared" else 2 * cell.x)))
    assert outcomes["flat-beyond-k-shared"] == "not supported"
    assert outcomes["flat-beyond-k-per-head"] == "undecided"


@pytest.mark.parametrize(
    ("power", "cubic", "quadratic"), [(3, "supported", "not supported"), (2, "not supported", "supported")]
)
def test_slopes_against_dimension(power, cubic, quadratic):
    outcomes = verdicts("fig2b", lambda cell: 0.05 + 0.9 * (cell.spec.dim / 13) ** power * cell.spec.heads / 31)
    assert (outcomes["cubic-in-dim"], outcomes["quadratic-in-dim"]) == (cubic, quadratic)


@pytest.mark.parametrize(
    ("lead", "same", "better"),
    [(0.0, "supported", "undecided"), (0.1, "not supported", "supported"), (-0.1, "not supported", "not supported")],
)
def test_attention_against_mlp(lead, same, better):
    def accuracy(cell):
        number = cell.spec.heads if cell.series.startswith("attention") else 1 + cell.spec.width // (2 * cell.spec.dim)
        return 0.2 + 0.01 * number + (lead if cell.series.startswith("MLP") else 0.0)

    outcomes = verdicts("fig3", accuracy)
    assert (outcomes["same-per-parameter"], outcomes["mlp-better"]) == (same, better)


def test_what_has_not_been_run_is_undecided_and_counted():
    plan = LookupSchedule.of(figures_named("dana2025.fig1a")[0], quick=True)
    findings = lookup_findings(plan, {})
    assert findings.missing == 42
    assert {decide(claim.rule, findings, "uniform").outcome for claim in plan.figure.claims} == {"undecided"}


def test_diverged_trials_are_counted_apart():
    plan = LookupSchedule.of(figures_named("dana2025.fig4")[0], quick=True)
    rows = invented(plan, lambda cell: 0.5)
    lost = TrialRow(
        rows[0].cell,
        rows[0].seed,
        {**rows[0].result, "diverged_at": 3, "published_accuracy": None, "accuracy": None},
        1.0,
        "",
    )
    findings = lookup_findings(plan, by_key([lost, *rows[1:]]))
    first = findings.series[0].points[0]
    assert first.diverged == 1
    assert len(first.values["sampled"]) == plan.repeats - 1
    assert findings.missing == 0


def test_cells_of_equal_content_share_their_trials():
    """Rows are matched by content: a cell that two series plot is run once and counted in both."""
    plan = LookupSchedule.of(figure_named("dana2025.fig4"), quick=True, repeats=1)
    twice = replace(plan, cells=(*plan.cells, *(replace(cell, series="again") for cell in plan.cells)))
    rows = by_key(invented(plan, lambda cell: 0.5))
    findings = lookup_findings(twice, rows)
    assert findings.missing == 0
    values = [[point.values["sampled"] for point in series.points] for series in findings.series]
    assert values[0] == values[1]
