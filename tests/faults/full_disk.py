"""The disk filled at every write of a command in turn: a message that names the folder, and nothing lost.

The command runs in this process once per write. `start_again` runs a script in a process of its own that has the
library of `full_disk.c` in it.
"""

from __future__ import annotations

import ctypes
import io
import os
import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from rote.cli import main

SOURCE = Path(__file__).with_name("full_disk.c")


@dataclass(frozen=True)
class Filled:
    """What became of a command whose disk was full from a write on."""

    write: int
    code: int
    said: str
    folder: Path

    @property
    def flaws(self) -> list[str]:
        """What a user would have reason to complain about."""
        flaws = []
        if self.code != 2:
            flaws.append(f"exit code {self.code}")
        if "Traceback" in self.said:
            flaws.append("a traceback")
        if self.folder.name not in self.said:
            flaws.append(f"the folder is not named: {self.said.strip()[:200]!r}")
        left = [path.name for path in self.folder.parent.rglob("*.part")]
        if left:
            flaws.append(f"half a file is left: {', '.join(left)}")
        return flaws


def writes_of(words: list[str], disk: Path) -> int:
    """How often a command writes to the disk, which is emptied before."""
    code, said, count = _run(words, disk, -1)
    if code != 0:
        raise RuntimeError(f"{words}: exit code {code} on an empty disk: {said}")
    return count


def filled_at(words: list[str], disk: Path, folder: Path, write: int) -> Filled:
    """The command on an emptied disk that is full after so many writes."""
    code, said, _ = _run(words, disk, write)
    return Filled(write, code, said, folder)


def again(words: list[str]) -> tuple[int, str]:
    """The command once more, with room on the disk."""
    return _called(words)


def _run(words: list[str], disk: Path, allowed: int) -> tuple[int, str, int]:
    shutil.rmtree(disk, ignore_errors=True)
    disk.mkdir()
    library = ctypes.CDLL(None)
    library.full_disk_writes.restype = ctypes.c_long
    library.full_disk_after(os.fsencode(disk), ctypes.c_long(allowed))
    try:
        code, said = _called(words)
        return code, said, library.full_disk_writes()
    finally:
        library.full_disk_after(b"", ctypes.c_long(-1))


def _called(words: list[str]) -> tuple[int, str]:
    said = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(said):
        try:
            code = main(words)
        except Exception:  # noqa: BLE001  (a traceback is what is looked for)
            return -1, traceback.format_exc()
    return code, said.getvalue()


def start_again(script: list[str], build: Path, run: Callable[..., subprocess.CompletedProcess[str]]) -> int | None:
    """Run a Python script in a process that has the library in it; nothing where there is no C compiler."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None or not sys.platform.startswith("linux"):
        return None
    library = build / "full_disk.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-w", "-o", str(library), str(SOURCE), "-ldl"], check=True)
    environment = {**os.environ, "LD_PRELOAD": str(library), "OMP_NUM_THREADS": "1"}
    return run([sys.executable, *script], env=environment, check=False).returncode
