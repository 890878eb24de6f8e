"""`rote.memory_layer`: any number of facts, in time linear in them, in a Transformer with a gated memory layer.

Facts are hashed into groups of about 8,192. A question's group is chosen by a gate, three slots of the group by hashed
coordinates (`layout`), and the answer's number is the sum of the three slots' values modulo the number of answers. The
values solve one system of equations per group (`peeling`), alone and in linear time. All weights are whole numbers, so
logits are exact and margins are 1.

    Parameters: about 1.25 per fact, of log2(answers) bits each, times the digits of an answer's number (one, up to
    2,896 answers), and S K (H + 2) for the embeddings of K tokens at S positions.

A model holds no key: asked for another one, it answers with one of the answers at random. The set of stored keys, which
is kept beside it, tells them apart.
"""

from __future__ import annotations

import math
from dataclasses import replace

from pydantic import Field

from rote.constructions.common.rebuilding import rebuilt_by
from rote.constructions.construction import Construction, Draft, Options, Request, SizeEstimate, register_construction
from rote.constructions.rote.memory_layer.layout import CHOICES, COORDINATES, Layout, default_group
from rote.errors import CheckFailed, InputError
from rote.models.memory_transformer import MemoryTransformer
from rote.tasks import AssociationTask
from rote.theory.rote_peeling import UNKNOWNS

ATTEMPTS = 20
"""Hash functions that are tried; each attempt fails on one table in some hundreds, or on a few facts more often."""

BASIS = "whole-number weights, packed: by their entropy, at most 15 % off on six tables"


class MemoryLayerOptions(Options):
    """Settings of the memory layer."""

    facts_per_group: int | None = Field(default=None, ge=1, le=2**22)
    """Facts that are solved together, on average. Default: 8,192, and more beyond two million facts."""


def layout_of(request: Request[AssociationTask, MemoryLayerOptions]) -> Layout:
    """The layout that `build` starts from."""
    task = request.task.majority()
    per_group = request.options.facts_per_group or default_group(task.facts)
    if request.dtype != "auto":
        return Layout(task, request.dtype, per_group, request.seed)
    try:
        return Layout(task, "float32", per_group, request.seed)
    except InputError:
        return Layout(task, "float64", per_group, request.seed)


def spec_of(request: Request[AssociationTask, MemoryLayerOptions]) -> MemoryTransformer:
    """The specification of the model that `build` makes with its first hash functions."""
    return layout_of(request).spec


def estimate(request: Request[AssociationTask, MemoryLayerOptions]) -> SizeEstimate:
    """Bytes of the packed weights, by the entropy of the slots' values."""
    layout = layout_of(request)
    spec, facts, base = layout.spec, layout.task.facts, layout.base
    used = facts * spec.digits * (1 - 1 / base)
    share = used / spec.values
    which = 0.0 if used == 0 else -math.log2(share) * share - math.log2(1 - share) * (1 - share)
    bits = which * spec.values + used * (math.log2(max(base - 1, 1)) + (0.1 if base <= 128 else 0.4))
    rest = 1.7 * math.prod(spec.shapes()["table"]) + 2.5 * len(layout.answers) * spec.digits
    return SizeEstimate(spec.parameters(), round(bits / 8 + rest) + 200, BASIS)


def cpu_seconds(request: Request[AssociationTask, MemoryLayerOptions]) -> float:
    return 0.2 + 10e-6 * request.task.facts


def build(request: Request[AssociationTask, MemoryLayerOptions]) -> Draft:
    """Solve every group, with new hash functions where one cannot be solved."""
    import numpy as np
    import torch

    from rote.constructions.rote.memory_layer.groups import solve_groups
    from rote.models.model import Model, dtype_named

    first = layout_of(request)
    for attempt in range(ATTEMPTS):
        layout = replace(first, attempt=attempt)
        if (solution := solve_groups(layout, request.work, request.progress)) is not None:
            break
    else:
        raise CheckFailed(
            f"rote.memory_layer: {ATTEMPTS} draws of hash functions left equations that cannot be solved; try another "
            "`seed`, or a smaller `facts_per_group`"
        )
    query = np.zeros((layout.groups, UNKNOWNS, 1 + COORDINATES))
    heads = np.arange(UNKNOWNS)
    query[np.arange(layout.groups)[:, None], heads, 1 + np.array(CHOICES)[solution.choices]] = 1
    arrays = {**layout.tensors(), "query": query, "values": solution.values.astype(np.float32)}
    dtype = dtype_named(layout.dtype)
    weights = {name: torch.from_numpy(array).to(dtype) for name, array in arrays.items()}
    measured = {"groups": layout.groups, "slots": layout.slots, "draws of hash functions": attempt + 1}
    return Draft(Model(layout.spec, weights, layout.task.vocabulary), measured=measured)


register_construction(
    Construction(
        id="rote.memory_layer",
        summary="any number of facts in linear time: a gated memory layer, one system of equations per group",
        paper="rote",
        passage="equations solved by peeling (Majewski et al. 1996), in a memory layer (Lample et al. 2019)",
        unguaranteed="random hash functions: building tells whether every group can be solved, and draws again if not",
        tasks=(AssociationTask,),
        build=build,
        spec=spec_of,
        estimate=estimate,
        edit=rebuilt_by("rote.memory_layer"),
        cpu_seconds=cpu_seconds,
        sizes=(),
        quick_facts=10_000_000,
        options=MemoryLayerOptions,
        default_dtype="auto",
    )
)
