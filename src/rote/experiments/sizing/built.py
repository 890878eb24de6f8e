"""The rows of a plan that a build would confirm: one for every construction that stores this kind of task.

Sizes are chosen by the constructions' own code. If the built size may differ from it (a random initialization may miss
facts, a fit may need more heads), the construction is built when that takes seconds. Otherwise the row has no numbers
and says where the build starts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from rote.constructions import CONSTRUCTIONS
from rote.constructions.build import Built, build
from rote.constructions.construction import Construction, Request, parse_options
from rote.errors import CheckFailed, InputError
from rote.experiments.sizing.row import PlanRow
from rote.folders.folder import weights_bytes
from rote.models.spec import Dtype, Spec, in_words, size_of
from rote.progress import SILENT, Progress
from rote.tasks import AssociationTask, TokenTask
from rote.theory import RESULTS

BITS = {"float16": 16, "bfloat16": 16, "float32": 32, "float64": 64}
INDEX_BITS = 64


@dataclass(frozen=True)
class PlannedBuild:
    """A construction, with the options that distinguish its row of a plan."""

    id: str
    construction: Construction[Any, Any]
    quick_facts: int
    """Number of facts up to which building takes seconds."""
    options: dict[str, Any] = field(default_factory=dict)

    def build(self, task: TokenTask, dtype: Dtype | None, progress: Progress = SILENT) -> Built:
        """The model that the row describes."""
        return build(task, self.construction.id, dtype=dtype, keep_keys=False, progress=progress, **self.options)


def planned_builds(task: TokenTask) -> list[PlannedBuild]:
    """Every construction of such tasks, and Theorem 1 with query-key matrices of rank one (Remark 2)."""
    builds = [
        PlannedBuild(id, construction, construction.quick_facts)
        for id, construction in CONSTRUCTIONS.items()
        if isinstance(task, construction.tasks)
    ]
    if isinstance(task, AssociationTask):
        # Rank one leaves no room for the gates of the fast solver, so the dense one limits the number of facts.
        builds.append(PlannedBuild("dana2025.remark2", CONSTRUCTIONS["dana2025.theorem1"], 2_500, {"rank_one": True}))
    return builds


def built_row(
    planned: PlannedBuild, task: TokenTask, dtype: Dtype | None, everything: bool = False, progress: Progress = SILENT
) -> PlanRow:
    """The row of one construction: the size of the built model, where the build starts, or why it is rejected."""
    construction = planned.construction
    request = Request(
        task,
        parse_options(construction, planned.options),
        dtype=dtype or construction.default_dtype,
        progress=progress,
    )
    try:
        spec = construction.spec(request) if construction.spec else None
        reason = construction.size_may_differ(request) if construction.size_may_differ else ""
        if spec is not None and not reason:
            return _sized(planned, spec, request.dtype)
        if everything or task.facts <= planned.quick_facts:
            return _measured(planned, planned.build(task, dtype, progress))
    except (InputError, CheckFailed) as error:
        return _rejected(planned, str(error))
    # Numbers are guarantees, so a size that may grow is given in words only.
    return _row(
        planned,
        section="starts",
        possible=True,
        model="not sized" if spec is None else in_words(spec),
        spec=None if spec is None else spec.to_config(),
        reason=f"only building tells, and {task.facts:,} facts take a while"
        if spec is None
        else f"it starts from {spec.parameters():,} parameters; {reason}",
    )


def _sized(planned: PlannedBuild, spec: Spec, dtype: str) -> PlanRow:
    bits = float(BITS[dtype] * spec.parameters() + INDEX_BITS * size_of(spec.index_shapes()))
    return _row(
        planned,
        section="builds",
        possible=True,
        model=in_words(spec),
        spec=spec.to_config(),
        parameters=spec.parameters(),
        bits=bits,
        bytes=math.ceil(bits / 8),
        reason="the build ends in this size",
        note="" if planned.construction.exact else "guarantees most facts, not all",
    )


def _measured(planned: PlannedBuild, built: Built) -> PlanRow:
    size, certificate = weights_bytes(built.model), built.certificate
    packed = f", packed from {built.model.bytes:,} bytes" if size < built.model.bytes else ""
    return _row(
        planned,
        section="builds",
        possible=True,
        model=in_words(built.model.spec),
        spec=built.model.spec.to_config(),
        parameters=built.model.parameters,
        bits=8.0 * size,
        bytes=size,
        reason=f"built: {certificate.recalled:,} of {certificate.facts:,} recalled in {certificate.dtype}{packed}",
        note="" if certificate.complete else f"misses {certificate.missed:,} facts",
    )


def _rejected(planned: PlannedBuild, reason: str) -> PlanRow:
    return _row(planned, section="refused", possible=False, model="none", reason=reason)


def _row(planned: PlannedBuild, **fields: Any) -> PlanRow:
    meets = RESULTS.get(planned.id if planned.options else planned.construction.meets or "")
    return PlanRow(
        id=planned.id,
        kind="lower" if meets is None else meets.kind,
        construction=planned.construction.id,
        options=planned.options,
        source=planned.construction.source if meets is None else meets.source,
        **fields,
    )
