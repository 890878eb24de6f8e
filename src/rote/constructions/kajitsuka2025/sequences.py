"""Random token sequences: the data of the theorem's setting, for tests and benchmarks."""

from __future__ import annotations

import numpy as np

from rote.errors import InputError


def random_sequences(count: int, length: int, tokens: int, seed: int = 0) -> np.ndarray:
    """`count` sequences of `length` tokens 1..tokens, drawn uniformly, no two the same up to order."""
    rng = np.random.default_rng(seed)
    sequences = np.empty((0, length), dtype=np.int64)
    for _ in range(100):
        drawn = rng.integers(1, tokens + 1, (2 * (count - len(sequences)) + 16, length))
        sequences = np.concatenate([sequences, drawn])
        _, first = np.unique(np.sort(sequences, axis=1), axis=0, return_index=True)
        sequences = sequences[np.sort(first)]
        if len(sequences) >= count:
            return sequences[:count]
    raise InputError(f"sequences: {tokens} tokens do not give {count} sequences of length {length} that differ")
