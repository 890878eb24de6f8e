"""The plan of given facts: the complete folder of each method's model, beside what else one would use.

A row with a method gives the bytes of its folder, of its weights, and its parameters; an estimate is marked as one.
What is not a model counts its words too. Results without a construction have rows without bytes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import get_args

from rote.arguments import typed
from rote.display import Records
from rote.experiments.sizing.alternatives import alternatives
from rote.experiments.sizing.built import BITS, built_rows
from rote.experiments.sizing.folder_sizes import FolderSizes
from rote.experiments.sizing.row import PlanRow, Section
from rote.experiments.sizing.theory import counting_row, theory_rows
from rote.models.model import dtype_named
from rote.models.spec import Dtype
from rote.progress import SILENT, Progress
from rote.tasks import TokenTask, require_tokens
from rote.tasks.facts import Facts, facts

SHOWN = ("id", "section", "bytes", "weights", "parameters", "model", "reason")
"""Columns of a plan when it is shown as a table."""


@typed
def plan(
    task: Facts,
    *,
    dtype: Dtype | None = None,
    everything: bool = False,
    progress: Progress = SILENT,
) -> Records[PlanRow]:
    """Every way to store the facts, section by section, fewest bytes of the complete folder first.

    Default of `dtype`: each method's own. Where only building tells the size, the row is an estimate; the smallest are
    built while that takes a second or two, and all of them with `everything`.

    >>> import rote
    >>> rows = rote.plan("random:vocab=12,context=2,facts=40,seed=1")
    >>> rows.frame().columns[0], len(rows) > 5
    ('id', True)
    """
    why = "plans are for token tasks; for vectors see the bound mahdavi2024.theorem1"
    task = require_tokens(facts(task), why)
    if dtype is not None:
        dtype_named(dtype)
    return plan_rows(task, dtype, built_rows(task, dtype, everything, progress))


def plan_rows(task: TokenTask, dtype: str | None, built: Sequence[PlanRow]) -> Records[PlanRow]:
    """The rows of builds, of theory and of storage without a model, in order."""
    sizes = FolderSizes(task)
    without = [counting_row(task.shape, BITS[dtype or "float32"]), *alternatives(task, sizes.words, sizes.keys)]
    return Records(sorted([*without, *built, *theory_rows(task.shape, type(task))], key=_place), SHOWN)


def _place(row: PlanRow) -> tuple[int, float, int, str]:
    unsized = math.inf if row.bytes is None else row.bytes
    return get_args(Section).index(row.section), unsized, row.parameters or 0, row.id
