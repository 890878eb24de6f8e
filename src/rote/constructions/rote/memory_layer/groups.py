"""The values of every group's slots: groups are solved alone, on all cores, and kept in files where a folder is given.

A group's solution depends on its own facts and on the layout alone, so a build that was killed resumes with the same
weights.
"""

from __future__ import annotations

import hashlib
import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import safetensors.numpy

from rote.constructions.rote.memory_layer.layout import CHOICES, Layout
from rote.constructions.rote.memory_layer.peeling import solved
from rote.folders.parts import PartFiles
from rote.progress import Progress
from rote.theory.rote_peeling import UNKNOWNS

GROUPS_PER_FILE = 16
"""Groups that are solved and kept together."""


@dataclass(frozen=True, eq=False)
class Solution:
    """Values of slots (groups x heads x slots x digits), and which coordinates each group reads."""

    values: np.ndarray
    choices: np.ndarray


def solve_groups(layout: Layout, folder: Path | None, progress: Progress) -> Solution | None:
    """The solution of all groups; none where one of them cannot be solved with these hash functions."""
    shape = (layout.groups, UNKNOWNS, layout.slots, layout.digits)
    values = np.zeros(shape, dtype=np.uint16)
    choices = np.zeros(layout.groups, dtype=np.uint8)
    starts = range(0, layout.groups, GROUPS_PER_FILE)
    files = None if folder is None or len(starts) == 1 else GroupFiles.of(folder, layout)

    def part(start: int) -> Solution | None:
        count = min(GROUPS_PER_FILE, layout.groups - start)
        found = None if files is None else files.read(start, count)
        if found is None:
            found = _solve(layout, start, count)
            if files is not None and found is not None:
                files.write(start, found)
        return found

    layout.precompute()
    with progress.stage("solving groups", layout.groups) as stage, ThreadPoolExecutor(os.cpu_count()) as pool:
        for start, found in zip(starts, pool.map(part, starts), strict=True):
            if found is None:
                pool.shutdown(cancel_futures=True)
                return None
            values[start : start + len(found.values)] = found.values
            choices[start : start + len(found.values)] = found.choices
            stage.advance(len(found.values))
    return Solution(values, choices)


def _solve(layout: Layout, start: int, count: int) -> Solution | None:
    """Solve some groups one after the other."""
    values = np.zeros((count, UNKNOWNS, layout.slots, layout.digits), dtype=np.uint16)
    choices = np.zeros(count, dtype=np.uint8)
    heads = np.arange(UNKNOWNS) * layout.slots
    for place in range(count):
        rows = layout.rows_of_groups[start + place]
        slots, sums = layout.slots_of(rows), layout.numbers_of(rows)
        for number, choice in enumerate(CHOICES):
            found = solved(slots[:, choice] + heads, sums, UNKNOWNS * layout.slots, layout.base)
            if found is not None:
                values[place], choices[place] = found.reshape(values.shape[1:]), number
                break
        else:
            return None
    return Solution(values, choices)


@dataclass(frozen=True)
class GroupFiles:
    """Groups that were solved, in files of a folder; of another layout they have other names."""

    files: PartFiles
    name: str
    layout: Layout

    @classmethod
    def of(cls, folder: Path, layout: Layout) -> GroupFiles:
        stated = [layout.task.fingerprint, layout.seed, layout.attempt, layout.dtype, layout.spec.to_config()]
        name = hashlib.sha256(json.dumps(stated).encode()).hexdigest()[:24]
        return cls(PartFiles.of(folder), name, layout)

    def read(self, start: int, count: int) -> Solution | None:
        """Groups that were kept; none where the file is absent or not whole."""
        arrays, layout = self.files.arrays(f"{self.name}-{start}"), self.layout
        if arrays is None or set(arrays) != {"values", "choices"} or arrays["values"].dtype != np.int16:
            return None
        found = Solution(arrays["values"].view(np.uint16), arrays["choices"])
        shape = (count, UNKNOWNS, layout.slots, layout.digits)
        whole = found.values.shape == shape and found.values.max() < layout.base
        named = (
            found.choices.shape == (count,) and found.choices.dtype == np.uint8 and max(found.choices) < len(CHOICES)
        )
        return found if whole and named else None

    def write(self, start: int, found: Solution) -> None:
        # As int16, which every reader of the format knows.
        arrays = {"values": found.values.view(np.int16), "choices": found.choices}
        self.files.write(f"{self.name}-{start}", safetensors.numpy.save(arrays))
