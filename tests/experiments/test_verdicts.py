"""Claims against invented trials whose law is known: each verdict must come out as the law says."""

import numpy as np
import pytest

from rote.experiments.figure_plan import FigurePlan
from rote.experiments.ledger import TrialRow
from rote.experiments.reproduce import arranged
from rote.experiments.sweeps import sweep_laws
from rote.experiments.verdicts import decide
from rote.papers import figures_named


def invented(plan, accuracy, noise=0.002):
    """Rows of a finished run in which a cell's accuracy is a function of it."""
    rng = np.random.default_rng(0)
    rows = []
    for cell in plan.cells:
        for seed in range(plan.repeats):
            value = float(np.clip(accuracy(cell) + noise * rng.standard_normal(), 0, 1))
            result = {"published_accuracy": value, "accuracy": 0.9 * value, "diverged_at": None, "engine": "none"}
            rows.append(TrialRow(plan.ledger_cell(cell), seed, result, 1.0, ""))
    return rows


def verdicts(name, accuracy, only=None, **choices):
    plan = FigurePlan.of(figures_named(f"dana2025.{name}")[0], **choices)
    found, _ = arranged(plan, invented(plan, accuracy))
    return {
        claim.id: decide(claim.rule, found, "sampled").outcome
        for claim in plan.figure.claims
        if only in (None, claim.id)
    }


@pytest.mark.parametrize(("exponent", "outcome"), [(1.0, "holds"), (0.5, "does not"), (1.6, "does not")])
def test_linear_in_heads(exponent, outcome):
    found = verdicts(
        "fig1a",
        lambda cell: 0.05 + 0.004 * cell.spec.dim**1.1 * cell.spec.heads**exponent * 3 ** (1 - exponent),
        quick=True,
    )
    assert found["linear-in-heads"] == outcome


@pytest.mark.parametrize(("scale", "outcome"), [(1.0, "holds"), (0.2, "does not")])
def test_bound_and_slope(scale, outcome):
    """An accuracy of twice, or a fifth of, what Theorem 1 promises above chance."""
    found = verdicts(
        "fig1a", lambda cell: 0.02 + 2 * scale * 0.98 * (cell.spec.heads + 1) * cell.spec.dim / 2500, quick=True
    )
    assert found["above-bound"] == outcome
    assert found["faster-than-bound"] == outcome


@pytest.mark.parametrize(("off", "protocol", "outcome"), [
    (0.0, "paper", "holds"), (0.05, "paper", "does not"), (0.03, "fast", "holds"), (-0.03, "fast", "does not"),
])  # fmt: skip
def test_released_values(off, protocol, outcome):
    found = verdicts("fig4", lambda cell: cell.published + off, protocol=protocol)
    assert found["released-values"] == outcome


def test_variants_are_judged_apart():
    found = verdicts(
        "fig1b",
        lambda cell: 0.1 + 0.006 * cell.x**2 if cell.series == "shared" else 0.1 + 0.25 * cell.x**0.5,
    )
    assert found["quadratic-shared"] == "holds"
    assert found["quadratic-per-head"] == "does not"


def test_bend_at_head_dim():
    found = verdicts(
        "fig2a",
        lambda cell: 0.2 + 0.06 * (min(cell.x, 10) - 5) if cell.series == "shared" else 0.2 + 0.05 * (cell.x - 5),
    )
    assert found["linear-to-k-shared"] == found["linear-to-k-per-head"] == "holds"
    assert found["flat-beyond-k-shared"] == "holds"
    assert found["flat-beyond-k-per-head"] == "does not"


def test_a_full_memory_is_not_taken_for_a_flat_law():
    """Accuracy that rises through d = k into its ceiling refutes flatness; one that is full at d = k says nothing."""
    found = verdicts("fig2a", lambda cell: min(1.0, 0.09 * (cell.x if cell.series == "shared" else 2 * cell.x)))
    assert found["flat-beyond-k-shared"] == "does not"
    assert found["flat-beyond-k-per-head"] == "undecided"


@pytest.mark.parametrize(("power", "cubic", "quadratic"), [(3, "holds", "does not"), (2, "does not", "holds")])
def test_slopes_against_dimension(power, cubic, quadratic):
    found = verdicts("fig2b", lambda cell: 0.05 + 0.9 * (cell.spec.dim / 13) ** power * cell.spec.heads / 31)
    assert (found["cubic-in-dim"], found["quadratic-in-dim"]) == (cubic, quadratic)


@pytest.mark.parametrize(
    ("lead", "same", "better"),
    [(0.0, "holds", "undecided"), (0.1, "does not", "holds"), (-0.1, "does not", "does not")],
)
def test_attention_against_mlp(lead, same, better):
    def accuracy(cell):
        number = cell.spec.heads if cell.series.startswith("attention") else 1 + cell.spec.width // (2 * cell.spec.dim)
        return 0.2 + 0.01 * number + (lead if cell.series.startswith("MLP") else 0.0)

    found = verdicts("fig3", accuracy)
    assert (found["same-per-parameter"], found["mlp-better"]) == (same, better)


def test_what_has_not_been_run_is_undecided_and_counted():
    plan = FigurePlan.of(figures_named("dana2025.fig1a")[0], quick=True)
    found, used = arranged(plan, [])
    assert (found.missing, used) == (42, [])
    assert {decide(claim.rule, found, "uniform").outcome for claim in plan.figure.claims} == {"undecided"}


def test_diverged_trials_are_counted_apart():
    plan = FigurePlan.of(figures_named("dana2025.fig4")[0], quick=True)
    rows = invented(plan, lambda cell: 0.5)
    lost = TrialRow(
        rows[0].cell,
        rows[0].seed,
        {**rows[0].result, "diverged_at": 3, "published_accuracy": None, "accuracy": None},
        1.0,
        "",
    )
    found, _ = arranged(plan, [lost, *rows[1:]])
    first = found.series[0].places[0]
    assert first.diverged == 1
    assert len(first.values["sampled"]) == plan.repeats - 1
    assert found.missing == 0


def test_sweeps_find_the_exponents_in_a_run():
    plan = FigurePlan.of(figures_named("dana2025.fig1a")[0], repeats=1)
    rows = invented(plan, lambda cell: 0.02 + 0.9 * (cell.spec.dim / 13) ** 2 * cell.spec.heads / 31, noise=0.0005)
    kept = [
        row for row in rows if row.cell["spec"]["dim"] in (5, 7, 9, 11) and row.cell["spec"]["heads"] in (1, 11, 21, 31)
    ]
    told = sweep_laws(kept, "sampled", ("power",))
    heads = [one.power.values["exponent"] for one in told if one.sweep.size == "heads" and one.power]
    square = [one.power.values["exponent"] for one in told if one.sweep.size == "dim = head_dim" and one.power]
    assert heads == pytest.approx([1] * 4, abs=0.1)
    assert len(square) == 4
    assert square[-1] == pytest.approx(2, abs=0.1)
