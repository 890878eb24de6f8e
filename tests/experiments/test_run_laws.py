"""Sweeps and their laws, from invented trials whose law is known."""

import numpy as np
import pytest

from rote.errors import InputError
from rote.experiments.ledgers.ledger import Ledger, TrialRow
from rote.experiments.lookups.schedule import LookupSchedule
from rote.experiments.runs.laws import fit_run
from rote.experiments.size_laws import sweep_laws, sweeps
from rote.papers import figure_named

KEPT = {"loss": 0.1, "parameters": 1, "engine": "none"}
"""What a ledger keeps of a trial besides its accuracy."""


def invented(plan, accuracy, noise=0.0005):
    """Rows of a finished run in which a cell's accuracy is a function of it."""
    rng = np.random.default_rng(0)
    rows = []
    for cell in plan.cells:
        for trial in plan.trials_of(cell):
            value = float(np.clip(accuracy(cell) + noise * rng.standard_normal(), 0, 1))
            result = {"published_accuracy": value, "accuracy": 0.9 * value, "diverged_at": None, **KEPT}
            rows.append(TrialRow(trial.cell, trial.seed, result, 1.0, ""))
    return rows


def write(folder, plan, rows):
    with Ledger.open(folder, plan.identity, {}) as ledger:
        for row in rows:
            ledger.record(row.cell, row.seed, row.result, row.seconds)


def test_sweeps_find_the_exponents_in_a_run():
    plan = LookupSchedule.of(figure_named("dana2025.fig1a"), repeats=1)
    rows = invented(plan, lambda cell: 0.02 + 0.9 * (cell.spec.dim / 13) ** 2 * cell.spec.heads / 31)
    kept = [
        row for row in rows if row.cell["spec"]["dim"] in (5, 7, 9, 11) and row.cell["spec"]["heads"] in (1, 11, 21, 31)
    ]
    laws = sweep_laws(kept, "sampled", ("power",))
    heads = [law.power.values["exponent"] for law in laws if law.sweep.size == "heads" and law.power]
    square = [law.power.values["exponent"] for law in laws if law.sweep.size == "dim = head_dim" and law.power]
    assert heads == pytest.approx([1] * 4, abs=0.1)
    assert len(square) == 4
    assert square[-1] == pytest.approx(2, abs=0.1)


def number_of_heads(spec):
    """Heads, or those that an MLP stands for."""
    return spec.heads if spec.architecture == "attention-only" else 1 + spec.width // (2 * spec.dim)


def test_attention_and_mlp_of_one_run_are_swept_apart(tmp_path):
    """Figure 3 has both, at the same sizes: linear for the one and a square root for the other must both be seen."""
    plan = LookupSchedule.of(figure_named("dana2025.fig3"), repeats=1)

    def accuracy(cell):
        exponent = 1.0 if cell.spec.architecture == "attention-only" else 0.5
        return 0.02 + 0.8 * (number_of_heads(cell.spec) / 40) ** exponent

    rows = [row for row in invented(plan, accuracy) if row.cell["spec"]["dim"] == 7]
    write(tmp_path, plan, rows)
    laws = fit_run(tmp_path, "sampled")
    assert {(law.sweep.architecture, law.sweep.size) for law in laws.laws} == {
        ("attention-only", "heads"),
        ("mlp-transformer", "width"),
    }
    exponents = {(size.architecture, size.size): size.median_exponent for size in laws.sizes}
    assert exponents["attention-only", "heads"] == pytest.approx(1, abs=0.1)
    assert exponents["mlp-transformer", "width"] < 0.7
    document = laws.summary()
    assert document["trials"] == len(rows)
    assert document["experiment"] == "dana2025.fig3"
    assert [size["architecture"] for size in document["sizes"]] == ["attention-only", "mlp-transformer"]


def test_a_size_that_both_architectures_vary_has_a_law_for_each():
    plan = LookupSchedule.of(figure_named("dana2025.fig3"), repeats=1)
    rows = []
    for row in invented(plan, lambda cell: 0.3):
        if row.cell["spec"]["dim"] == 7 and row.cell["spec"].get("width") in (None, 0):
            rows += [
                TrialRow({**row.cell, "spec": {**row.cell["spec"], "heads": heads}}, 0, row.result, 1.0, "")
                for heads in (1, 2, 3, 4)
            ]
    unique = list({row.key: row for row in rows}.values())
    assert [(sweep.architecture, sweep.size) for sweep in sweeps(unique)] == [
        ("attention-only", "heads"),
        ("mlp-transformer", "heads"),
    ]


def test_models_that_were_trained_otherwise_are_no_sweep():
    plan = LookupSchedule.of(figure_named("dana2025.fig4"), quick=True, repeats=1)
    rows = invented(plan, lambda cell: 0.3)
    assert [len(sweep.points.x) for sweep in sweeps(rows)] == [6]
    longer = [
        TrialRow({**row.cell, "protocol": {**row.cell["protocol"], "steps": 9}}, 0, row.result, 1.0, "")
        for row in rows[:3]
    ]
    assert sweeps([*longer, *rows[3:]]) == []


def test_a_run_without_a_sweep_says_so(tmp_path):
    plan = LookupSchedule.of(figure_named("dana2025.fig4"), quick=True, repeats=1)
    rows = invented(plan, lambda cell: 0.3)
    write(tmp_path, plan, rows[:2])
    with pytest.raises(InputError, match="2 trials make no sweep of 4 values"):
        fit_run(tmp_path)


def test_a_weighting_that_was_not_kept_is_named():
    plan = LookupSchedule.of(figure_named("dana2025.fig4"), quick=True, repeats=1)
    rows = [
        TrialRow(row.cell, row.seed, {"accuracy": 0.3, "diverged_at": None, **KEPT}, 1.0, "")
        for row in invented(plan, lambda cell: 0.3)
    ]
    with pytest.raises(InputError, match="weighting=sampled"):
        sweeps(rows, "sampled")
