"""How near to look-up tables a model's next-token distributions are, and what Theorem 2 of Dana et al. would give.

The theorem bounds the divergence of a Transformer from noisy look-up tables: rows with a likeliest token g and entropy
h, the rest uniform. Its expectation E[(1 - pi(g)) log((N - 1)/(e^h - 1))] is measured on the model's own
distributions; the factor (1 + 2C)/(1 - 2C) with C = sqrt(32 ln(N + 1)/d) exists only for d > 128 ln(N + 1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class LookUp:
    """Next-token distributions after the passages."""

    entropy_bits: float
    """Mean entropy."""
    likeliest: float
    """Mean probability of the likeliest token."""
    expectation: float
    """Of Theorem 2, in nats, without its factor."""
    bound: float | None
    """Theorem 2's bound in nats; none where its condition on dim fails."""
    dim_needed: int


def look_up(logits: Float[Tensor, "count vocab"], dim: int) -> LookUp:
    """The measures of these distributions for a model of this dimension."""
    vocab = logits.shape[1]
    log_p = logits.double().log_softmax(-1)
    p = log_p.exp()
    entropy = -(p * log_p).sum(1)
    largest = p.amax(1)
    # A distribution without entropy is a look-up table: its divergence is bounded by zero in the limit.
    spread = ((vocab - 1) / entropy.expm1().clamp_min(1e-300)).log().clamp_min(0)
    expectation = float(((1 - largest) * spread).mean())
    needed = math.floor(128 * math.log(vocab + 1)) + 1
    bound = None
    if dim >= needed:
        C = math.sqrt(32 * math.log(vocab + 1) / dim)
        bound = expectation * (1 + 2 * C) / (1 - 2 * C)
    return LookUp(float(entropy.mean()) / math.log(2), float(largest.mean()), expectation, bound, needed)
