"""Forward pass of bilinear MLPs between given embeddings."""

from __future__ import annotations

from jaxtyping import Float, Integer
from torch import Tensor

from rote.models.bilinear_memory import BilinearMemory
from rote.models.forward.keys import rows_of


def logits(
    spec: BilinearMemory, weights: dict[str, Tensor], contexts: Integer[Tensor, "batch context"]
) -> Float[Tensor, "batch vocab"]:
    """W_U W ((A e_i) * (B e_i)) for the key i that equals each context."""
    inputs = weights["inputs"][rows_of(weights["keys"], contexts)]
    neurons = (inputs @ weights["left"].T) * (inputs @ weights["right"].T)
    return neurons @ weights["output"].T @ weights["unembed"].T
