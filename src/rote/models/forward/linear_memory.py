"""Forward pass of linear associative memories."""

from __future__ import annotations

from jaxtyping import Float, Integer
from torch import Tensor

from rote.models.forward.keys import rows_of
from rote.models.linear_memory import LinearMemory


def logits(
    spec: LinearMemory, weights: dict[str, Tensor], contexts: Integer[Tensor, "batch context"]
) -> Float[Tensor, "batch vocab"]:
    """W_U W e_i for the key i that equals each context."""
    inputs = weights["inputs"][rows_of(weights["keys"], contexts)]
    return inputs @ weights["memory"].T @ weights["unembed"].T
