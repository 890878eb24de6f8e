"""Run the trials of published figures, of whichever kind, and say what they show.

Each trial is committed to the run's ledger when it ends; a run that was killed resumes where it stopped.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rote.errors import InputError, problems
from rote.experiments.executor import HERE
from rote.experiments.findings import FigureSchedule, Findings
from rote.experiments.kind import RunChoices
from rote.experiments.kinds import kind_of, schedule_of
from rote.experiments.ledgers.ledger import FailedTrial, LedgerContents
from rote.experiments.runner import RunPart, RunRows, run
from rote.papers import FIGURES, figures_named, names_several
from rote.papers.claims import PublishedFigure
from rote.progress import SILENT, Progress
from rote.training.protocol import EngineName

AnySchedule = FigureSchedule[Any]


@dataclass(frozen=True)
class Reproduction:
    """A figure whose trials have ended: what they show, where they are, what they took."""

    findings: Findings[Any, Any]
    folder: Path
    trials: int
    """Trials behind the figure, run now or before."""
    trained: int
    """Trials that ran now; the others were in the ledger."""
    seconds: float
    """Time that passed now."""
    cpu_seconds: float
    """CPU time of all its trials, whenever they ran."""
    engines: tuple[str, ...]
    """That trained models of look-up tables."""
    failed: tuple[FailedTrial, ...]
    """Trials that failed now, with the reasons; the same call tries them again."""
    contents: LedgerContents
    """All that the run's ledger holds, other figures' trials included."""

    @property
    def refuted(self) -> bool:
        """Whether a claim does not hold, in the published weighting of pairs where there are several."""
        return self.findings.refuted

    def summary(self) -> dict[str, Any]:
        """Everything as one JSON document: points, fits, claims with their verdicts, and the run's numbers."""
        return {
            **self.findings.summary(),
            "run": str(self.folder),
            "trials": self.trials,
            "trained_now": self.trained,
            "failed": failures_summary(self.failed),
            "cpu_seconds": self.cpu_seconds,
            "seconds": self.seconds,
            **({"engines": list(self.engines)} if self.engines else {}),
            "note": self.findings.figure.note,
        }


def failures_summary(failed: tuple[FailedTrial, ...]) -> list[dict[str, Any]]:
    return [{"seed": trial.key.seed, "reason": trial.reason} for trial in failed]


def schedules(
    name: str | PublishedFigure, output: str | Path | None = None, choices: RunChoices | None = None
) -> list[tuple[AnySchedule, Path]]:
    """The schedules of a figure, or of all that a figure's or a paper's id names, each with the folder of its run.

    Runs go to `runs/` by default; with a paper, `output` is a folder that holds the runs of its figures. Figures of
    which `quick` keeps nothing are left out.
    """
    figures = figures_named(name) if isinstance(name, str) else [name]
    several = isinstance(name, str) and names_several(name)
    label = name if isinstance(name, str) else name.id
    choices = choices or RunChoices()
    taken = frozenset(option for figure in figures for option in kind_of(figure).options)
    if rejected := choices.rejected(taken):
        raise problems(label, rejected)
    scheduled = [schedule for figure in figures if (schedule := schedule_of(figure, choices)).size]
    if not scheduled:
        raise InputError(f"{label}: `quick` keeps nothing of it; run it complete, or another figure")
    if output is None:
        return [(schedule, schedule.default_folder) for schedule in scheduled]
    return [
        (schedule, Path(output) / schedule.default_folder.name if several else Path(output)) for schedule in scheduled
    ]


def takes_part(schedule: AnySchedule) -> bool:
    """Whether a run can be divided into parts."""
    return "part" in kind_of(schedule.figure).options


def run_schedule(
    schedule: AnySchedule,
    folder: Path,
    *,
    workers: int | None = None,
    engine: EngineName = "auto",
    on: str = HERE,
    part: str | None = None,
    progress: Progress = SILENT,
) -> RunRows:
    """Run what the ledger in `folder` does not hold yet; of `part` (`1/2`) nothing else.

    `engine` is that of models of look-up tables; `on` says where (`rote.experiments.executor`).
    """
    trials = kind_of(schedule.figure).run(schedule, folder, engine)
    chosen = None if part is None else RunPart.read(part)
    asked = {schedule.figure.id: schedule.asked}
    return run(trials, folder, workers=workers, on=on, part=chosen, asked=asked, progress=progress)


def reproduce(schedule: AnySchedule, folder: str | Path | None = None, **how: Any) -> Reproduction:
    """Run what is missing, then arrange and judge all of it; `how` as in `run_schedule`."""
    folder = schedule.default_folder if folder is None else Path(folder)
    kind, began = kind_of(schedule.figure), time.perf_counter()
    ended = run_schedule(schedule, folder, **how)
    if kind.written is not None:
        # Figures of one experiment share a run: the files are about all its trials.
        kind.written(folder, ended.contents.ordered)
    findings: Findings[Any, Any] = kind.findings(schedule, ended.rows)
    own = findings.cpu_seconds
    engines = {row.result["engine"] for row in ended.rows.values() if row.result.get("engine")}
    return Reproduction(
        findings=findings,
        folder=folder,
        trials=len(ended.rows),
        trained=ended.trained,
        seconds=time.perf_counter() - began,
        cpu_seconds=sum(row.seconds for row in ended.rows.values()) if own is None else own,
        engines=tuple(sorted(engines)),
        failed=ended.failed,
        contents=ended.contents,
    )


def findings_in(contents: LedgerContents) -> list[Findings[Any, Any]]:
    """What a run's trials show of every figure that it was asked for; nothing for runs of other kinds.

    A ledger of an older rote does not say what was asked: all its figures, complete, are taken.
    """
    asked = contents.about.get("asked")
    scheduled = _recorded(asked) if isinstance(asked, dict) else _assumed(contents.identity)
    return [kind_of(schedule.figure).findings(schedule, contents.rows) for schedule in scheduled if contents.rows]


def _recorded(asked: Mapping[str, Any]) -> list[AnySchedule]:
    found = []
    for id, choices in asked.items():
        try:
            found.append(schedule_of(figures_named(id)[0], RunChoices(**choices)))
        except (InputError, TypeError):  # a figure, or a choice, that this rote does not know
            continue
    return found


def _assumed(identity: Mapping[str, Any]) -> list[AnySchedule]:
    protocol = identity.get("protocol")
    if not isinstance(protocol, str):
        return []
    choices = RunChoices(protocol, positions=identity.get("positions"), texts=identity.get("texts"))
    found = []
    for figure in (figure for figures in FIGURES.values() for figure in figures):
        try:
            schedule = schedule_of(figure, choices)
        except InputError:  # a protocol that it does not have
            continue
        if schedule.run == identity.get("experiment"):
            found.append(schedule)
    return found
