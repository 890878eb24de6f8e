"""Runs about #blocks over the ledger: resumed where they stopped, with the same table; drawn, judged and shown."""

import json

import numpy as np
import polars
import pytest

from rote.cli import main
from rote.errors import InputError
from rote.experiments.blocks import queue
from rote.experiments.blocks import queue as block_queue
from rote.experiments.blocks.kind import block_cost
from rote.experiments.blocks.queue import FILE, Studies
from rote.experiments.blocks.schedule import BlockSchedule
from rote.experiments.blocks.trial import BlockTrial, Proposal, Tried, proposals
from rote.experiments.ledgers.ledger import Ledger
from rote.experiments.reproduce import reproduce
from rote.papers import FIGURES, figures_named
from rote.papers.claims import Claim
from rote.papers.kajitsuka2025 import KAJITSUKA2025
from rote.papers.kajitsuka2025.choices import LEARNING_RATES, WARM_UPS
from rote.papers.kinds.blocks import (
    BlockCurvesFigure,
    BlocksDoNotGrow,
    BlockSearch,
    MoreBlocksRecallMore,
    RandomSequences,
    SmallestBlocksFigure,
    TextSequences,
    blocks_grow_as,
)
from rote.report.reproduction import ReproducedFigure

pytest.importorskip("optuna")

TEXT = TextSequences(5, classes=2, context=4)
SMALL = SmallestBlocksFigure(
    "kajitsuka2025.small",
    "Small",
    "sequences",
    (BlockSearch(TEXT, 6), BlockSearch(TEXT, 20)),
    (1, 2),
    (Claim("grows", "It grows", blocks_grow_as(0.4, 0.6)),),
    trials=7,
    quick=(6,),
)
LENGTHS = SmallestBlocksFigure(
    "kajitsuka2025.lengths",
    "Lengths",
    "context",
    tuple(BlockSearch(RandomSequences(context, 10, 2, 4), 8) for context in (2, 40)),
    (1, 2),
    (Claim("flat", "It stays", BlocksDoNotGrow()),),
    trials=5,
    quick=(2, 40),
)
CURVES = BlockCurvesFigure(
    "kajitsuka2025.curved",
    "Curves",
    TEXT,
    12,
    (1, 2),
    (1,),
    (Claim("deeper", "Deeper is better", MoreBlocksRecallMore()),),
)


@pytest.fixture(autouse=True)
def brief(monkeypatch):
    """Trainings of a few steps: what a run does with them is the matter here."""
    monkeypatch.setattr(queue, "STEPS", 30)


@pytest.fixture
def no_studies(monkeypatch):
    """Studies in memory: making their tables takes longer than the trainings."""
    monkeypatch.setattr(block_queue, "Studies", lambda folder: Studies(None))


@pytest.fixture
def texts(tmp_path):
    rng = np.random.default_rng(0)
    words = ["red", "blue", "house", "tree", "runs", "sleeps", "far", "near"]
    rows = [(" ".join(rng.choice(words, 6)), int(rng.integers(2))) for _ in range(200)]
    path = tmp_path / "texts.csv"
    polars.DataFrame(rows, schema=["text", "label"], orient="row").write_csv(path)
    return str(path)


def table(done):
    return [
        (series.name, point.x, point.smallest, point.tried)
        for series in done.findings.series
        for point in series.points
    ]


@pytest.mark.usefixtures("no_studies")
def test_a_run_that_was_killed_goes_on_to_the_same_table(tmp_path, monkeypatch, texts):
    plan = BlockSchedule.of(SMALL, texts=texts)
    whole = reproduce(plan, tmp_path / "one", workers=1)
    rows = Ledger.read(tmp_path / "one")[1]
    assert {point.x for series in whole.findings.series for point in series.points} == {6, 20}
    record, recorded = Ledger.record, []

    def killed(self, *arguments):
        recorded.append(1)
        if len(recorded) == 5:
            raise KeyboardInterrupt
        return record(self, *arguments)

    monkeypatch.setattr(Ledger, "record", killed)
    with pytest.raises(KeyboardInterrupt):
        reproduce(plan, tmp_path / "cut", workers=1)
    assert len(Ledger.read(tmp_path / "cut")[1]) == 4  # in the middle of a stack
    resumed = reproduce(plan, tmp_path / "cut", workers=1)
    assert table(resumed) == table(whole)
    again = Ledger.read(tmp_path / "cut")[1]
    timeless = [(row.key, {name: row.result[name] for name in row.result if name != "seconds"}) for row in rows]
    assert [
        (row.key, {name: row.result[name] for name in row.result if name != "seconds"}) for row in again
    ] == timeless
    monkeypatch.setattr(queue, "train_stack", None)  # nothing is trained twice
    assert table(reproduce(plan, tmp_path / "cut", workers=1)) == table(whole)


def test_the_studies_hold_what_the_ledger_does(tmp_path, texts):
    import optuna

    reproduce(BlockSchedule.of(SMALL, texts=texts), tmp_path, workers=1)
    trained = [row for row in Ledger.read(tmp_path)[1] if "blocks" in row.cell]
    storage = f"sqlite:///{tmp_path / FILE}"
    studies = [optuna.load_study(study_name=name, storage=storage) for name in optuna.get_all_study_names(storage)]
    assert sum(len(study.trials) for study in studies) == len(trained)
    assert {study.best_value for study in studies} <= {row.result["accuracy"] for row in trained}
    assert {tuple(trial.params.values()) for study in studies for trial in study.trials} == {
        (row.result["learning_rate"], row.result["warm_up"]) for row in trained
    }


