"""`rote reproduce` as a user runs it: killed, resumed, on any number of workers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rote.errors import InputError
from rote.experiments.ledgers.ledger import Ledger
from rote.experiments.lookups.schedule import LookupSchedule
from rote.experiments.reproduce import reproduce
from rote.papers import figures_named
from rote.report.run_section import commands_of
from rote.report.run_view import RunView

PASSING = ("report", "seconds", "cpu_seconds", "run", "trained_now", "figures")


def start(folder: Path, *arguments: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "rote", "reproduce", *arguments, "--json", "-o", str(folder)]
    # One thread each: the trials are the parallel work.
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)


def lasting(document: dict) -> dict:
    """What does not depend on when and where a run happened."""
    return {name: value for name, value in document.items() if name not in PASSING}


def rows(folder: Path) -> dict:
    try:
        return {(str(row.cell), row.seed): (row.ended, row.seconds, row.result) for row in Ledger.read(folder)[1]}
    except InputError:  # not written yet
        return {}


def kill_after(process: subprocess.Popen, folder: Path, trials: int) -> dict:
    """SIGKILL once so many trials have ended; the trials the ledger then holds."""
    while process.poll() is None and len(rows(folder)) < trials:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    return rows(folder)


def killed_and_resumed(rote, tmp_path: Path, arguments: tuple[str, ...], planned: int, moment: int) -> None:
    folder = tmp_path / "killed"
    before = kill_after(start(folder, *arguments), folder, moment)
    assert moment <= len(before) < planned, "the process must die in the middle of its work"
    resumed = rote("reproduce", *arguments, "--json", "-o", folder).json
    after = rows(folder)
    assert resumed["trained_now"] == planned - len(before)
    assert len(after) == planned
    assert {key: after[key] for key in before} == before, "a finished trial was trained again"
    whole = rote("reproduce", *arguments, "--json", "-o", tmp_path / "whole").json
    assert whole["trained_now"] == planned
    assert lasting(resumed) == lasting(whole)


@pytest.mark.slow
def test_killed_run_goes_on(rote, tmp_path):
    killed_and_resumed(rote, tmp_path, ("dana2025.fig4", "--quick", "--repeats", "1", "--workers", "1"), 6, 2)


def test_same_result_on_any_number_of_workers(tmp_path):
    plan = LookupSchedule.of(figures_named("dana2025.fig4")[0], quick=True, repeats=1)
    results = []
    for workers in (1, 3):
        reproduce(plan, tmp_path / str(workers), workers=workers)
        ended = Ledger.read(tmp_path / str(workers))[1]
        results.append([(row.cell, row.seed, {**row.result, "seconds": 0}) for row in ended])
    assert results[0] == results[1]
    assert len(results[0]) == 6


def test_another_protocol_does_not_share_a_run(rote, tmp_path):
    figure = figures_named("dana2025.fig4")[0]
    with Ledger.open(tmp_path / "run", LookupSchedule.of(figure, protocol="fast").identity, {}):
        pass
    refused = rote("reproduce", "dana2025.fig4", "--quick", "--protocol", "paper", "-o", tmp_path / "run")
    assert refused.code == 2
    assert "holds another run" in refused.err
    assert "'fast', now 'paper'" in refused.err


def test_other_positions_do_not_share_a_run(rote, tmp_path):
    arguments = ("reproduce", "dana2025.fig4", "--quick", "--repeats", "1", "-o", tmp_path / "run")
    beside = rote(*arguments, "--positions", "attention", "--json")
    assert beside.code == 0, beside.err
    assert beside.json["positions"] == "attention"
    assert {cell["spec"]["positions"] for cell in beside.json["points"]} == {"attention"}
    assert {cell["published"] for cell in beside.json["points"]} == {None}
    again = "dana2025.fig4 --protocol fast --quick --repeats 1 --positions attention"
    assert any(again in command for command in commands_of(RunView.of(tmp_path / "run")))
    refused = rote(*arguments)
    assert refused.code == 2
    assert "'attention', now 'stream'" in refused.err
    of_vectors = rote("reproduce", "mahdavi2024", "--laptop", "--positions", "attention")
    assert of_vectors.code == 2
    assert "leave no choice" in of_vectors.err


def test_table_figure_and_verdicts_are_written(rote, tmp_path):
    done = rote("reproduce", "dana2025.fig4", "--quick", "--repeats", 2)
    assert done.code == 0, done.err
    assert "QUICK" in done.out
    folder = tmp_path / "runs" / "dana2025.fig4-fast-quick"
    document = json.loads((folder / "figures" / "dana2025.fig4.json").read_text())
    assert [cell["x"] for cell in document["points"]] == [1, 5, 9, 13, 17, 21]
    assert {claim["id"] for claim in document["claims"]} == {"slope-at-dim-2", "above-bound", "released-values"}
    for cell in document["points"]:
        assert cell["difference"] == pytest.approx(cell["sampled_accuracy"] - cell["published"])
        assert 0 < cell["uniform_accuracy"] <= 1
    for name in ("dana2025.fig4.png", "dana2025.fig4.svg", "dana2025.fig4-uniform.png"):
        assert (folder / "figures" / name).stat().st_size > 10_000
    import polars

    curves = polars.read_parquet(folder / "curves.parquet")
    assert curves["seed"].n_unique() == 2
    assert curves["heads"].n_unique() == 6


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("dana2025.fig99", "did you mean 'dana2025.fig9'?"),
        ("nobody2020", "see `rote list papers`"),
        ("fig1a", "did you mean 'dana2025.fig1a'?"),
    ],
)
def test_unknown_figures_are_rejected_with_a_remedy(rote, name, remedy):
    refused = rote("reproduce", name)
    assert refused.code == 2
    assert remedy in refused.err
    assert len(refused.err) < 150


def test_no_repeats_are_refused(rote):
    assert "at least 1" in rote("reproduce", "dana2025.fig4", "--repeats", 0).err


FACTS = "random:vocab=12,context=2,seed=3"


def test_train_writes_a_model_that_verifies(rote):
    arguments = ("--dim", 4, "--heads", 3, "--seeds", 3, "--steps", 150, "--json")
    done = rote("train", FACTS, "-o", "model", *arguments)
    assert done.code == 0, done.err
    document = done.json
    assert document["recall"] == max(model["recall"] for model in document["models"])
    assert document["ceiling"] == 1
    assert document["guaranteed"] == 3 * 4 + 4
    recalled = rote("recall", "model", FACTS, "--json").json
    assert recalled["recalled"] == document["recalled"]
    assert recalled["bits_per_parameter"] == document["bits_per_parameter"]
    assert rote("verify", "model", FACTS).code == 0
    again = rote("train", FACTS, "-o", "again", *arguments, "--workers", 1).json
    assert [model["recall"] for model in again["models"]] == [model["recall"] for model in document["models"]]


def test_train_says_when_it_diverges(rote, tmp_path):
    done = rote("train", FACTS, "-o", "model", "--dim", 4, "--heads", 3, "--seeds", 2, "--steps", 50, "--rate", 500)
    assert done.code == 1
    assert "diverged in every seed" in done.err
    assert not (tmp_path / "model").exists()


def test_train_with_an_mlp_and_several_layers(rote):
    sizes = ("--dim", 4, "--heads", 1, "--width", 8, "--layers", 2, "--seeds", 1, "--steps", 20)
    document = rote("train", FACTS, "-o", "model", *sizes, "--json").json
    assert document["spec"]["architecture"] == "mlp-transformer"
    assert document["parameters"] == 4 * (2 + 2 * 12 + 4 * 4 * 2) + 2 * (2 * 4 * 8 + 8)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--steps", 0), "steps"),
        (("--seeds", 0), "seeds"),
        (("--width", 4, "--variant", "shared"), "--variant shared"),
        (("--head-dim", 9), "--head-dim 9 exceeds --dim 4"),
        (("--batch", 2**50), "batch"),
    ],
)
def test_train_refuses(rote, arguments, named):
    refused = rote("train", FACTS, "-o", "model", "--dim", 4, "--heads", 2, *arguments)
    assert refused.code == 2
    assert named in refused.err
