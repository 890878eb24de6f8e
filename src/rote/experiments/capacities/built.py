"""Capacity by construction: the most facts that a construction stores with full recall in models of one size."""

from __future__ import annotations

from typing import Any

from rote.constructions.build import build
from rote.errors import InputError, RoteError
from rote.experiments.capacities.search import Capacity, largest_recalled, table_for
from rote.experiments.sizing.theory import theorem1_guarantee
from rote.models.attention_only import AttentionOnly
from rote.models.spec import Dtype
from rote.progress import SILENT, Progress
from rote.tasks import AssociationTask


def built_capacity(
    spec: AttentionOnly,
    method: str,
    *,
    task: AssociationTask | None = None,
    start: int | None = None,
    tolerance: float = 0.02,
    dtype: Dtype = "float32",
    seed: int = 0,
    progress: Progress = SILENT,
    **options: Any,
) -> Capacity:
    """The largest T, within `tolerance`, such that `rote.build` stores the first T facts of the task with full recall.

    Default of `task`: a random look-up table of the specification's sizes. The search starts at `start` facts. Default:
    the guarantee of Theorem 1. `options` are those of the method.
    """
    table = table_for(spec, task, seed)

    def attempt(facts: int) -> str | None:
        try:
            build(
                table.take(slice(0, facts)), method,
                dim=spec.dim, head_dim=spec.head_dim, heads=spec.heads,
                dtype=dtype, seed=seed, **options,
            )  # fmt: skip
        except RoteError as error:
            return str(error)
        return None

    start = start or theorem1_guarantee(spec) or 1
    with progress.stage(f"capacity of {method}") as stage:
        recalled, refused, tries = largest_recalled(attempt, start, table.facts, tolerance, stage)
    if not recalled:
        raise InputError(f"{method} stores not even one fact in this model. {tries[-1].reason}")
    bits = table.take(slice(0, recalled)).entropy_bits
    return Capacity(method, recalled, refused, bits, spec.parameters(), tuple(tries))
