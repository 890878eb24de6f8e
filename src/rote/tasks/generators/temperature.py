"""Rows of a chosen entropy: softmax at the temperature that gives it."""

from __future__ import annotations

import numpy as np

_ROWS_AT_ONCE = 2**22
"""Numbers worked on at once."""

_STEPS = 200
_CLOSE = 1e-12
"""Bits of error at which the search ends; beyond what a sum of float64 numbers can resolve there is nothing to gain."""


def rows_of_entropy(logits: np.ndarray, bits: float) -> np.ndarray:
    """softmax(beta_t g_t) for each row, with beta_t > 0 such that its Shannon entropy is `bits`.

    Entropy falls from log2(vocab) at beta = 0 to 0 at infinity (a row's largest logit is unique), with derivative
    -beta Var(g) under the row's own probabilities: Newton steps, kept inside a bracket that halves when they leave it.
    """
    vocab = logits.shape[1]
    if bits >= np.log2(vocab):
        return np.full(logits.shape, 1 / vocab)
    step = max(1, _ROWS_AT_ONCE // vocab)
    return np.concatenate([_solve(logits[at : at + step], bits) for at in range(0, len(logits), step)])


def _solve(logits: np.ndarray, bits: float) -> np.ndarray:
    g = logits - logits.max(1, keepdims=True)
    low, high = np.zeros(len(g)), np.full(len(g), 1.0)
    while np.any(above := _entropy(g, high)[0] > bits):
        low = np.where(above, high, low)
        high = np.where(above, 2 * high, high)
    beta = (low + high) / 2
    for _ in range(_STEPS):
        entropy, slope = _entropy(g, beta)
        if np.max(np.abs(entropy - bits)) < _CLOSE:
            break
        low, high = np.where(entropy > bits, beta, low), np.where(entropy > bits, high, beta)
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = beta - (entropy - bits) / slope
        inside = (newton > low) & (newton < high)
        beta = np.where(inside, newton, (low + high) / 2)
    return _softmax(g, beta)


def _softmax(g: np.ndarray, beta: np.ndarray) -> np.ndarray:
    weights = np.exp(beta[:, None] * g)
    return weights / weights.sum(1, keepdims=True)


def _entropy(g: np.ndarray, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Entropy of each row in bits, and its derivative in beta."""
    weights = np.exp(beta[:, None] * g)
    total = weights.sum(1)
    mean = (weights * g).sum(1) / total
    variance = (weights * g * g).sum(1) / total - mean**2
    nats = np.log(total) - beta * mean
    return nats / np.log(2), -beta * variance / np.log(2)
