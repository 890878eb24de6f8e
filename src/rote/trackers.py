"""Experiment trackers: every trial that ends is reported to W&B, Trackio, MLflow or an object of yours.

A tracker has three methods: `init` before the work, `log` once per trial, `finish` at the end. Nothing is imported and
nothing leaves this machine unless a tracker is named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, Protocol, runtime_checkable

from rote.errors import InputError, RoteError, cut
from rote.interrupts import out_of_memory
from rote.progress import SILENT, Progress, Stage
from rote.version import __version__

TrackerName = Literal["wandb", "trackio", "mlflow"]


@runtime_checkable
class Tracker(Protocol):
    """What a run is reported to."""

    def init(self, project: str, name: str | None, config: Mapping[str, Any]) -> None: ...

    def log(self, values: Mapping[str, float], step: int) -> None: ...

    def finish(self, failed: bool) -> None: ...


@contextmanager
def report_to(
    *trackers: TrackerName | Tracker,
    project: str = "rote",
    name: str | None = None,
    config: Mapping[str, Any] | None = None,
    progress: Progress = SILENT,
) -> Iterator[Progress]:
    """A `progress` that reports every trial of a run: its sizes, its seed and its results, as numbers.

    Trackers are `wandb`, `trackio`, `mlflow`, or objects with the methods `init`, `log` and `finish`. Packages are
    imported here; log in to them and choose where they write by their own settings. `progress` shows the bars.

    >>> import rote
    >>> class Printed:
    ...     def init(self, project, name, config): print("init", project, name)
    ...     def log(self, values, step): print("log", step, values["spec.heads"], values["seed"])
    ...     def finish(self, failed): print("finish, failed:", failed)
    >>> sizes = {"vocab": 6, "dim": 4, "head_dim": 2, "heads": 2}
    >>> with rote.report_to(Printed(), name="heads") as progress:
    ...     _ = rote.sweep(sizes, seeds=1, steps=5, workers=1, progress=progress)
    init rote heads
    log 0 2 0
    finish, failed: False
    """
    opened = [_named(tracker) if isinstance(tracker, str) else tracker for tracker in trackers]
    for tracker in opened:
        if not isinstance(tracker, Tracker):
            raise InputError(f"`report_to`: {type(tracker).__name__} has no methods init, log and finish")
    begun: list[Tracker] = []
    failed = True
    try:
        for tracker in opened:
            tracker.init(project, name, {"rote": __version__, **(config or {})})
            begun.append(tracker)
        yield _Reported(begun, progress)
        failed = False
    finally:
        _finish(begun, failed)


def _finish(trackers: Sequence[Tracker], failed: bool) -> None:
    """Finish every tracker. What one of them cannot do is an error, unless the work has failed already."""
    wrong: list[RoteError] = []
    for tracker in trackers:
        try:
            tracker.finish(failed)
        except RoteError as error:
            wrong.append(error)
    if wrong and not failed:
        raise wrong[0]


class _Reported(Progress):
    def __init__(self, trackers: Sequence[Tracker], shown: Progress) -> None:
        self._trackers, self._shown, self._step = trackers, shown, 0

    @contextmanager
    def stage(self, description: str, total: int | None = None) -> Iterator[Stage]:
        with self._shown.stage(description, total) as stage:
            yield stage

    def record(self, values: Mapping[str, Any]) -> None:
        self._shown.record(values)
        for tracker in self._trackers:
            tracker.log(numbers(values), self._step)
        self._step += 1


def numbers(values: Mapping[str, Any], before: str = "") -> dict[str, float]:
    """The numbers among nested values, by names joined with dots; everything else is left out.

    >>> numbers({"heads": 4, "result": {"recall": 0.5, "engine": "native", "full": True}})
    {'heads': 4, 'result.recall': 0.5, 'result.full': 1}
    """
    found: dict[str, float] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            found |= numbers(value, f"{before}{name}.")
        elif isinstance(value, bool):
            found[f"{before}{name}"] = int(value)
        elif isinstance(value, int | float):
            found[f"{before}{name}"] = value
    return found


class _Answering:
    """A tracker of a package, whose errors are messages: no login, no network, no room."""

    def __init__(self, name: str) -> None:
        self._name = name
        with self._answered():
            self._tracker = KNOWN[name](import_module(name))

    def init(self, project: str, name: str | None, config: Mapping[str, Any]) -> None:
        with self._answered():
            self._tracker.init(project, name, config)

    def log(self, values: Mapping[str, float], step: int) -> None:
        with self._answered():
            self._tracker.log(values, step)

    def finish(self, failed: bool) -> None:
        with self._answered():
            self._tracker.finish(failed)

    @contextmanager
    def _answered(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if out_of_memory(error) is not None:
                raise
            reason = " ".join(cut(error).split()) or type(error).__name__
            raise InputError(f"`report_to={self._name}`: the package {self._name} failed ({reason})") from error


class _InitLogFinish:
    """W&B, and Trackio, which has the same functions."""

    def __init__(self, package: Any) -> None:
        self._package = package

    def init(self, project: str, name: str | None, config: Mapping[str, Any]) -> None:
        self._package.init(project=project, name=name, config=dict(config))

    def log(self, values: Mapping[str, float], step: int) -> None:
        self._package.log(dict(values), step=step)

    def finish(self, failed: bool) -> None:
        self._package.finish()


class _Wandb(_InitLogFinish):
    def finish(self, failed: bool) -> None:
        self._package.finish(exit_code=int(failed))


class _Mlflow(_InitLogFinish):
    def init(self, project: str, name: str | None, config: Mapping[str, Any]) -> None:
        self._package.set_experiment(project)
        self._package.start_run(run_name=name)
        self._package.log_params(dict(config))

    def log(self, values: Mapping[str, float], step: int) -> None:
        self._package.log_metrics(dict(values), step=step)

    def finish(self, failed: bool) -> None:
        self._package.end_run("FAILED" if failed else "FINISHED")


KNOWN = {"wandb": _Wandb, "trackio": _InitLogFinish, "mlflow": _Mlflow}


def _named(name: str) -> Tracker:
    if name not in KNOWN:
        raise InputError(f"`report_to={name}`: is not one of {', '.join(KNOWN)}")
    if find_spec(name) is None:
        raise InputError(f"`report_to={name}`: the package {name} is not installed; `pip install {name}`")
    return _Answering(name)
