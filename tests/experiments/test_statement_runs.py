"""Runs of statements: they resume, do not depend on workers, and end in a figure, a report and verdicts."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from rote.cli import main
from rote.experiments.ledgers.ledger import TrialRow
from rote.experiments.reproduce import reproduce
from rote.experiments.statements.findings import statement_findings
from rote.experiments.statements.measures import measured_record
from rote.experiments.statements.schedule import StatementSchedule, StatementTrial
from rote.papers import FIGURES
from rote.papers.kinds.statement_settings import (
    AttentionLayer,
    BestEncoder,
    Distributions,
    Memorizer,
    QueryAttentionRank,
)
from rote.papers.mahdavi2024.statements import PROPOSITION_2
from rote.report.reproduction import ReproducedFigure

SMALL = replace(
    PROPOSITION_2,
    id="mahdavi2024.small-checked",
    cells=tuple(cell for cell in PROPOSITION_2.cells if cell.x <= 2),
    quick=(1,),
)


def numbers(setting, seed=0):
    return measured_record(StatementTrial(setting, seed))["numbers"]


def test_a_run_goes_on_where_it_stopped_and_workers_change_nothing(tmp_path):
    first = reproduce(StatementSchedule.of(SMALL, quick=True), tmp_path / "one", workers=1)
    assert (first.trials, first.trained) == (6, 6)
    whole = reproduce(StatementSchedule.of(SMALL), tmp_path / "one", workers=1)
    assert (whole.trials, whole.trained) == (24, 18)
    assert whole.findings.missing == 0
    other = reproduce(StatementSchedule.of(SMALL), tmp_path / "other", workers=3)
    assert [point.numbers for point in other.findings.evaluated] == [
        point.numbers for point in whole.findings.evaluated
    ]


def test_numbers_of_older_ledgers_are_read_by_their_new_name():
    schedule = StatementSchedule.of(SMALL, repeats=1)
    (_, trial), *_ = schedule.trials()
    rows = {trial.key: TrialRow(trial.cell, trial.seed, {"numbers": {"promised": 8, "rank": 7}}, 0.1, "")}
    assert statement_findings(schedule, rows).evaluated[0].numbers == {"guaranteed": 8, "rank": 7}


def test_the_command_checks_a_statement(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(FIGURES, "mahdavi2024", (SMALL,))
    run = ["reproduce", SMALL.id, "-o", str(tmp_path / "run"), "--workers", "1", "--repeats", "1"]
    assert main([*run, "--json", "--quick"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert {claim["id"]: claim["verdict"] for claim in document["claims"]}["at-most"] == "supported"
    assert document["points"][0]["rank"] == document["points"][0]["guaranteed"] == 8
    assert main(run) == 0
    shown = capsys.readouterr().out
    assert "NOT SUPPORTED  With k < n the rank is at most" in shown
    assert "protocol" not in shown
    page = (tmp_path / "run" / "report.html").read_text()
    assert page.count("<svg") == 1
    assert "With k &lt; n the rank is at most" in page
    assert main(["runs", "fit", str(tmp_path / "run")]) == 2
    assert "its trials train no models" in capsys.readouterr().err
    assert main([*run, "--strict"]) == 1
    capsys.readouterr()
    assert main([*run, "--protocol", "paper"]) == 2
    assert "--protocol paper: nothing is trained" in capsys.readouterr().err


def test_the_figure_has_a_panel_for_each_series_and_a_line_for_each_number(tmp_path):
    ended = reproduce(StatementSchedule.of(SMALL, repeats=1), tmp_path, workers=1)
    figure = ReproducedFigure.of(ended, ("png",))
    assert [path.name for path in figure.files] == ["mahdavi2024.small-checked.png"]
    panels = figure.figure().axes
    assert [panel.get_title(loc="left") for panel in panels] == list(ended.findings.series)
    assert all(len(panel.get_lines()) == len(SMALL.lines) for panel in panels)
    assert figure.frame().height == 12


def test_a_cell_that_fails_is_named_and_the_others_go_on(tmp_path, monkeypatch):
    broken = QueryAttentionRank(0, 8, 8, 16)
    cells = (replace(SMALL.cells[0], setting=broken, x=9.0), *SMALL.cells)
    ended = reproduce(StatementSchedule.of(replace(SMALL, cells=cells), repeats=1), tmp_path, workers=1)
    assert ended.findings.missing == 1
    assert len(ended.failed) == 1


RANDOM = Distributions("random", 6, 20, "zipf")


def test_from_enough_dimensions_on_an_encoder_is_exact_and_below_it_is_not():
    assert abs(numbers(BestEncoder(RANDOM, 5))["divergence_at_enough"]) < 1e-12
    below = numbers(BestEncoder(RANDOM, 2))
    assert below["divergence_at_enough"] is None
    assert 0 < below["divergence_below"] < below["uniform"]


def test_a_layer_is_exact_with_heads_for_all_contexts_and_bounded_with_fewer():
    whole = numbers(AttentionLayer(RANDOM, 3, 3, 0.0))
    assert whole["exact_gap"] < 1e-9
    assert "bound" not in whole
    fewer = numbers(AttentionLayer(RANDOM, 3, 3, 0.3))
    assert 0 < fewer["epsilon"] <= 0.3
    assert fewer["convex_gap"] <= fewer["proof_gap"] <= fewer["bound"]
    assert fewer["convex"] < fewer["uniform"]


@pytest.mark.parametrize("prior", ["uniform", "own"])
def test_real_names_are_the_same_for_every_seed_and_random_ones_are_not(prior):
    names = BestEncoder(Distributions("names", None, 20, prior, noise=0.01), 40)
    assert numbers(names, 0)["uniform"] == numbers(names, 1)["uniform"]
    assert numbers(BestEncoder(RANDOM, 5), 0)["uniform"] != numbers(BestEncoder(RANDOM, 5), 1)["uniform"]


def test_words_of_few_bits_cost_parameters_and_a_sum_saves_the_snap():
    exact, short = numbers(Memorizer("random", 1024, 6)), numbers(Memorizer("random", 1024, 6, bits=18))
    assert exact["recalled"] == short["recalled"] == 1024
    assert short["longest_word"] <= 18 < exact["longest_word"]
    assert short["parameters"] > exact["parameters"]
    assert numbers(Memorizer("random", 1024, 6, mixing="sum"))["parameters"] < exact["parameters"]
