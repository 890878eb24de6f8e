"""Rows of a plan without a construction: orders of growth, estimates, and the counting bound.

A result up to constants, or for an architecture that rote does not have, guarantees no number of bytes.
"""

from __future__ import annotations

import math

from rote.constructions import CONSTRUCTIONS
from rote.errors import InputError
from rote.experiments.sizing.row import PlanRow
from rote.experiments.storage import entropy_bits, fixed_width_bits
from rote.models.attention_only import AttentionOnly
from rote.models.spec import Spec, in_words, size_of
from rote.tasks.shape import TaskShape
from rote.theory import RESULTS
from rote.theory.result import Result
from rote.theory.smallest import SmallestModel, SmallestSize

INDEX_BITS = 64
"""Bits of an integer of look-up structure."""

BUILT_OTHERWISE = {"dana2025.remark2"}
"""Results that a construction meets with options, and which have a row of their own."""


def theorem1_guarantee(spec: Spec) -> int | None:
    """Associations that Theorem 1 of Dana et al. 2025 guarantees this specification; None if it does not apply."""
    return RESULTS["dana2025.theorem1"].bound(spec).associations if isinstance(spec, AttentionOnly) else None


def theory_rows(shape: TaskShape, kind: type, met: bool = False) -> list[PlanRow]:
    """The rows of results about such tasks; those that a construction meets only if `met`."""
    built = {way.meets for way in CONSTRUCTIONS.values() if issubclass(kind, way.tasks)} | BUILT_OTHERWISE
    if met:
        built = set()
    rows = []
    for result in RESULTS.values():
        for smallest in result.smallest:
            try:
                size = smallest(shape)
            except InputError as error:
                if result.id not in built:
                    rows.append(_refused(result, str(error)))
                continue
            # The size of a construction replaces its result's; a size without an architecture is shown as well.
            if isinstance(size, SmallestSize) or result.id not in built:
                rows.append(_order(result, size))
    return rows


def smallest_by_theory(shape: TaskShape, bits: int = 32, zipped: int | None = None) -> list[PlanRow]:
    """The smallest model by each result for a shape, fewest bytes first, with tables and a zip for comparison.

    Nothing is built, since there are no facts: `rote.plan` gives the sizes for given facts.
    """
    rows = [row for row in rows_without_model(shape, bits, zipped or 0) if row.id != "zip" or zipped is not None]
    for result in RESULTS.values():
        for smallest in result.smallest:
            try:
                size = smallest(shape)
            except InputError as error:
                rows.append(_refused(result, str(error)))
                continue
            total = size.parameters * (size.bits_per_parameter or float(bits))
            if isinstance(size, SmallestModel):
                total += INDEX_BITS * size_of(size.spec.index_shapes())
            rows.append(
                _order(result, size).model_copy(update={"weights": math.ceil(total / 8), "bytes": math.ceil(total / 8)})
            )
    return sorted(rows, key=lambda row: (not row.possible, math.inf if row.bytes is None else row.bytes, row.id))


def _order(result: Result, size: SmallestModel | SmallestSize) -> PlanRow:
    return PlanRow(
        id=result.id,
        kind=result.kind,
        section="orders",
        possible=True,
        model=size.description if isinstance(size, SmallestSize) else in_words(size.spec),
        spec=None if isinstance(size, SmallestSize) else size.spec.to_config(),
        parameters=size.parameters,
        reason=size.reason,
        source=result.source,
    )


def _refused(result: Result, reason: str) -> PlanRow:
    return PlanRow(
        id=result.id,
        kind=result.kind,
        section="rejected",
        possible=False,
        model="none",
        reason=reason,
        source=result.source,
    )


def counting_row(shape: TaskShape, bits: int) -> PlanRow:
    """The counting bound on every model: the bits in the answers, without words and keys."""
    fewest = max(1, math.ceil(shape.bits / bits))
    return PlanRow(
        id="rote.counting",
        kind="limit",
        section="no model",
        possible=True,
        model=f"any model of {bits}-bit numbers",
        parameters=fewest,
        bytes=math.ceil(fewest * bits / 8),
        reason=f"the answers carry {shape.bits:.0f} bits: no model of typical answers is smaller, keys left out",
        source=RESULTS["rote.counting"].source,
    )


def rows_without_model(shape: TaskShape, bits: int, zipped: int) -> list[PlanRow]:
    """The counting bound on every model, plain look-up tables without words, and a zip."""
    return [
        counting_row(shape, bits),
        _table("table.fixed", float(fixed_width_bits(shape)), "keys and answers in whole bits, one row per fact"),
        _table("table.entropy", entropy_bits(shape), "the set of keys and the answers at their entropy"),
        PlanRow(
            id="zip",
            kind="exact",
            section="no model",
            possible=True,
            model="zip of the facts",
            bytes=zipped,
            reason="measured; includes the words themselves",
            source="deflate, strongest setting",
        ),
    ]


def _table(id: str, bits: float, reason: str) -> PlanRow:
    return PlanRow(
        id=id,
        kind="exact",
        section="no model",
        possible=True,
        model="look-up table",
        bytes=math.ceil(bits / 8),
        reason=reason,
        source="counting",
    )
