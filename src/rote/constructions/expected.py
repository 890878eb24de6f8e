"""The size that a method is expected to end in, without building it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rote.constructions.construction import Construction, Request
from rote.models.spec import Spec, size_of

FLOAT_BYTES = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "auto": 4}
INDEX_BYTES = 8


@dataclass(frozen=True)
class ExpectedSize:
    """Parameters and bytes of the tensors of a model that has not been built."""

    parameters: int
    weights: int
    cpu_seconds: float
    """Estimate of what building takes."""
    spec: Spec | None = None
    """The specification that the build starts from, where one is known."""
    estimated: str = ""
    """Why the built size may differ; empty where it is exact."""


def expected_size(construction: Construction[Any, Any], request: Request[Any, Any]) -> ExpectedSize | None:
    """The size by the method's own formula or estimate; none if it has neither, an error if it rejects the facts."""
    if construction.spec is None:
        if construction.estimate is None:
            return None
        size = construction.estimate(request)
        seconds = construction.expected_seconds(request)
        return ExpectedSize(size.parameters, size.bytes, seconds, estimated=size.basis)
    spec = construction.spec(request)
    floats, integers = FLOAT_BYTES[request.dtype] * spec.parameters(), INDEX_BYTES * size_of(spec.index_shapes())
    reason = construction.size_may_differ(request) if construction.size_may_differ else ""
    weights = floats + integers
    if construction.estimate is not None:
        size = construction.estimate(request)
        weights, reason = size.bytes, size.basis
    return ExpectedSize(spec.parameters(), weights, construction.expected_seconds(request), spec, estimated=reason)
