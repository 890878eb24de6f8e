"""The same attention with head dimension n - 1: why k > n gains no capacity in one shared context.

Scores of a head may change by a constant over tokens without changing attention, so only the tokens' differences count.
They span n - 1 dimensions: with P an orthonormal basis of that span, W_K' = P and W_Q' = P W_K^T W_Q give the scores
x^T W_Q^T W_K e_s up to a constant. Whatever a larger k recalls in one context, k = n - 1 expresses: what it gains is
optimisation.
"""

from __future__ import annotations

import torch

from rote.errors import InputError
from rote.models.forward.query_attention import embedded
from rote.models.model import Model
from rote.models.query_attention import QueryAttention
from rote.tasks import VectorTask


@torch.no_grad()
def narrowed(model: Model, task: VectorTask) -> Model:
    """A model of head dimension n - 1 with the same outputs on this task's shared context."""
    spec = model.spec
    if not isinstance(spec, QueryAttention) or len(task.contexts) != 1 or spec.context < 2:
        raise InputError("narrowing takes query attention and examples that share one context of two tokens or more")
    if spec.head_dim <= spec.context - 1:
        raise InputError(f"head_dim {spec.head_dim} is not larger than context - 1 = {spec.context - 1} already")
    weights = {name: tensor.double() for name, tensor in model.weights.items()}
    context, query = torch.from_numpy(task.contexts), torch.from_numpy(task.queries[:1])
    tokens = embedded(spec, weights, (context, query))[0][0]
    basis = torch.linalg.svd(tokens - tokens.mean(0), full_matrices=False).Vh[: spec.context - 1]
    asked = basis @ weights["key"].mT @ weights["query"]
    changed = {"query": asked, "key": basis.expand(spec.heads, -1, -1)}
    narrow = spec.model_copy(update={"head_dim": spec.context - 1})
    return Model(narrow, {name: changed.get(name, part).to(model.dtype).contiguous() for name, part in weights.items()})
