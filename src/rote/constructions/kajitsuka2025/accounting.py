"""What a memorizer costs: parameters and the bits in them, beside the bits of the labels it holds.

Counted are F1, attention and F2, as the theorem does; not the embedding of tokens, nor the unembedding of labels.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from rote.constructions.kajitsuka2025.transformer import Transformer
from rote.tasks.entropy import entropy_bits


@dataclass(frozen=True)
class Account:
    """The cost of one Transformer."""

    labels: int
    width: int
    depth: int
    nonzeros: int
    """Weights and biases that are not zero."""
    nonzeros_after: int
    """Those of F2 alone."""
    dense: int
    """Weights and biases of full matrices between layers of these sizes."""
    largest_bits: int
    """Longest weight or bias."""
    total_bits: int
    """Length of all that are not zero, with signs."""
    label_bits: float
    """Entropy of the labels, times their number."""

    @property
    def bits_over_entropy(self) -> float | None:
        """Bits spent per bit held; none where the labels hold nothing."""
        return self.total_bits / self.label_bits if self.label_bits else None

    def summary(self) -> dict[str, float | int | None]:
        return {**asdict(self), "bits_over_entropy": self.bits_over_entropy}


def account(transformer: Transformer, labels: np.ndarray) -> Account:
    """Add up F1, attention (a value and an output weight; queries and keys are zero) and F2."""
    networks = [network for network in (transformer.first, transformer.second) if network is not None]
    return Account(
        labels=len(labels),
        width=transformer.width,
        depth=transformer.depth,
        nonzeros=sum(network.nonzeros for network in networks) + 2,
        nonzeros_after=transformer.second.nonzeros,
        dense=sum(network.dense_parameters for network in networks) + 4 * transformer.width,
        largest_bits=max(network.largest_bits for network in networks),
        total_bits=sum(network.total_bits for network in networks) + transformer.length.bit_length() + 3,
        label_bits=entropy_bits(np.bincount(labels)) * len(labels),
    )