def test_studies_are_kept_without_a_folder_too():
    studies = Studies(None)
    studies.keep("one", [Tried(Proposal(0.01, 5), 0.5)])
    studies.keep("one", [Tried(Proposal(0.01, 5), 0.5), Tried(Proposal(0.02, 6), 0.6)])
    assert studies._kept == {"one": 2}


def test_proposals_depend_on_what_was_tried_and_on_the_seed_alone():
    first = proposals((), 5, 1)
    assert first == proposals.__wrapped__((), 5, 1)
    assert first != proposals((), 5, 2)
    for proposal in first:
        assert LEARNING_RATES[0] <= proposal.learning_rate <= LEARNING_RATES[1]
        assert WARM_UPS[0] <= proposal.warm_up <= WARM_UPS[1]
    well = tuple(Tried(proposal, -abs(np.log(proposal.learning_rate / 0.01))) for proposal in first)
    later = proposals(well, 5, 1)
    assert later != first
    assert later == proposals.__wrapped__(well, 5, 1)


@pytest.mark.usefixtures("no_studies")
def test_lengths_are_searched_on_random_tokens(tmp_path):
    done = reproduce(BlockSchedule.of(LENGTHS), tmp_path, workers=1)
    assert [point.x for series in done.findings.series for point in series.points] == [2, 40]
    assert done.findings.verdicts[0][1].outcome in ("supported", "not supported", "undecided")
    problem = queue.random_problem(RandomSequences(40, 10, 2, 4), 8, 0)
    assert problem.shares.sum(0).allclose(problem.shares.sum(0)[:1].new_ones(8))
    assert (problem.shares[problem.first, range(8)] * 40).round().eq(1).all()


@pytest.mark.usefixtures("no_studies")
def test_figures_are_drawn_and_summed_up(tmp_path, texts):
    for figure in (SMALL, LENGTHS, CURVES):
        done = reproduce(BlockSchedule.of(figure, quick=True, texts=texts), tmp_path / figure.id, workers=2)
        drawn = list(ReproducedFigure.of(done, ("png", "svg")).files)
        assert [path.suffix for path in drawn] == [".png", ".svg"]
        assert all(path.stat().st_size > 1000 for path in drawn)
        document = json.loads(json.dumps(done.summary()))
        assert document["missing"] == 0
        assert document["points"]
    assert document["points"][0]["blocks"] == 1


@pytest.mark.usefixtures("no_studies")
def test_what_is_built_recalls_the_same_sequences(tmp_path, texts):
    done = reproduce(BlockSchedule.of(SMALL, quick=True, texts=texts), tmp_path, workers=1)
    built = done.findings.series[0].points[0].built
    assert built["exact"]["recalled"] == built["float"]["recalled"] == 6


def test_a_fixed_embedding_is_no_parameter_and_the_same_for_all_trials(texts):
    trial = BlockTrial(TextSequences(5, "fixed", 2, 4), 6, 1, 0, 0)
    problem, shape = queue.problem_of(trial, texts)
    again, _ = queue.problem_of(BlockTrial(trial.kind, 6, 2, 3, 0), texts)
    assert shape.embedding_parameters == 0
    assert problem.table is not None
    assert problem.table.equal(again.table)


@pytest.mark.parametrize("figure", KAJITSUKA2025, ids=lambda figure: figure.id)
def test_every_figure_can_be_planned_and_costs_less_when_quick(figure):
    for protocol in ("fast", "paper"):
        trials, seconds = block_cost(BlockSchedule.of(figure, protocol=protocol))
        assert trials > 0
        assert seconds > 0
    assert block_cost(BlockSchedule.of(figure, quick=True))[1] < block_cost(BlockSchedule.of(figure))[1]
    with pytest.raises(InputError, match=r"`protocol=best`: .*; repeats: 0 must be at least 1"):
        BlockSchedule.of(figure, protocol="best", repeats=0)


def test_the_whole_paper_is_estimated_below_forty_minutes_of_one_core():
    assert sum(block_cost(BlockSchedule.of(figure))[1] for figure in KAJITSUKA2025) < 40 * 60


def test_figures_are_found_by_their_names():
    assert figures_named("kajitsuka2025") == list(FIGURES["kajitsuka2025"])
    with pytest.raises(InputError, match="no such paper or figure"):
        figures_named("kajitsuka2025.fig7")


@pytest.mark.usefixtures("no_studies")
def test_the_command_reproduces_a_figure(tmp_path, monkeypatch, capsys, texts):
    monkeypatch.setitem(FIGURES, "kajitsuka2025", (SMALL,))
    run = ["reproduce", "kajitsuka2025.small", "--laptop", "-o", str(tmp_path / "run"), "--workers", "1"]
    assert main([*run, "--texts", texts, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["figure"] == "kajitsuka2025.small"
    assert main([*run, "--texts", texts]) == 0
    shown = capsys.readouterr().out
    assert "It grows" in shown
    assert "QUICK" in shown
    page = (tmp_path / "run" / "report.html").read_text()
    assert page.count("<svg") == 1
    assert all(text in page for text in ("It grows", "smallest #blocks", "rote reproduce kajitsuka2025.small"))
    assert main([*run, "--texts", str(tmp_path / "none.csv")]) == 2
    assert "no such file" in capsys.readouterr().err
    assert main(["reproduce", "mahdavi2024.heads", "--texts", "wordnet"]) == 2
    assert "not about texts" in capsys.readouterr().err
