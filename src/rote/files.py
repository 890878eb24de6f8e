"""The one gate for files from elsewhere: what is opened, how large it may be, what JSON may hold; how one is written.

A file that a stranger may have put there is opened without following a link, must be a regular file (a pipe or a device
would be read for ever) and no larger than its kind allows. A folder is held open while its files are read, each by its
name in that folder, so that nothing can be swapped for a link meanwhile. JSON is parsed with limits on its depth, its
numbers and its names. A compressed file is unpacked up to the size that its kind allows. What rote writes beside a
stranger's files is a new file under a random name that is renamed at the end, never an existing one and never through a
link.
"""

from __future__ import annotations

import errno
import json
import lzma
import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from rote.errors import InputError, WriteFailed, cut, system_cause
from rote.interrupts import completed, unfinished


@dataclass(frozen=True)
class FileKind:
    """A kind of file that is read, and the most bytes that one may have."""

    name: str
    most: int
    lists: int = 2**20
    """Most lists and objects, where it is JSON: what takes time to read, and to check afterwards."""
    values: int = 2**23
    """Most values, where it is JSON."""
    names: int = 2**20
    """Most names of one object, where it is JSON."""

    @property
    def unlimited(self) -> FileKind:
        """The same without a limit, for a file of which only the first bytes are read."""
        return replace(self, most=2**63)


JSON = FileKind("JSON", 2**24, lists=2**18, values=2**20, names=2**14)
"""Configurations, certificates, records: each value that is wrong in them takes 400 bytes to say so."""
MANIFEST = FileKind("a manifest", 2**26, lists=2**20, values=2**21, names=2**14)
WORDS = FileKind("a list of words", 2**26)
"""A vocabulary: a million words of 60 letters."""
TABLE = FileKind("a table of facts", 2**27)
"""Facts that a folder names. A table that a user names has no such limit."""
TENSORS = FileKind("tensors", 2**33)
CODE = FileKind("text", 2**20)

DEEPEST = 32
"""Lists and objects of JSON inside each other."""
MOST_DIGITS = 19
"""Digits of a whole number in JSON: those of 2^63."""
MOST_NAMES = 4096
"""Files and folders in one folder."""
LARGEST_WINDOW = 2**26
"""Bytes that a packed file may refer back to, which are held in memory while it is read."""
SPARSE_FROM, SPARSE_SHARE = 2**26, 16
"""A file of this size or more that takes less than a sixteenth of it on the disk is holes: rote writes none."""

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
"""A text of JSON; one without an end reaches to the end, so that nothing is searched twice."""


