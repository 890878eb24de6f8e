"""`rote runs`, and where trials run, at the command line."""

from __future__ import annotations

import json
import sys

import pytest

from rote.cli import app, main
from rote.experiments.ledgers.ledger import Ledger

SWEEP = ["sweep", "--vocab", "8", "--dim", "4", "--head-dim", "2", "--heads", "1:3", "--steps", "20", "--seeds", "1"]


@pytest.fixture
def run(tmp_path):
    folder = tmp_path / "runs" / "one"
    with Ledger.open(folder, {"experiment": "test"}, {"trials": 3}) as ledger:
        for seed in range(3):
            ledger.record({"spec": {"heads": 1 + seed}}, 0, {"accuracy": 0.25 * seed, "seconds": 0.5}, 0.5)
    return folder


def document(capsys, *words):
    code = main([*map(str, words), "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_runs_are_listed_shown_exported_and_compared(run, tmp_path, capsys):
    code, listed = document(capsys, "runs", "list", tmp_path / "runs")
    assert (code, [entry["trials"] for entry in listed]) == (0, [3])
    code, shown = document(capsys, "runs", "show", run, "--where", "heads=3")
    assert (code, shown["cells"], shown["score"]) == (0, [{"heads": 3, "trials": 1, "score": 0.5}], "accuracy")
    code, written = document(capsys, "runs", "export", run, "-o", tmp_path / "trials.csv", "--no-times")
    assert (code, written["trials"]) == (0, 3)
    assert (tmp_path / "trials.csv").read_text().splitlines()[0] == "spec.heads,seed,result.accuracy"
    assert document(capsys, "runs", "diff", run, run)[0] == 0


def test_parts_are_trained_merged_and_gone_on_with(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for part, folder in (("1/2", "a"), ("2/2", "b")):
        code, trained = document(capsys, *SWEEP, "-o", folder, "--part", part)
        assert (code, trained["part"]) == (0, part)
        assert not (tmp_path / folder / "sweep.csv").exists(), "a part is not the whole, and no table says so"
    assert main(["runs", "diff", "a", "b"]) == 1
    assert "the runs differ" in capsys.readouterr().out
    assert document(capsys, "runs", "merge", "a", "b", "-o", "whole")[1]["trials"] == 3
    code, whole = document(capsys, *SWEEP, "-o", "whole")
    assert (code, whole["trained_now"], whole["trials"]) == (0, 0, 3)
    assert (tmp_path / "whole" / "sweep.csv").exists()


def test_tables_fit_80_columns(run, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(run.parent.parent)
    main(["runs", "list", "runs"])
    main(["runs", "show", "runs/one"])
    main(["runs", "diff", "runs/one", "runs/one"])
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


@pytest.mark.parametrize("command", ["list", "show", "export", "diff", "merge"])
def test_help_has_an_example_that_parses(command, capsys):
    app(["runs", command, "--help"], result_action="return_value")
    shown = capsys.readouterr().out
    example = next(line for line in shown.splitlines() if line.startswith("Example: ")).removeprefix("Example: rote ")
    app.parse_args(example.split(), exit_on_error=False, print_error=False)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["runs", "show", "nowhere"], "not a run"),
        (["runs", "show", "nowhere", "--where", "heads"], "expected name=value"),
        (["runs", "list", "nowhere"], "no such folder"),
        (["runs", "merge", "nowhere", "-o", "out"], "two runs or more"),
        ([*SWEEP, "-o", "run", "--part", "3/2"], "--part 3/2: must be a number"),
        ([*SWEEP, "-o", "run", "--on", "mars"], "--on mars: is neither here, ray"),
        (["reproduce", "mahdavi2024", "--part", "1/2"], "is for figures about look-up tables"),
        (["capacity", "--vocab", "8", "--dim", "4", "--head-dim", "4", "--heads", "2", "--on", "ray"], "by building"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_message(words, message, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_missing_ray_is_one_message_with_the_install_line(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.chdir(tmp_path)
    assert main([*SWEEP, "-o", "run", "--on", "ray"]) == 2
    assert "pip install 'byrote[cluster]'" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
