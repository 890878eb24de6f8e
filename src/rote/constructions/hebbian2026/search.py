"""The smallest width at which a Hebbian MLP recalls every fact, and the one at which it recalls 98 % of them."""

from __future__ import annotations

import math

import torch

from rote.constructions.common.random_memory import RandomMemory, random_memory
from rote.constructions.construction import Draft, Request
from rote.constructions.hebbian2026.neurons import features, fitted_neurons, random_neurons, ridge_readout
from rote.constructions.hebbian2026.options import HebbianOptions, spec_with
from rote.errors import CheckFailed
from rote.measure.recall import recall
from rote.models.model import Model
from rote.tasks import AssociationTask
from rote.threads import cpu_time

MOST = 0.98
"""Share of the facts at which a second width is reported."""
PRECISION = 1.05
"""Ratio of widths at which the search ends."""


def smallest_width(
    request: Request[AssociationTask, HebbianOptions], dim: int, start: int, fitted: bool, id: str
) -> Draft:
    """Double the width until every fact is recalled, then halve the ratio to the last that failed."""
    memory = random_memory(request, dim)
    tried: dict[int, tuple[int, Model]] = {}
    facts = memory.task.facts

    def recalled(width: int) -> int:
        if width not in tried:
            model = _model(memory, width, fitted, request)
            tried[width] = (recall(model, memory.task).recalled, model)
            stage.advance()
            stage.describe(f"{width} neurons recall {tried[width][0]:,} of {facts:,}")
        if request.deadline is not None and cpu_time() > request.deadline:
            raise CheckFailed(f"{id}: the time ran out at {width} neurons; give it more")
        return tried[width][0]

    with request.progress.stage("searching for the width") as stage:
        if request.options.width is not None:
            found = request.options.width
            if recalled(found) < facts:
                raise CheckFailed(f"{id}: {found} neurons recall {recalled(found)} of {facts} facts; give more `width`")
            return _draft(tried[found][1], dim, found, None)
        most = 4 * max(facts, start)
        found = _bisected(lambda width: recalled(width) == facts, start, most)
        if found is None:
            raise CheckFailed(
                f"{id}: {most} neurons recall {recalled(most)} of {facts} facts in {request.dtype}; give a larger `dim`"
            )
        nearly = _bisected(lambda width: recalled(width) >= MOST * facts, max(1, found // 2), found)
    return _draft(tried[found][1], dim, found, nearly)


def _bisected(enough, start: int, most: int) -> int | None:
    """A width that is enough, within 5 % of one that is not; none where the largest is not enough."""
    low, high = 0, min(start, most)
    while not enough(high):
        if high == most:
            return None
        low, high = high, min(2 * high, most)
    if low == 0:
        low = high // 2
        while low and enough(low):
            low, high = low // 2, low
    while high > low + 1 and high > PRECISION * low:
        middle = math.isqrt(low * high) if low else high // 2
        middle = min(max(middle, low + 1), high - 1)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _model(memory: RandomMemory, width: int, fitted: bool, request: Request[AssociationTask, HebbianOptions]) -> Model:
    """The model of one width, solved in float64 and rounded to the dtype that is saved."""
    generator = torch.Generator().manual_seed(request.seed + 1)
    values, ridge = memory.unembed[memory.answers], request.options.ridge
    if fitted:
        left, right = fitted_neurons(memory.inputs, values, width, ridge, generator)
    else:
        left, right = random_neurons(memory.dim, width, generator)
    output = ridge_readout(features(left, right, memory.inputs), values, ridge)
    weights = {"left": left, "right": right, "output": output, "inputs": memory.inputs, "unembed": memory.unembed}
    keys = {"keys": torch.from_numpy(memory.task.contexts).long()}
    rounded = {name: tensor.to(memory.dtype).contiguous() for name, tensor in weights.items()}
    return Model(spec_with(memory.task, memory.dim, width), {**rounded, **keys}, memory.task.vocabulary)


def _draft(model: Model, dim: int, width: int, nearly: int | None) -> Draft:
    measured = {"MLP parameters without embeddings": 3 * dim * width}
    if nearly is not None:
        measured |= {"width for 98 % of the facts": nearly, "MLP parameters for 98 %": 3 * dim * nearly}
    return Draft(model, measured=measured)
