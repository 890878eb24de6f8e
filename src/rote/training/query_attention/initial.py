"""Initial weights of the released experiments, and which models can be trained.

The embedding and the readout start as linear layers do, uniform in +-1/sqrt(inputs) with their biases; W_Q, W_K and W_V
are Xavier uniform head by head, W_O Xavier uniform as one matrix from all heads' values.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from rote.errors import InputError
from rote.models.query_attention import QueryAttention
from rote.models.spec import Spec
from rote.training.initial import generator


def trainable_on_vectors(spec: Spec) -> QueryAttention:
    """The specification, if the folded engine can train it."""
    if not isinstance(spec, QueryAttention):
        raise InputError(f"{spec.architecture} models do not read vectors; train a query-attention model on them")
    if spec.value_dim != 1:
        raise InputError(
            f"value_dim: {spec.value_dim} is not trained here; the published experiments have value_dim 1, "
            "and more heads do what more value dimensions would"
        )
    return spec


def initial_vector_weights(spec: QueryAttention, seed: int) -> dict[str, Tensor]:
    """Every tensor of the specification in float32."""
    rng = generator(seed, "initial weights")
    return {
        name: torch.from_numpy(rng.uniform(-bound, bound, shape)).float()
        for name, shape in spec.shapes().items()
        for bound in (_bound(spec, name),)
    }


def _bound(spec: QueryAttention, name: str) -> float:
    if name in ("query", "key"):
        return math.sqrt(6 / (spec.dim + spec.head_dim))
    if name == "value":
        return math.sqrt(6 / (spec.dim + spec.value_dim))
    if name == "output":
        return math.sqrt(6 / (spec.heads * spec.value_dim + spec.dim))
    return 1 / math.sqrt(spec.dim)
