"""Where a folder is to be written: asked before the work, so that hours of it are not lost to a wrong path, and written
aside, so that it is complete or absent.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from rote.errors import InputError, RoteError, cut
from rote.files import writing
from rote.folders.layout import CONFIG
from rote.interrupts import completed, no_longer_kept, out_of_memory, unfinished


@dataclass(frozen=True)
class FolderKind:
    """A kind of folder that rote writes, and the files by which it is told from somebody else's."""

    name: str
    files: tuple[str, ...]


MODEL_FOLDER = FolderKind("a model folder", (CONFIG,))


def check_destination(path: Path, overwrite: bool = False, kind: FolderKind = MODEL_FOLDER) -> None:
    """Refuse a path that a folder cannot be written to, or where it would destroy something of another kind."""
    with writing(path):
        if path.is_file():
            raise InputError(f"{path}: is a file; give the name of a folder to write into")
        if path.exists() and any(path.iterdir()):
            if not overwrite:
                raise InputError(
                    f"{path}: exists and is not empty; choose another name, or replace it with `overwrite=True`"
                )
            if not all((path / name).is_file() for name in kind.files):
                raise InputError(f"{path}: is not {kind.name}, so it is not replaced; choose another name")
    check_writable(path)


def check_writable(path: Path) -> None:
    """Refuse a path at which nothing can be created: tried, since permissions alone do not tell."""
    with writing(path):
        nearest = next(folder for folder in path.absolute().parents if folder.exists())
        tempfile.TemporaryDirectory(prefix=f".{path.name[:50]}.", dir=nearest).cleanup()


@contextmanager
def parents_of(path: Path) -> Iterator[None]:
    """Create the folders above `path`; if the work inside fails, those that were created are removed again."""
    missing = [folder for folder in path.absolute().parents if not folder.exists()]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for folder in missing:
            with suppress(OSError):
                folder.rmdir()
        raise


@contextmanager
def written_aside(path: Path) -> Iterator[Path]:
    """A folder beside `path` to write into, renamed when all went well; what was begun is removed if anything fails."""
    with writing(path), parents_of(path):
        aside = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
        with unfinished(aside):
            try:
                yield aside
                aside.chmod(0o755)
                _swap_in(aside, path)
                completed(path)
            except BaseException:
                shutil.rmtree(aside, ignore_errors=True)
                raise


@contextmanager
def solved_parts(path: Path) -> Iterator[Path]:
    """A hidden folder beside `path` for parts of a long build; removed unless the work inside is interrupted.

    Parts that were there before are believed. Where the work fails on them in a way that is no message of rote's, they
    are none that rote wrote for it: they are removed, and the message says so.
    """
    parts = path.parent / f".{path.name}.resume"
    if os.path.lexists(parts) and (parts.is_symlink() or not parts.is_dir()):
        raise InputError(f"{parts}: is no folder of rote's; remove it")
    resumed = parts.is_dir()
    try:
        yield parts
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        shutil.rmtree(parts, ignore_errors=True)
        known = isinstance(error, (RoteError, OSError)) or out_of_memory(error) is not None
        if not resumed or known or not isinstance(error, Exception):
            raise
        cause = f"{type(error).__name__}: {cut(error)}"
        raise InputError(f"{parts}: held parts that are not of this work ({cause}); removed, run it again") from error
    shutil.rmtree(parts, ignore_errors=True)
    no_longer_kept(parts)


def _swap_in(aside: Path, path: Path) -> None:
    """Rename `aside` to `path`; what was there before is gone only once the new folder stands."""
    if not path.exists():
        aside.rename(path)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{path.name}.old.", dir=path.parent)) / "folder"
    try:
        path.rename(old)
        aside.rename(path)
    except BaseException:
        if old.exists():
            old.rename(path)
        old.parent.rmdir()
        raise
    shutil.rmtree(old.parent)
