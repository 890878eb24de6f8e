"""Random models of any architecture: where training starts, and what tests run on."""

from __future__ import annotations

import math

import numpy as np
import torch

from rote.models.model import Model, dtype_named
from rote.models.spec import Spec
from rote.tasks.vocabulary import Vocabulary


def random_model(spec: Spec, seed: int = 0, dtype: str = "float32", vocabulary: Vocabulary | None = None) -> Model:
    """Gaussian weights of variance 1 / (last axis), so that no product grows with its width; vectors alone are zero.

    Drawn in float64 and rounded, so that one seed is the same model in every dtype. Keys are distinct random
    sequences in lexicographic order.
    """
    kind = dtype_named(dtype)
    generator = torch.Generator().manual_seed(seed)
    weights = {}
    for name, shape in spec.shapes().items():
        if len(shape) == 1:
            weights[name] = torch.zeros(shape, dtype=kind)
        else:
            drawn = torch.randn(shape, generator=generator, dtype=torch.float64)
            weights[name] = (drawn / math.sqrt(max(shape[-1], 1))).to(kind)
    for name, (rows, context) in spec.index_shapes().items():
        keys = random_keys(rows, context, spec.vocab or 1, seed)
        weights[name] = torch.from_numpy(keys)
    return Model(spec, weights, vocabulary)


def random_keys(rows: int, context: int, vocab: int, seed: int = 0) -> np.ndarray:
    """Distinct random sequences of tokens (rows x context), in lexicographic order; rows <= vocab^context."""
    generator = np.random.default_rng(seed)
    sequences = vocab ** min(context, 63)
    if sequences <= 4 * rows:
        chosen = generator.permutation(sequences)[:rows]
        digits = [chosen // vocab**place % vocab for place in reversed(range(context))]
        keys = np.stack(digits, 1)
        return keys[np.lexsort(keys.T[::-1])]
    # Collisions are rare enough here that a few draws fill the table.
    keys = np.empty((0, context), dtype=np.int64)
    while len(keys) < rows:
        fresh = generator.integers(vocab, size=(rows - len(keys), context))
        keys = np.unique(np.concatenate([keys, fresh]), axis=0)
    return keys
