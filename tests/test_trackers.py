"""Reports to trackers: the calls that each package gets, and that none is imported unless it is named."""

from __future__ import annotations

import inspect
import subprocess
import sys
import types

import pytest

import rote
from rote.cli import main
from rote.trackers import KNOWN, numbers

SWEEP = {"vocab": 6, "dim": 4, "head_dim": 2, "heads": "1:2"}


def fake(name: str, monkeypatch) -> list[tuple]:
    """A package of this name that notes what is called with the parameters that the real one has."""
    calls: list[tuple] = []
    package = types.ModuleType(name)
    package.__spec__ = types.SimpleNamespace()
    # The parameters of wandb 0.31, trackio 0.43 and mlflow 3.17 that may be given.
    real = {
        "wandb": {"init": "project name config", "log": "data step", "finish": "exit_code"},
        "trackio": {"init": "project name config", "log": "metrics step", "finish": ""},
        "mlflow": {
            "set_experiment": "experiment_name", "start_run": "run_id run_name", "log_params": "params",
            "log_metrics": "metrics step", "end_run": "status",
        },
    }  # fmt: skip

    def noting(function: str, parameters: str):
        kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD
        signature = inspect.Signature([inspect.Parameter(word, kinds) for word in parameters.split()])

        def call(*given, **named):
            calls.append((function, signature.bind_partial(*given, **named).arguments))

        return call

    for function, parameters in real[name].items():
        setattr(package, function, noting(function, parameters))
    monkeypatch.setitem(sys.modules, name, package)
    return calls


@pytest.mark.parametrize("name", KNOWN)
def test_every_trial_is_logged_once(name, monkeypatch):
    calls = fake(name, monkeypatch)
    with rote.report_to(name, project="mine", name="heads", config={"why": "test"}) as progress:
        rote.sweep(SWEEP, seeds=2, steps=5, workers=1, progress=progress)
    log = "log_metrics" if name == "mlflow" else "log"
    logged = [arguments for function, arguments in calls if function == log]
    assert [arguments["step"] for arguments in logged] == [0, 1, 2, 3]
    values = [next(iter(arguments.values())) for arguments in logged]
    assert sorted((value["spec.heads"], value["seed"]) for value in values) == [(1, 0), (1, 1), (2, 0), (2, 1)]
    assert all(isinstance(number, int | float) for value in values for number in value.values())
    first, last = calls[0], calls[-1]
    if name == "mlflow":
        assert [function for function, _ in calls[:3]] == ["set_experiment", "start_run", "log_params"]
        assert last == ("end_run", {"status": "FINISHED"})
    else:
        assert first == (
            "init",
            {"project": "mine", "name": "heads", "config": {"rote": rote.__version__, "why": "test"}},
        )
        assert last == ("finish", {"exit_code": 0} if name == "wandb" else {})


def test_a_failed_run_is_reported_as_failed(monkeypatch):
    calls = fake("mlflow", monkeypatch)
    with pytest.raises(rote.InputError), rote.report_to("mlflow") as progress:
        rote.sweep({**SWEEP, "heads": "0"}, progress=progress)
    assert calls[-1] == ("end_run", {"status": "FAILED"})


@pytest.mark.parametrize("function", ["set_experiment", "log_metrics", "end_run"])
def test_what_a_package_cannot_do_is_one_message(function, monkeypatch, tmp_path, capsys):
    """No login or no network; the trials that ended are kept."""

    def fails(*given, **named):
        raise ConnectionError("no\x1b[2J route\nto host")

    calls = fake("mlflow", monkeypatch)
    monkeypatch.setattr(sys.modules["mlflow"], function, fails)
    monkeypatch.chdir(tmp_path)
    words = "sweep --vocab 6 --dim 4 --head-dim 2 --heads 1,2 --seeds 1 --steps 5 -o run --report-to mlflow"
    assert main(words.split()) == 2
    said = capsys.readouterr().err
    assert "--report-to mlflow: the package mlflow failed (no\\x1b[2J route to host)" in said.splitlines()[-1]
    if function == "log_metrics":
        assert calls[-1] == ("end_run", {"status": "FAILED"})


def test_a_tracker_that_cannot_finish_hides_no_error_and_no_other_tracker(monkeypatch):
    class Noting:
        finished = ()

        def init(self, project, name, config): ...

        def log(self, values, step): ...

        def finish(self, failed):
            self.finished = (*self.finished, failed)

    def fails(*given, **named):
        raise ConnectionError

    fake("mlflow", monkeypatch)
    monkeypatch.setattr(sys.modules["mlflow"], "end_run", fails)
    noting = Noting()
    with pytest.raises(rote.InputError, match="heads"), rote.report_to("mlflow", noting) as progress:
        rote.sweep({**SWEEP, "heads": "0"}, progress=progress)
    with pytest.raises(rote.InputError, match="ConnectionError"), rote.report_to("mlflow", noting):
        pass
    assert noting.finished == (True, False)


@pytest.mark.parametrize(
    "command",
    [
        "sweep --vocab 6 --dim 4 --head-dim 2 --heads 1,2 --seeds 1 --steps 5 -o run",
        "train random:vocab=6,context=2,facts=9,seed=1 --dim 4 --heads 1 --seeds 2 --steps 5 -o model",
        "capacity --vocab 5 --dim 4 --head-dim 4 --heads 1 --method rote.readout",
    ],
)
def test_commands_report(command, monkeypatch, tmp_path, capsys):
    calls = fake("trackio", monkeypatch)
    monkeypatch.chdir(tmp_path)
    assert main([*command.split(), "--report-to", "trackio", "--json"]) == 0
    assert calls[0][0] == "init"
    assert calls[0][1]["config"]["command"].startswith(f"rote {command.split()[0]}")
    assert sum(function == "log" for function, _ in calls) >= 2
    assert calls[-1] == ("finish", {})


def test_a_package_that_is_missing_is_named():
    missing = next(name for name in ("mlflow", "trackio") if not _installed(name))
    with pytest.raises(rote.InputError, match=f"pip install {missing}"), rote.report_to(missing):
        pass


def _installed(name: str) -> bool:
    from importlib.util import find_spec

    return find_spec(name) is not None


def test_nothing_is_imported_unless_it_is_named():
    code = "import rote, sys; rote.sweep; from rote.trackers import report_to; assert 'wandb' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_numbers_are_finite_or_not_but_never_words():
    nested = {"a": {"b": 1, "c": "word", "d": [1, 2]}, "e": None, "f": True, "g": 0.5}
    assert numbers(nested) == {"a.b": 1, "f": 1, "g": 0.5}
