"""Forward passes, one file per architecture, in any float dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor

from rote.models.forward import (
    attention_only,
    linear_memory,
    mlp_transformer,
    query_attention,
    sequence_encoder,
)
from rote.models.spec import Spec

FORWARD: dict[str, Callable[[Any, dict[str, Tensor], Any], Tensor]] = {
    "attention-only": attention_only.logits,
    "linear-memory": linear_memory.logits,
    "mlp-transformer": mlp_transformer.logits,
    "query-attention": query_attention.logits,
    "sequence-encoder": sequence_encoder.logits,
}


def forward(spec: Spec, weights: dict[str, Tensor], inputs: Any) -> Tensor:
    """Logits (or outputs) of the architecture that `spec` describes."""
    return FORWARD[spec.architecture](spec, weights, inputs)
