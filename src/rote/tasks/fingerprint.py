"""Content fingerprints: the same facts give the same fingerprint, whatever their order or their vocabulary's."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

import numpy as np

from rote.tasks.vocabulary import Vocabulary


def canonical_ids(vocabulary: Vocabulary, used: np.ndarray) -> tuple[list[str], np.ndarray]:
    """The used tokens in alphabetical order, and for each id its place in that order (-1 if unused)."""
    order = sorted(used.tolist(), key=vocabulary.tokens.__getitem__)
    ids = np.full(len(vocabulary), -1, dtype=np.int32)
    ids[order] = np.arange(len(order))
    return [vocabulary.tokens[id] for id in order], ids


def digest(kind: str, tokens: Sequence[str], arrays: Sequence[np.ndarray]) -> str:
    """SHA-256 over the kind of task, its tokens and its arrays (shape, type and bytes, little-endian)."""
    state = hashlib.sha256()
    state.update(json.dumps([kind, list(tokens)], ensure_ascii=True).encode())
    for array in arrays:
        plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        state.update(json.dumps([plain.dtype.str, list(plain.shape)]).encode())
        state.update(plain.tobytes())
    return "sha256:" + state.hexdigest()
