"""The forward pass of attention-only Transformers for a few questions, in numpy: importing torch takes seconds.

The equations and the dtype are those of `rote.models.forward.attention_only`; a test compares both on every fact.
"""

from __future__ import annotations

import math

import numpy as np

from rote.models.attention_only import AttentionOnly


def few_logits(spec: AttentionOnly, weights: dict[str, np.ndarray], contexts: np.ndarray) -> np.ndarray:
    """Logits of the next token after each context (contexts x vocab)."""
    stream = weights["tokens"][contexts]
    for layer in range(spec.layers):
        if (name := spec.stream_positions(layer)) is not None:
            stream = stream + weights[name]
        read = stream @ weights["compress"].T if spec.compressed else stream
        if (name := spec.attention_positions(layer)) is not None:
            read = read + weights[name]
        mixed = _heads(spec, {part: weights[f"layers.{layer}.{part}"] for part in PARTS}, read)
        stream = stream + (mixed @ weights["decompress"].T if spec.compressed else mixed)
    return stream[:, -1] @ weights["unembed"].T


PARTS = ("query", "key", "value", "output")


def _heads(spec: AttentionOnly, part: dict[str, np.ndarray], x: np.ndarray) -> np.ndarray:
    """sum_h W_O^h W_V^h A^h at every position (contexts x positions x dim), with a causal mask."""
    queries = np.einsum("bpd,hrd->bhpr", x, part["query"], optimize=True)
    keys = np.einsum("bpd,hrd->bhpr", x, part["key"], optimize=True)
    scores = queries @ keys.transpose(0, 1, 3, 2)
    if spec.scale_scores:
        scores = scores * x.dtype.type(1 / math.sqrt(spec.head_dim))
    later = np.triu(np.ones(scores.shape[-2:], dtype=bool), 1)
    scores = np.where(later, x.dtype.type(-np.inf), scores)
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    shares /= shares.sum(-1, keepdims=True)
    values = (shares @ x[:, None]) @ part["value"].transpose(0, 2, 1)
    return np.einsum("bhpk,hdk->bpd", values, part["output"], optimize=True)
