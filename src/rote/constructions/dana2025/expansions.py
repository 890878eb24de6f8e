"""Small pieces of Dana, Pydi and Chevaleyre 2025: expansions of two losses, softened tables, and Definition 2.

Notation: `truth` holds pi_t in its rows, `logits` f(t); Z = f - log pi - E_pi[f - log pi] is the centred logit
difference of Section 5.
"""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor


def centred_difference(
    truth: Float[Tensor, "contexts vocab"], logits: Float[Tensor, "contexts vocab"]
) -> Float[Tensor, "contexts vocab"]:
    """Z of Section 5, for pi without zeros."""
    difference = logits - truth.log()
    return difference - (truth * difference).sum(1, keepdim=True)


def leading_divergence(
    truth: Float[Tensor, "contexts vocab"], logits: Float[Tensor, "contexts vocab"]
) -> Float[Tensor, " contexts"]:
    """E_pi[Z^2] / 2: what KL(pi || softmax f) is to leading order as Z tends to 0 (Section 5)."""
    return (truth * centred_difference(truth, logits) ** 2).sum(1) / 2


def leading_total_variation(
    truth: Float[Tensor, "contexts vocab"], logits: Float[Tensor, "contexts vocab"]
) -> Float[Tensor, " contexts"]:
    """E_pi|Z| / 2: what the total variation is to leading order, another norm of the same difference (Section 5)."""
    return (truth * centred_difference(truth, logits).abs()).sum(1) / 2


def softened(truth: Float[Tensor, "contexts vocab"], delta: float) -> Float[Tensor, "contexts vocab"]:
    """pi_delta = (pi + delta) / (1 + N delta): full support, and the likeliest token stays (after Theorem 1)."""
    return (truth + delta) / (1 + truth.shape[1] * delta)


def approximation_errors(
    truth: Float[Tensor, "contexts vocab"], logits: Float[Tensor, "contexts vocab"]
) -> tuple[float, float]:
    """Smallest and largest |log(pi / softmax f)| over tokens with pi > 0.

    Definition 2: f_delta approximates pi polynomially if they lie between c delta^alpha and delta.
    """
    ratio = (truth.log() - logits.log_softmax(1)).abs()[truth > 0]
    return float(ratio.min()), float(ratio.max())


def ranges(logits: Float[Tensor, "contexts vocab"]) -> Float[Tensor, " contexts"]:
    """max f - min f of every context, which Lemma 4 speaks of."""
    return logits.max(1).values - logits.min(1).values