class HeldFolder:
    """A folder that is held open: its files are opened by their names in it, and never through a link."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path, self._descriptor = path, descriptor

    def names(self) -> list[str]:
        """Names of everything in the folder, in order."""
        names: list[str] = []
        with os.scandir(self._descriptor) as entries:
            for entry in entries:
                names.append(entry.name)
                if len(names) > MOST_NAMES:
                    raise InputError(f"{self.path}: holds more than {MOST_NAMES:,} files; rote did not write this")
        return sorted(names)

    def has(self, name: str) -> bool:
        """Whether something of this name is here, be it a link that leads nowhere."""
        return self._mode(name) is not None

    def is_folder(self, name: str) -> bool:
        """Whether this name is a folder; a link to one is not."""
        mode = self._mode(name)
        return mode is not None and stat.S_ISDIR(mode)

    def _mode(self, name: str) -> int | None:
        try:
            return os.stat(name, dir_fd=self._descriptor, follow_symlinks=False).st_mode
        except (OSError, ValueError):
            return None

    @contextmanager
    def folder(self, name: str) -> Iterator[HeldFolder]:
        """A folder in this one, held open; a link is rejected."""
        path = self.path / name
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        with _reading(path):
            descriptor = os.open(name, flags, dir_fd=self._descriptor)
        try:
            yield HeldFolder(path, descriptor)
        finally:
            os.close(descriptor)

    @contextmanager
    def opened(self, name: str, kind: FileKind) -> Iterator[int]:
        """The descriptor of a regular file of this folder, no larger than its kind allows."""
        path = self.path / name
        with _reading(path):
            descriptor = os.open(name, _READ, dir_fd=self._descriptor)
        try:
            _refuse_unlike(descriptor, path, kind)
            yield descriptor
        finally:
            os.close(descriptor)

    def read(self, name: str, kind: FileKind) -> bytes:
        """All bytes of a file."""
        with self.opened(name, kind) as descriptor:
            return bytes_of(descriptor, self.path / name)

    def json(self, name: str, kind: FileKind = JSON) -> Any:
        """What a JSON file holds; one whose name ends in `.xz` is unpacked first."""
        data, where = self.read(name, kind), str(self.path / name)
        return parsed(unpacked_xz(data, kind, where) if name.endswith(".xz") else data, where, kind)

    def size(self, name: str, kind: FileKind) -> int:
        """Bytes of a file."""
        with self.opened(name, kind) as descriptor:
            return os.fstat(descriptor).st_size

    def copy(self, name: str, to: Path, kind: FileKind) -> None:
        """Copy a file to a new one."""
        with (
            self.opened(name, kind) as source,
            new_file(to) as target,
            os.fdopen(os.dup(source), "rb") as reader,
            os.fdopen(os.dup(target), "wb") as writer,
        ):
            shutil.copyfileobj(reader, writer, 2**20)


@contextmanager
def held(path: str | Path, below: str | Path | None = None) -> Iterator[HeldFolder]:
    """A folder, held open. Of `path` itself links are followed: whoever names it means what it leads to.

    With `below`, a folder that is trusted, nothing between it and `path` may be a link.
    """
    path = Path(path)
    start = path if below is None else Path(below)
    with _reading(start):
        descriptor = os.open(start, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in () if below is None else path.relative_to(below).parts:
            if part == os.pardir:
                raise InputError(f"{path}: leads out of {below}")
            with _reading(path):
                inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        yield HeldFolder(path, descriptor)
    finally:
        os.close(descriptor)


def read_regular(path: Path, kind: FileKind) -> bytes:
    """The bytes of a regular file that is no link and no larger than its kind allows."""
    with _reading(path):
        descriptor = os.open(path, _READ)
    try:
        _refuse_unlike(descriptor, path, kind)
        return bytes_of(descriptor, path)
    finally:
        os.close(descriptor)


def read_json(path: Path, kind: FileKind = JSON) -> Any:
    """What a JSON file holds, within the limits of this module."""
    return parsed(read_regular(path, kind), str(path), kind)


def bytes_of(descriptor: int, path: Path) -> bytes:
    """All bytes of an open file; one that grows while it is read is rejected."""
    size = os.fstat(descriptor).st_size
    with _reading(path), os.fdopen(os.dup(descriptor), "rb") as file:
        data = file.read(size + 1)
    if len(data) > size:
        raise InputError(f"{path}: changed while it was read; try again when nothing writes to it")
    return data


def packed_xz(data: bytes) -> bytes:
    """Text as an xz stream with a checksum. Settings: the smallest for lists of words, and no more memory than needed
    to read it back."""
    window = min(LARGEST_WINDOW, max(4096, 1 << len(data).bit_length()))
    effort = 9 | lzma.PRESET_EXTREME if len(data) < 2**22 else 6
    settings = {"id": lzma.FILTER_LZMA2, "preset": effort, "dict_size": window, "lc": 2, "pb": 0}
    return lzma.compress(data, check=lzma.CHECK_CRC32, filters=[settings])


def unpacked_xz(data: bytes, kind: FileKind, where: str) -> bytes:
    """What an xz stream holds, at most as many bytes as the kind of file allows; `where` names it in messages."""
    reader = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=2 * LARGEST_WINDOW)
    try:
        text = reader.decompress(data, max_length=kind.most + 1)
    except (lzma.LZMAError, EOFError, MemoryError) as error:
        raise InputError(f"{where}: cannot be unpacked ({error}); is the file damaged?") from None
    if len(text) > kind.most:
        raise InputError(f"{where}: unpacks to more than {kind.most:,} bytes, too many for {kind.name}")
    if not reader.eof or reader.unused_data:
        raise InputError(f"{where}: {'has data after its end' if reader.eof else 'ends too early'}; is it damaged?")
    return text


def _refuse_unlike(descriptor: int, path: Path, kind: FileKind) -> None:
    state = os.fstat(descriptor)
    if not stat.S_ISREG(state.st_mode):
        raise InputError(f"{path}: is not a plain file; rote did not write this")
    if state.st_size > kind.most:
        raise InputError(
            f"{path}: {state.st_size:,} bytes are too many for {kind.name}; rote reads at most {kind.most:,}"
        )
    if state.st_size >= SPARSE_FROM and 512 * state.st_blocks * SPARSE_SHARE < state.st_size:
        raise InputError(f"{path}: {state.st_size:,} bytes, nearly all of them holes; rote did not write this")


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """What the system rejects while a file is opened or read, as an error that names it."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.ELOOP or (error.errno == errno.ENOTDIR and path.is_symlink()):
            raise InputError(f"{path}: is a link, which rote does not follow here; put the file in its place") from None
        if error.errno == errno.ENXIO:
            raise InputError(f"{path}: is not a plain file; rote did not write this") from None
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    except ValueError as error:
        raise InputError(f"{str(path)!r}: is not the name of a file ({error})") from None


