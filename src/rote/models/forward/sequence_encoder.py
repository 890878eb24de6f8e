"""Forward pass of sequence encoders."""

from __future__ import annotations

from jaxtyping import Float, Integer
from torch import Tensor

from rote.models.forward.keys import rows_of
from rote.models.sequence_encoder import SequenceEncoder


def logits(
    spec: SequenceEncoder, weights: dict[str, Tensor], contexts: Integer[Tensor, "batch context"]
) -> Float[Tensor, "batch vocab"]:
    """W E(t), in the order of the given contexts."""
    return weights["encodings"][rows_of(weights["keys"], contexts)] @ weights["unembed"].T
