"""Rows of a plan that `rote build` keeps: one for every construction that stores this kind of task.

Sizes are chosen by the constructions' own code. Where a construction is in doubt (a draw may miss facts, a fit may need
more heads) and building takes seconds, it is built to find out; beyond that the row has no numbers, and says in words
where the build starts.
"""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass, field
from typing import Any

from rote.constructions import CONSTRUCTIONS
from rote.constructions.build import Built, build
from rote.constructions.construction import Construction, Request, parse_options
from rote.errors import CheckFailed, InputError
from rote.experiments.sizing.row import PlanRow
from rote.folders.folder import weights_bytes
from rote.models.spec import Spec, in_words, size_of
from rote.progress import SILENT, Progress
from rote.tasks import AssociationTask, TokenTask
from rote.theory import RESULTS

BITS = {"float16": 16, "bfloat16": 16, "float32": 32, "float64": 64}
INDEX_BITS = 64


@dataclass(frozen=True)
class Way:
    """A construction with settings that make a row of their own."""

    id: str
    construction: Construction[Any, Any]
    quick_facts: int
    options: dict[str, Any] = field(default_factory=dict)
    flags: str = ""
    """What the settings are on the command line."""

    def command(self, task: TokenTask, dtype: str | None) -> str:
        precision = "" if dtype is None else f" --dtype {dtype}"
        facts = shlex.quote(task.origin.source)
        return f"rote build {facts} --method {self.construction.id}{self.flags}{precision} -o model"


def ways_for(task: TokenTask) -> list[Way]:
    """Every construction of such tasks, and Theorem 1 with query-key matrices of rank one, which Remark 2 is about."""
    ways = [
        Way(id, construction, construction.quick_facts)
        for id, construction in CONSTRUCTIONS.items()
        if isinstance(task, construction.tasks)
    ]
    if isinstance(task, AssociationTask):
        # Rank one leaves no room for the gates of the quick solve, so that the dense one limits the facts.
        ways.append(
            Way("dana2025.remark2", CONSTRUCTIONS["dana2025.theorem1"], 2_500, {"rank_one": True}, " --rank-one")
        )
    return ways


def built_row(
    way: Way, task: TokenTask, dtype: str | None, everything: bool = False, progress: Progress = SILENT
) -> PlanRow:
    """The size that building this way ends in, or that only building tells, or why it is refused."""
    construction = way.construction
    request = Request(
        task,
        parse_options(construction, way.options),
        dtype=dtype or construction.default_dtype,
        progress=progress,
    )
    try:
        spec = construction.spec(request) if construction.spec else None
        reason = construction.size_may_differ(request) if construction.size_may_differ else ""
        if spec is not None and not reason:
            return _sized(way, task, dtype, spec, request.dtype)
        if everything or task.facts <= way.quick_facts:
            return _measured(way, task, dtype, build_way(way, task, dtype, progress))
    except (InputError, CheckFailed) as error:
        return _refused(way, str(error))
    # Numbers are promises, so a size that may grow is said in words alone.
    return _row(
        way,
        section="starts",
        possible=True,
        model="not sized" if spec is None else in_words(spec),
        spec=None if spec is None else spec.to_config(),
        command=way.command(task, dtype),
        reason=f"only building tells, and {task.facts:,} facts take a while"
        if spec is None
        else f"it starts from {spec.parameters():,} parameters; {reason}",
    )


def build_way(way: Way, task: TokenTask, dtype: str | None, progress: Progress = SILENT) -> Built:
    """What the row's command builds."""
    return build(task, way.construction.id, dtype=dtype, keep_keys=False, progress=progress, **way.options)


def _sized(way: Way, task: TokenTask, given: str | None, spec: Spec, dtype: str) -> PlanRow:
    bits = float(BITS[dtype] * spec.parameters() + INDEX_BITS * size_of(spec.index_shapes()))
    return _row(
        way,
        section="builds",
        possible=True,
        model=in_words(spec),
        spec=spec.to_config(),
        parameters=spec.parameters(),
        bits=bits,
        bytes=math.ceil(bits / 8),
        command=way.command(task, given),
        reason="the build ends in this size",
        note="" if way.construction.exact else "promises most facts, not all",
    )


def _measured(way: Way, task: TokenTask, dtype: str | None, built: Built) -> PlanRow:
    size, certificate = weights_bytes(built.model), built.certificate
    packed = f", packed from {built.model.bytes:,} bytes" if size < built.model.bytes else ""
    return _row(
        way,
        section="builds",
        possible=True,
        model=in_words(built.model.spec),
        spec=built.model.spec.to_config(),
        parameters=built.model.parameters,
        bits=8.0 * size,
        bytes=size,
        command=way.command(task, dtype),
        reason=f"built: {certificate.recalled:,} of {certificate.facts:,} recalled in {certificate.dtype}{packed}",
        note="" if certificate.complete else f"misses {certificate.missed:,} facts",
    )


def _refused(way: Way, reason: str) -> PlanRow:
    return _row(way, section="refused", possible=False, model="none", reason=reason)


def _row(way: Way, **fields: Any) -> PlanRow:
    meets = RESULTS.get(way.id if way.options else way.construction.meets or "")
    return PlanRow(
        id=way.id,
        kind="lower" if meets is None else meets.kind,
        construction=way.construction.id,
        source=way.construction.source if meets is None else meets.source,
        **fields,
    )