def parsed(data: bytes, where: str, kind: FileKind = WORDS) -> Any:
    """The content of JSON; `where` names it in messages.

    Rejected are: text that is not UTF-8 or has half a surrogate pair in it, more than `DEEPEST` levels, more values,
    lists, objects or names of an object than the kind of file allows, whole numbers of more than `MOST_DIGITS` digits,
    NaN, and a name that an object has twice. Values and lists are counted before anything is made of them.
    """
    try:
        text = data.decode("utf-8")
        lists = refuse_many(text, kind)
        named = partial(_object, kind.names)
        content = json.loads(text, parse_int=_integer, parse_constant=_constant, object_pairs_hook=named)
        if lists > DEEPEST:
            _refuse_deep(content)
        if _SURROGATE.search(text):
            _refuse_halves(content)
    except RecursionError:
        raise InputError(f"{where}: cannot be read as JSON (nested too deeply); rote did not write this") from None
    except ValueError as error:
        raise InputError(f"{where}: cannot be read as JSON ({error})") from None
    return content


def refuse_many(text: str, kind: FileKind) -> int:
    """Reject JSON with more values, lists or objects than its kind allows; how many lists and objects there are."""
    if text.count(",") >= kind.values and _TEXT.sub("", text).count(",") >= kind.values:
        raise ValueError(f"more than {kind.values:,} values")
    lists = _lists(text)
    if lists > kind.lists and (lists := _lists(_TEXT.sub("", text))) > kind.lists:
        raise ValueError(f"{lists:,} lists and objects, at most {kind.lists:,} are read")
    return lists


def _lists(text: str) -> int:
    return text.count("[") + text.count("{")


def _integer(digits: str) -> int:
    if len(digits) > MOST_DIGITS + 1:
        raise ValueError(f"a number of {len(digits):,} digits")
    return int(digits)


def _constant(name: str) -> float:
    if name == "NaN":
        raise ValueError("NaN is not a number")
    return float(name)


def _object(most: int, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(pairs) > most:
        raise ValueError(f"an object of {len(pairs):,} names, at most {most:,} are read")
    content = dict(pairs)
    if len(content) != len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))
        raise ValueError(f"the name {cut(twice)!r} is there twice")
    return content


def _refuse_deep(content: Any) -> None:
    level = [content] if isinstance(content, list | dict) else []
    for _ in range(DEEPEST):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, list | dict)
        ]
    if level:
        raise ValueError(f"nested more than {DEEPEST} deep")


def _refuse_halves(content: Any) -> None:
    waiting: list[Any] = [content]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            try:
                value.encode("utf-8")
            except UnicodeEncodeError:
                raise ValueError("half a surrogate pair, which is no character") from None
        elif isinstance(value, dict):
            waiting += [*value, *value.values()]
        elif isinstance(value, list):
            waiting += value


@contextmanager
def private_folder(prefix: str) -> Iterator[Path]:
    """A new folder that nobody else reads, removed at the end, however the program ends."""
    with tempfile.TemporaryDirectory(prefix=prefix) as place, unfinished(place):
        yield Path(place)


@contextmanager
def new_file(path: Path) -> Iterator[int]:
    """The descriptor of a file that this call creates; whatever stands at its path is left alone and is an error."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o666)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A new, empty file beside `path` to write into, under a random name; renamed to `path` when the work has ended.

    The file is complete or as it was before: if the work fails, what was begun is removed. A link at `path` is
    replaced, and what it leads to is left alone. What the system rejects is an error that names `path`; polars tells of
    a full disk in an exception of its own.
    """
    with writing(path):
        aside = path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}{path.suffix}")
        with unfinished(aside):
            try:
                with new_file(aside):
                    pass
                yield aside
                aside.replace(path)
                completed(path)
            except BaseException as error:
                with suppress(OSError):
                    aside.unlink(missing_ok=True)
                if type(error).__module__.startswith("polars."):
                    raise OSError(errno.EIO, str(error).splitlines()[0]) from None
                raise


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what the system rejects while `path` is written into an error that names it and the cause."""
    try:
        yield
    except OSError as error:
        raise WriteFailed(f"{path}: cannot be written ({system_cause(error)})") from None
