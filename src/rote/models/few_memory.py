"""The forward pass of memory Transformers for a few questions, in numpy: importing torch takes seconds.

The equations and the dtype are those of `rote.models.forward.memory_transformer`; a test compares both on every fact.
"""

from __future__ import annotations

import numpy as np

from rote.models.memory_transformer import MemoryTransformer


def few_logits(spec: MemoryTransformer, weights: dict[str, np.ndarray], contexts: np.ndarray) -> np.ndarray:
    """Logits of the next token after each context (contexts x vocab)."""
    places = np.arange(spec.context if spec.ordered else 1)
    embedded = weights["table"][places, np.minimum(contexts, spec.key_tokens - 1)]
    entered = np.where((contexts < spec.key_tokens)[:, :, None], embedded, embedded.dtype.type(0)).sum(1)
    folded = _through(entered, weights["fold.bias"], weights["fold.output"])
    group = (folded[:, :1] * weights["gate.weight"] + weights["gate.bias"]).argmax(1)
    queries = (weights["query"][group] * folded[:, None]).sum(2)
    slot = np.abs(queries[:, :, None] - weights["slots"]).argmin(2)
    read = weights["values"][group[:, None], np.arange(spec.heads), slot].sum(1)
    answer = _through(read, weights["answer.bias"], weights["answer.output"])
    return answer @ weights["unembed.weight"].T + weights["unembed.bias"]


def _through(state: np.ndarray, bias: np.ndarray, output: np.ndarray) -> np.ndarray:
    return state + (np.maximum(1 - np.maximum(bias - state[:, :, None], 0), 0) * output).sum(2)
