"""The smallest model per method that holds given facts, beside a plain look-up table and a zip, by bytes.

Bytes are those of the numbers: parameters in the dtype asked for (or the precision a result fixes) and look-up
structure in 64-bit integers; the words of the vocabulary are counted by the zip alone.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

from pydantic import BaseModel, ConfigDict

from rote.errors import InputError
from rote.experiments.storage import entropy_bits, fixed_width_bits
from rote.models.spec import Spec, size_of
from rote.tasks.shape import TaskShape
from rote.theory import RESULTS
from rote.theory.result import Result
from rote.theory.smallest import SmallestModel, SmallestSize

BITS = {"float16": 16, "bfloat16": 16, "float32": 32, "float64": 64}
INDEX_BITS = 64
BOUND_ONLY = "bound only"
NO_MODEL = "no model"


class PlanRow(BaseModel):
    """One way to hold the facts, and what it takes."""

    model_config = ConfigDict(frozen=True)

    id: str
    """The result that gives the size; `table.fixed`, `table.entropy` or `zip` where there is no model."""
    kind: str
    """As of a result; `exact` where there is no model, `limit` for what none can beat."""
    possible: bool
    model: str
    """The architecture and its sizes in words."""
    spec: dict[str, Any] | None = None
    """The specification, where rote has the architecture."""
    parameters: int | None = None
    bits: float | None = None
    bytes: int | None = None
    construction: str = BOUND_ONLY
    """Method that `rote build` knows for it, `bound only` where it knows none, `no model` where none is meant."""
    reason: str
    """What the size rests on, or why there is none."""
    source: str


def plan(
    shape: TaskShape,
    *,
    dtype: str = "float32",
    zipped: int | None = None,
    constructions: Collection[str] | None = None,
) -> list[PlanRow]:
    """Every method's smallest model for a task of this shape, fewest bytes first; then those that cannot hold it.

    `zipped` is the measured size of a zip, as `rote.experiments.storage.zipped_bytes` gives it. `constructions` are
    the methods that can be built, those registered when absent.
    """
    if dtype not in BITS:
        raise InputError(f"dtype: {dtype!r} is not one of {', '.join(BITS)}")
    if constructions is None:
        from rote.constructions import CONSTRUCTIONS

        constructions = CONSTRUCTIONS.keys()
    rows = _without_model(shape, dtype, zipped)
    for result in RESULTS.values():
        for smallest in result.smallest:
            try:
                rows.append(_row(result, smallest(shape), dtype, constructions))
            except InputError as error:
                rows.append(_impossible(result, str(error)))
    return sorted(rows, key=lambda row: (not row.possible, math.inf if row.bytes is None else row.bytes, row.id))


def _row(result: Result, model: SmallestModel | SmallestSize, dtype: str, constructions: Collection[str]) -> PlanRow:
    spec = model.spec if isinstance(model, SmallestModel) else None
    bits = model.parameters * (model.bits_per_parameter or float(BITS[dtype]))
    if spec is not None:
        bits += INDEX_BITS * size_of(spec.index_shapes())
    return PlanRow(
        id=result.id,
        kind=result.kind,
        possible=True,
        model=model.description if isinstance(model, SmallestSize) else in_words(model.spec),
        spec=None if spec is None else spec.to_config(),
        parameters=model.parameters,
        bits=bits,
        bytes=math.ceil(bits / 8),
        construction=method_for(result.id, constructions),
        reason=model.reason,
        source=result.source,
    )


BUILT_BY = {
    "dana2025.corollary1": "dana2025.theorem1",
    "dana2025.remark2": "dana2025.theorem1",
    "kajitsuka2025.theoremF_1": "kajitsuka2025.limited_bits",
    "nichani2024.linear_memory": "nichani2024.trained",
}
"""Where a construction goes by another id than the bound: a special case, or a name that says how."""


def method_for(id: str, constructions: Collection[str]) -> str:
    """The construction of the same id, or the one in `BUILT_BY`, or the one named by the paper alone."""
    known = (id, BUILT_BY.get(id, id), id.partition(".")[0])
    return next((name for name in known if name in constructions), BOUND_ONLY)


def in_words(spec: Spec) -> str:
    """An architecture and the sizes that were chosen, not those the task gives."""
    given = {"architecture", "vocab", "context", "contexts", "inputs", "outputs"}
    sizes = spec.model_dump(mode="json", exclude=given, exclude_defaults=True)
    return f"{spec.architecture}, " + ", ".join(f"{name} {value}" for name, value in sizes.items())


def _impossible(result: Result, reason: str) -> PlanRow:
    return PlanRow(id=result.id, kind=result.kind, possible=False, model="none", reason=reason, source=result.source)


def _without_model(shape: TaskShape, dtype: str, zipped: int | None) -> list[PlanRow]:
    fewest = max(1, math.ceil(shape.bits / BITS[dtype]))
    rows = [
        PlanRow(
            id="rote.counting",
            kind="limit",
            possible=True,
            model=f"any model of {dtype} numbers",
            parameters=fewest,
            bits=float(fewest * BITS[dtype]),
            bytes=math.ceil(fewest * BITS[dtype] / 8),
            reason=f"the answers carry {shape.bits:.0f} bits: no model of typical answers is smaller, keys left out",
            source=RESULTS["rote.counting"].source,
        ),
        _table("table.fixed", float(fixed_width_bits(shape)), "keys and answers in whole bits, a row per fact"),
        _table("table.entropy", entropy_bits(shape), "the set of keys and the answers at their entropy"),
    ]
    if zipped is not None:
        rows.append(
            PlanRow(
                id="zip",
                kind="exact",
                possible=True,
                model="zip of the facts",
                bits=float(8 * zipped),
                bytes=zipped,
                construction=NO_MODEL,
                reason="measured; includes the words themselves",
                source="deflate, strongest setting",
            )
        )
    return rows


def _table(id: str, bits: float, reason: str) -> PlanRow:
    return PlanRow(
        id=id,
        kind="exact",
        possible=True,
        model="look-up table",
        bits=bits,
        bytes=math.ceil(bits / 8),
        construction=NO_MODEL,
        reason=reason,
        source="counting",
    )
