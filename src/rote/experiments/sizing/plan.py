"""The plan of given facts: the size of each method's model, with a look-up table and a zip for comparison.

A row with a method gives the parameters and bytes of its model, says that only building tells, or why the method is
rejected. Bytes are those of the tensors in the file of weights; only the zip includes the words of the vocabulary.
Results without a construction have rows without bytes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from rote.arguments import typed
from rote.display import Records
from rote.experiments.sizing.built import BITS, built_row, planned_builds
from rote.experiments.sizing.row import PlanRow, Section
from rote.experiments.sizing.theory import rows_without_model, theory_rows
from rote.experiments.storage import zipped_bytes
from rote.models.model import dtype_named
from rote.models.spec import Dtype
from rote.progress import SILENT, Progress
from rote.tasks import TokenTask, require_tokens
from rote.tasks.facts import Facts, facts

SHOWN = ("id", "section", "bytes", "parameters", "model", "reason")
"""Columns of a plan when it is shown as a table."""


@typed
def plan(
    task: Facts,
    *,
    dtype: Dtype | None = None,
    everything: bool = False,
    progress: Progress = SILENT,
) -> Records[PlanRow]:
    """Every way to store the facts, section by section, fewest bytes first.

    Default of `dtype`: each method's own. Methods whose size only building tells are built if that takes seconds, or
    always with `everything`.

    >>> import rote
    >>> rows = rote.plan("random:vocab=12,context=2,facts=40,seed=1")
    >>> rows.frame().columns[0], len(rows) > 5
    ('id', True)
    """
    why = "plans are for token tasks; for vectors see the bound mahdavi2024.theorem1"
    task = require_tokens(facts(task), why)
    if dtype is not None:
        dtype_named(dtype)
    file = Path(task.origin.source)
    built = [built_row(build, task, dtype, everything, progress) for build in planned_builds(task)]
    return plan_rows(task, dtype, built, zipped_bytes(file if file.is_file() else task))


def plan_rows(task: TokenTask, dtype: str | None, built: Sequence[PlanRow], zipped: int) -> Records[PlanRow]:
    """The rows of builds, of theory and of storage without a model, in order."""
    without = rows_without_model(task.shape, BITS[dtype or "float32"], zipped)
    return Records(sorted([*without, *built, *theory_rows(task.shape, type(task))], key=_place), SHOWN)


def _place(row: PlanRow) -> tuple[int, float, int, str]:
    unsized = math.inf if row.bytes is None else row.bytes
    return get_args(Section).index(row.section), unsized, row.parameters or 0, row.id
