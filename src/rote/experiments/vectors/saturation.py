"""How heads share the examples: which of them put nearly all their attention on one token.

A head is saturated on an example when one attention weight exceeds 0.99 (Mahdavi et al. 2024). If heads specialised on
different examples, two of them would be unsaturated together less or more often than heads that ignore each other: the
overlap of a pair is the share of examples on which both are saturated over the product of their own shares, one for
independent heads and zero for heads that split the examples among them.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import torch
from jaxtyping import Bool
from torch import Tensor

from rote.measure.streaming import rows_at_once
from rote.models.forward.query_attention import embedded
from rote.models.model import Model
from rote.models.query_attention import QueryAttention
from rote.papers.kinds.vectors import SATURATED
from rote.tasks import VectorTask


@torch.no_grad()
def saturated(model: Model, task: VectorTask, level: float = SATURATED) -> Bool[Tensor, "examples heads"]:
    """Whether each head puts more than `level` of its attention on one token of each example."""
    spec = model.spec
    if not isinstance(spec, QueryAttention):
        raise TypeError(f"saturation is measured of query attention, not of {spec.architecture}")
    marks = []
    step = rows_at_once(model)
    for start in range(0, task.facts, step):
        contexts, queries = (torch.tensor(part).to(model.dtype) for part in task.inputs(slice(start, start + step)))
        tokens, asked = embedded(spec, model.weights, (contexts, queries))
        heads = torch.einsum("hkd,bd->bhk", model.weights["query"], asked)
        scores = torch.einsum("bhk,hkd->bhd", heads, model.weights["key"]) @ tokens.mT
        if spec.scale_scores:
            scores = scores / math.sqrt(spec.dim)
        marks.append(scores.softmax(-1).amax(-1) > level)
    return torch.cat(marks)


def head_shares(model: Model, task: VectorTask) -> dict[str, Any]:
    """Shares of examples by head, by number of saturated heads, and the overlap of every pair of heads."""
    marks = saturated(model, task)
    own = marks.double().mean(0)
    count = marks.sum(1)
    overlaps = [
        float((marks[:, a] & marks[:, b]).double().mean() / (own[a] * own[b]))
        for a, b in combinations(range(marks.shape[1]), 2)
        if own[a] > 0 and own[b] > 0
    ]
    # With independent heads, the share of examples that some head is saturated on follows from the heads' own shares.
    return {
        "by_head": own.tolist(),
        "some_head": float((count > 0).double().mean()),
        "some_head_if_independent": float(1 - (1 - own).prod()),
        "heads_per_example": float(count.double().mean()),
        "overlaps": overlaps,
    }
