"""The folders that a page may look into, and nothing outside of them.

Models and runs are named `NUMBER/path/below`: the number of the folder that was given, and a path below it. A name that
leads out of its folder, by `..`, by an absolute path or by a symbolic link, is refused before anything is opened.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rote.errors import InputError
from rote.experiments.ledgers.ledger import FILE as LEDGER
from rote.folders.layout import CONFIG, WEIGHTS

DEEPEST = 6
"""Levels below a folder that are searched."""
MOST_FOLDERS = 5000
"""Folders that are looked into before a search ends."""


class NotThere(InputError):
    """A name that leads to nothing that may be shown."""


@dataclass(frozen=True)
class Entry:
    """A model folder or a run below one of the folders."""

    name: str
    """As an address names it."""
    path: Path

    @property
    def nearby(self) -> Path:
        """The path as a command is given it: without what leads to where the server was started."""
        here = Path.cwd()
        return self.path.relative_to(here) if self.path.is_relative_to(here) else self.path

    @property
    def label(self) -> str:
        """As a person reads it."""
        return self.name.partition("/")[2] or self.path.name


class Shelf:
    """The folders that were given."""

    def __init__(self, folders: Sequence[str | Path]) -> None:
        self.folders = [Path(folder).resolve() for folder in folders]
        missing = [str(folder) for folder in self.folders if not folder.is_dir()]
        if missing:
            raise InputError(f"{', '.join(missing)}: no such folder; name folders that hold models and runs")

    def models(self) -> list[Entry]:
        return [entry for entry in self._walk() if _is_model(entry.path)]

    def runs(self) -> list[Entry]:
        return [entry for entry in self._walk() if (entry.path / LEDGER).is_file()]

    def model(self, name: str) -> Entry:
        entry = self.find(name)
        if not _is_model(entry.path):
            raise NotThere(f"{name}: is not a model folder; it needs {CONFIG} and {WEIGHTS}")
        return entry

    def run(self, name: str) -> Entry:
        entry = self.find(name)
        if not (entry.path / LEDGER).is_file():
            raise NotThere(f"{name}: is not a run; it has no {LEDGER}")
        return entry

    def find(self, name: str) -> Entry:
        """The folder of that name, which lies below one that was given."""
        number, _, below = name.partition("/")
        parts = below.split("/") if below else []
        if (
            not (number.isascii() and number.isdigit() and len(number) < 4 and int(number) < len(self.folders))
            or any(part in ("", ".", "..") or "\0" in part or "\\" in part for part in parts)
            or len(name) > 1000
        ):
            raise NotThere(f"{name[:80]!r}: names nothing below the folders that this page was given")
        root = self.folders[int(number)]
        try:
            path = root.joinpath(*parts).resolve()
            inside = path.is_relative_to(root) and path.is_dir()
        except (OSError, ValueError, RuntimeError):
            inside, path = False, root
        if not inside:
            raise NotThere(f"{name[:80]!r}: there is no such folder here, or it leads out of the folders given")
        return Entry(name, path)

    def allows(self, path: str | Path) -> bool:
        """Whether a file lies below one of the folders, links followed."""
        try:
            real = Path(path).resolve()
            return any(real.is_relative_to(folder) for folder in self.folders)
        except (OSError, ValueError, RuntimeError):
            return False

    def _walk(self) -> Iterator[Entry]:
        """Every folder below those given, without following links, shallow ones first in the order of names."""
        looked = 0
        for number, root in enumerate(self.folders):
            waiting = [(root, str(number), 0)]
            while waiting and looked < MOST_FOLDERS:
                path, name, depth = waiting.pop(0)
                looked += 1
                yield Entry(name, path)
                if depth < DEEPEST and not _is_model(path):
                    waiting += [(path / sub, f"{name}/{sub}", depth + 1) for sub in _subfolders(path)]


def _subfolders(path: Path) -> list[str]:
    try:
        with os.scandir(path) as entries:
            return sorted(
                entry.name
                for entry in entries
                if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)
            )
    except OSError:
        return []


def _is_model(path: Path) -> bool:
    return (path / CONFIG).is_file() and (path / WEIGHTS).is_file()
