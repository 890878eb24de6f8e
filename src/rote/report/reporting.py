"""A report on models and runs: the one call behind `rote report`, `rote demo` and `rote reproduce`."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from rote.errors import InputError, RoteError
from rote.experiments.ledgers.file import foreign
from rote.experiments.ledgers.ledger import FILE
from rote.folders import Folder, read_folder
from rote.folders.layout import CONFIG
from rote.folders.named_facts import facts_of_folder
from rote.progress import SILENT, Progress
from rote.report.document import Report, Section
from rote.report.model_section import model_section
from rote.report.run_section import run_section
from rote.report.run_view import RunView
from rote.tasks import Task
from rote.version import __version__


def report_on(
    paths: Sequence[str | Path], *, title: str | None = None, task: Task | None = None, progress: Progress = SILENT
) -> Report:
    """A report on model folders and runs, in this order; `task` are the models' facts where they do not name them."""
    sections = [_section(Path(path), task, progress) for path in paths]
    if not sections:
        raise InputError("report: name at least one model folder or run")
    return report_of(sections, title)


def report_of(sections: Sequence[Section], title: str | None = None) -> Report:
    """A report of these sections, with versions and the date."""
    named = title or (sections[0].title if len(sections) == 1 else f"{len(sections)} models and runs")
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    about = {"rote": __version__, "Python": platform.python_version(), "machine": platform.machine(), "made": made}
    return Report(named, sections, about)


def _section(path: Path, task: Task | None, progress: Progress) -> Section:
    if (path / CONFIG).is_file():
        folder = read_folder(path)
        return model_section(folder, task or _facts_of(folder), progress)
    if (path / FILE).is_file():
        with foreign(path):
            return run_section(RunView.of(path))
    raise InputError(f"{path}: is neither a model folder ({CONFIG}) nor a run ({FILE})")


def _facts_of(folder: Folder) -> Task | None:
    """The facts that a folder names, where they can still be read; a report says so where they cannot."""
    try:
        return facts_of_folder(folder.origin, folder.path)
    except RoteError:
        return None
