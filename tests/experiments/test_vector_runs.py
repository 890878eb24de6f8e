"""Runs over the ledger: resumed where they stopped, the same on any number of workers, drawn and judged."""

import json

import numpy as np
import pytest
import torch

from rote.cli import main
from rote.errors import InputError
from rote.experiments.ledgers.ledger import Ledger
from rote.experiments.reproduce import reproduce
from rote.experiments.vectors import queue as vector_queue
from rote.experiments.vectors.kind import vector_cost
from rote.experiments.vectors.queue import head_shares, saturated
from rote.experiments.vectors.schedule import VectorSchedule
from rote.models.attention_only import AttentionOnly
from rote.models.model import Model
from rote.models.query_attention import QueryAttention
from rote.papers import FIGURES
from rote.papers.claims import Claim
from rote.papers.kinds.vectors import (
    CapacityFigure,
    HeadsSplitExamples,
    IncreasesWithSize,
    QuickSearch,
    SaturationFigure,
    VectorSetting,
)
from rote.papers.mahdavi2024 import MAHDAVI2024
from rote.report.html import html
from rote.report.reporting import report_on
from rote.report.reproduction import ReproducedFigure
from rote.tasks.generators import random_vectors

SMALL = CapacityFigure(
    "mahdavi2024.small",
    "Small",
    "context",
    tuple(VectorSetting(2, context, 4, 4, classes=None) for context in (1, 2, 3)),
    (Claim("grows", "It grows", IncreasesWithSize()),),
    QuickSearch((1, 3)),
)


@pytest.fixture
def brief(monkeypatch):
    """Trainings of a few steps: what a run does with them is the matter here."""
    monkeypatch.setattr("rote.training.query_attention.protocol.PROJECTIONS", 5)


def values(done):
    return [point.values for series in done.findings.series for point in series.points]


@pytest.mark.usefixtures("brief")
def test_a_run_is_resumed_and_does_not_depend_on_workers(tmp_path, monkeypatch):
    plan = VectorSchedule.of(SMALL, repeats=2)
    whole = reproduce(plan, tmp_path / "one", workers=1)
    beside = reproduce(plan, tmp_path / "two", workers=2)
    assert values(whole) == values(beside)
    assert whole.findings.missing == 0
    started = []
    train = vector_queue.train_vectors

    def killed(*arguments):
        started.append(1)
        if len(started) == 5:
            raise KeyboardInterrupt
        return train(*arguments)

    monkeypatch.setattr(vector_queue, "train_vectors", killed)
    with pytest.raises(KeyboardInterrupt):
        reproduce(plan, tmp_path / "cut", workers=1)
    assert len(Ledger.read(tmp_path / "cut")[1]) == 4
    resumed = reproduce(plan, tmp_path / "cut", workers=1)
    assert values(resumed) == values(whole)
    trials = len(Ledger.read(tmp_path / "one")[1])
    assert len(started) == 1 + trials
    monkeypatch.setattr(vector_queue, "train_vectors", None)  # nothing is trained twice
    assert values(reproduce(plan, tmp_path / "cut", workers=1)) == values(whole)


@pytest.mark.usefixtures("brief")
def test_a_figure_is_drawn_summed_up_and_reported(tmp_path, monkeypatch):
    done = reproduce(VectorSchedule.of(SMALL, quick=True), tmp_path, workers=1)
    assert [point.x for series in done.findings.series for point in series.points] == [1, 3]
    drawn = list(ReproducedFigure.of(done, ("png", "svg")).files)
    assert [path.suffix for path in drawn] == [".png", ".svg"]
    assert all(path.stat().st_size > 1000 for path in drawn)
    document = json.loads(json.dumps(done.summary()))
    assert document["claims"][0]["verdict"] in ("supported", "not supported", "undecided")
    monkeypatch.setitem(FIGURES, "mahdavi2024", (SMALL,))
    page = html(report_on([tmp_path]))
    per_seed = str(done.findings.tables()[0].rows[0][2])
    assert page.count("<svg") == 1
    assert all(text in page for text in ("It grows", per_seed, "rote reproduce mahdavi2024.small", "--quick"))


def test_saturation_is_measured_of_the_trained_model(tmp_path):
    figure = SaturationFigure(
        "mahdavi2024.small-saturation", "Small", ((VectorSetting(2, 3, 4, 4, classes=3), 12),),
        (Claim("split", "They split", HeadsSplitExamples()),), lengths=(5, 10), quick_lengths=(5,), repeats=1,
    )  # fmt: skip
    done = reproduce(VectorSchedule.of(figure), tmp_path, workers=1)
    (series,) = done.findings.series
    assert [point.x for point in series.points] == [5, 10]
    with pytest.raises(InputError, match="training length"):
        VectorSchedule.of(figure, protocol="best")


def test_overlap_is_one_for_heads_that_ignore_each_other_and_nought_for_heads_that_split():
    spec = QueryAttention(context=2, dim=2, head_dim=1, heads=2, outputs=2)
    weights = {name: torch.zeros(shape, dtype=torch.float64) for name, shape in spec.shapes().items()}
    weights["query"] = torch.tensor([[[60.0, 0.0]], [[0.0, 60.0]]], dtype=torch.float64)
    weights["key"] = torch.tensor([[[1.0, 0.0]], [[1.0, 0.0]]], dtype=torch.float64)
    model, contexts = Model(spec, weights), np.array([[[1.0, 0.0], [0.0, 1.0]]])
    task = random_vectors(4, 2, 2, shared=True, classes=2)

    def shares(queries):
        return head_shares(model, type(task)(contexts, np.array(queries), labels=np.zeros(len(queries), dtype=int)))

    both = [[1.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    assert shares(both)["overlaps"] == [1.0]
    assert shares(both)["some_head"] == 0.75 == shares(both)["some_head_if_independent"]
    assert shares(both[1:3])["overlaps"] == [0.0]
    with pytest.raises(TypeError, match="query attention"):
        saturated(attention_only(), task)


def attention_only():
    spec = AttentionOnly(vocab=3, context=2, dim=2, head_dim=1, heads=1)
    return Model(spec, {name: torch.zeros(shape) for name, shape in spec.shapes().items()})


@pytest.mark.parametrize("figure", MAHDAVI2024, ids=lambda figure: figure.id)
def test_every_figure_can_be_planned_under_every_protocol(figure):
    for protocol in ("fast", "paper"):
        for quick in (True, False):
            plan = VectorSchedule.of(figure, protocol=protocol, quick=quick)
            trials, seconds = vector_cost(plan)
            assert (plan.size == 0) == (trials == 0) == (seconds == 0)
    assert vector_cost(VectorSchedule.of(figure, quick=True))[1] < vector_cost(VectorSchedule.of(figure))[1]


def test_the_whole_laptop_preset_is_estimated_below_forty_minutes_on_two_cores():
    costs = [vector_cost(VectorSchedule.of(figure, quick=True))[1] for figure in MAHDAVI2024]
    assert sum(costs) < 2 * 40 * 60


@pytest.mark.usefixtures("brief")
def test_the_command_reproduces_a_figure(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(FIGURES, "mahdavi2024", (SMALL,))
    run = ["reproduce", "mahdavi2024.small", "--laptop", "-o", str(tmp_path / "run"), "--workers", "1"]
    assert main([*run, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["figure"] == "mahdavi2024.small"
    assert main(run) == 0
    shown = capsys.readouterr().out
    assert "It grows" in shown
    assert "QUICK" in shown
