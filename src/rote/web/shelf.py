"""The folders that a page may read, and nothing outside them.

Models and runs are named `NUMBER/path/below`: the number of the folder that was given, and a path below it. The folders
are held open, and what is below is opened one part of the path after the other, none of which may be a link: a name
that leads out of its folder, by `..`, by an absolute path or by a link, is rejected, and a folder that is swapped for a
link while it is read still leads to itself.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from rote.errors import InputError
from rote.experiments.ledgers.ledger import FILE as LEDGER
from rote.folders.layout import CONFIG, WEIGHTS

DEEPEST = 6
"""Levels below a folder that are searched."""
MOST_FOLDERS = 5000
"""Folders that are looked into before a search ends."""
MOST_NAMES = 20_000
"""Names in one folder that are looked at."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class NotThere(InputError):
    """A name that leads to nothing that may be shown."""


@dataclass(frozen=True)
class Entry:
    """A model folder or a run below one of the folders."""

    name: str
    """Its name in an address."""
    path: Path
    nearby: Path
    """The path as a command is given it: without what leads to where the server was started."""

    @property
    def label(self) -> str:
        """Its name on a page."""
        return self.name.partition("/")[2] or self.path.name


class Shelf:
    """The folders that were given, held open."""

    def __init__(self, folders: Sequence[str | Path]) -> None:
        self.folders = [Path(folder).resolve() for folder in folders]
        missing = [str(folder) for folder in self.folders if not folder.is_dir()]
        if missing:
            raise InputError(f"{', '.join(missing)}: no such folder; name folders that hold models and runs")
        self.roots = [os.open(folder, _FOLDER) for folder in self.folders]

    def models(self) -> list[Entry]:
        return [entry for entry, names in self._walk() if names.issuperset((CONFIG, WEIGHTS))]

    def runs(self) -> list[Entry]:
        return [entry for entry, names in self._walk() if LEDGER in names]

    @contextmanager
    def model(self, name: str) -> Iterator[tuple[Entry, int]]:
        """A model folder and its descriptor."""
        with self.opened(name) as (entry, folder):
            if not files_of(folder).issuperset((CONFIG, WEIGHTS)):
                raise NotThere(f"{name[:80]}: is not a model folder; it needs {CONFIG} and {WEIGHTS}, and no links")
            yield entry, folder

    @contextmanager
    def run(self, name: str) -> Iterator[tuple[Entry, int]]:
        """The folder of a run and its descriptor."""
        with self.opened(name) as (entry, folder):
            if LEDGER not in files_of(folder):
                raise NotThere(f"{name[:80]}: is not a run; it has no {LEDGER}")
            yield entry, folder

    @contextmanager
    def opened(self, name: str) -> Iterator[tuple[Entry, int]]:
        """The folder of that name below one that was given, and its descriptor."""
        root, parts = self._place(name)
        descriptor = None
        try:
            with suppress(OSError, ValueError):
                descriptor = open_below(self.roots[root], parts)
            if descriptor is None:
                raise NotThere(f"{name[:80]!r}: there is no such folder here, or it leads out of the folders given")
            yield self._entry(name, root, parts), descriptor
        finally:
            if descriptor is not None:
                os.close(descriptor)

    def _entry(self, name: str, root: int, parts: Sequence[str]) -> Entry:
        path, here = self.folders[root].joinpath(*parts), Path.cwd()
        return Entry(name, path, path.relative_to(here) if path.is_relative_to(here) else path)

    def _place(self, name: str) -> tuple[int, list[str]]:
        number, _, below = name.partition("/")
        parts = below.split("/") if below else []
        if (
            not (number.isascii() and number.isdigit() and len(number) < 4 and int(number) < len(self.folders))
            or any(part in ("", ".", "..") or "\0" in part or "\\" in part for part in parts)
            or len(name) > 1000
        ):
            raise NotThere(f"{name[:80]!r}: names nothing below the folders that this page was given")
        return int(number), parts

    def _walk(self) -> Iterator[tuple[Entry, set[str]]]:
        """Every folder below those given with the names of its files, shallow ones first in the order of names."""
        looked = 0
        for number in range(len(self.folders)):
            waiting: list[list[str]] = [[]]
            while waiting and looked < MOST_FOLDERS:
                parts = waiting.pop(0)
                looked += 1
                try:
                    folder = open_below(self.roots[number], parts)
                except OSError:
                    continue
                try:
                    names = files_of(folder)
                    yield self._entry("/".join([str(number), *parts]), number, parts), names
                    if len(parts) < DEEPEST and not names.issuperset((CONFIG, WEIGHTS)):
                        waiting += [[*parts, name] for name in _subfolders(folder)]
                finally:
                    os.close(folder)


def open_below(root: int, parts: Sequence[str]) -> int:
    """A descriptor of the folder that these names lead to from an open one; no part may be a link."""
    descriptor = os.open(".", _FOLDER, dir_fd=root)
    for part in parts:
        try:
            inner = os.open(part, _FOLDER, dir_fd=descriptor)
        finally:
            os.close(descriptor)
        descriptor = inner
    return descriptor


def files_of(folder: int) -> set[str]:
    """Which of the files that make a model or a run a folder has; links and whatever else is no file do not count."""
    found = set()
    for name in (CONFIG, WEIGHTS, LEDGER):
        with suppress(OSError):
            if stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                found.add(name)
    return found


def version_of(folder: int, name: str) -> tuple[int, ...]:
    """What changes when a file of an open folder is written anew."""
    here, file = os.fstat(folder), os.stat(name, dir_fd=folder, follow_symlinks=False)
    return here.st_dev, here.st_ino, file.st_ino, file.st_mtime_ns, file.st_size


def _subfolders(folder: int) -> list[str]:
    names: list[str] = []
    with suppress(OSError), os.scandir(folder) as entries:
        for looked, entry in enumerate(entries):
            if looked >= MOST_NAMES:
                break
            if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
                names.append(entry.name)
    return sorted(names)
