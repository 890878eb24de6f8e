"""The disk filled at every write of a sweep and of a build in turn, and a real small disk where one may be mounted.

    python benchmarks/full_disk.py [STRIDE]

Each command runs once per write it makes (every STRIDE-th one), on a disk that is full from that write on: it must end
with exit code 2 and a message that names the folder; trials that ended must be in the ledger as they were; and the same
command with room on the disk must complete, with the table of an uninterrupted sweep. Exit 1 if any did not.
"""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from faults.full_disk import Filled, again, filled_at, start_again, writes_of

SWEEP = ["sweep", "--vocab", "6", "--dim", "4", "--heads", "1,2", "--seeds", "2", "--steps", "5", "--workers", "1"]
BUILD = ["build", "random:vocab=6,context=2,facts=9,seed=1"]
SIZES = range(0, 200, 8)
"""KiB of the real disks."""


def main(words: list[str]) -> int:
    if words[:1] != ["--inside"]:
        with tempfile.TemporaryDirectory() as place:
            code = start_again([__file__, "--inside", *words], Path(place), subprocess.run)
        if code is None:
            raise SystemExit("this takes a C compiler and Linux")
        return code
    # The library is in this process alone: what it starts has a disk of its own.
    os.environ.pop("LD_PRELOAD", None)
    stride = int(words[1]) if len(words) > 1 else 1
    with tempfile.TemporaryDirectory() as place:
        disk = Path(place) / "disk"
        wrong = _sweeps(disk, stride) + _builds(disk, stride)
        if stride == 1:
            wrong += _small_disks(disk)
    return 1 if wrong else 0


def _sweeps(disk: Path, stride: int) -> list[str]:
    folder = disk / "the-run"
    words = [*SWEEP, "-o", str(folder)]
    writes = writes_of(words, disk)
    whole, wrong, kept = _table(folder), [], 0
    for write in range(0, writes, stride):
        filled = filled_at(words, disk, folder, write)
        flaws = filled.flaws
        before = _trials(folder)
        kept += len(before)
        flaws += _resumed(words, folder, whole, before)
        wrong += _told(f"sweep, write {write + 1}", flaws)
    tried = len(range(0, writes, stride))
    print(f"sweep: {writes} writes, disk full at {tried} of them, {kept} trials kept in all, {len(wrong)} complaints")
    return wrong


def _told(where: str, flaws: list[str]) -> list[str]:
    """The complaints about one attempt, printed as they come."""
    told = [f"{where}: {flaw}" for flaw in flaws]
    for line in told:
        print(line, flush=True)
    return told


def _resumed(words: list[str], folder: Path, whole: list[tuple[str, ...]], before: dict[str, str]) -> list[str]:
    """What is wrong with the same command on a disk with room."""
    code, said = again(words)
    if code != 0:
        return [f"resuming ends with {code}: {said.strip()[:200]}"]
    after = _trials(folder)
    flaws = [] if all(after.get(trial) == row for trial, row in before.items()) else ["a trial that had ended changed"]
    return flaws if _table(folder) == whole else [*flaws, "the table is not that of a sweep that was never interrupted"]


def _builds(disk: Path, stride: int) -> list[str]:
    folder = disk / "the-model"
    words = [*BUILD, "-o", str(folder)]
    writes, wrong = writes_of(words, disk), []
    for write in range(0, writes, stride):
        filled: Filled = filled_at(words, disk, folder, write)
        flaws = filled.flaws
        left = [str(path.relative_to(disk)) for path in disk.rglob("*")]
        if left:
            flaws.append(f"{', '.join(left)} left behind")
        code, said = again(words)
        if code != 0 or again(["verify", str(folder)])[0] != 0:
            flaws.append(f"building again ends with {code}: {said.strip()[:200]}")
        wrong += _told(f"build, write {write + 1}", flaws)
    print(f"build: {writes} writes, disk full at {len(range(0, writes, stride))} of them, {len(wrong)} complaints")
    return wrong


def _small_disks(disk: Path) -> list[str]:
    """Disks in memory of a few KiB, which are full where they are full; remounted larger, the sweep must go on."""
    folder = disk / "the-run"
    words = [*SWEEP, "-o", str(folder)]
    writes_of(words, disk)
    whole, wrong, full = _table(folder), [], 0
    for size in SIZES:
        subprocess.run(["rm", "-rf", str(folder)], check=True)
        mount = ["mount", "-t", "tmpfs", "-o", f"size={size + 4}k", "tmpfs", str(disk)]
        if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
            print("small disks: not tried, none may be mounted here")
            return wrong
        try:
            code, said = again(words)
            flaws = Filled(0, code, said, folder).flaws if code else []
            full += code != 0
            subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
            flaws += _resumed(words, folder, whole, _trials(folder))
        finally:
            subprocess.run(["umount", "-l", str(disk)], check=True)
        wrong += _told(f"a disk of {size + 4} KiB", flaws)
    sizes = f"{len(SIZES)} from {SIZES[0] + 4} to {SIZES[-1] + 4} KiB"
    print(f"small disks: {sizes}, {full} too small, {len(wrong)} complaints")
    return wrong


def _table(folder: Path) -> list[tuple[str, ...]]:
    """The sweep's table without the time it took."""
    with (folder / "sweep.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [tuple(value for name, value in row.items() if name != "cpu_seconds") for row in rows]


def _trials(folder: Path) -> dict[str, str]:
    """Trials of the ledger that can be read, by cell and seed."""
    from rote.errors import InputError
    from rote.experiments.ledgers.ledger import Ledger

    try:
        return {f"{row.key}": f"{row.result}" for row in Ledger.read(folder)[1]}
    except InputError:
        return {}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
