"""A model that gives exactly the logits it is told to, for tests of measures."""

from __future__ import annotations

import numpy as np
import torch

from rote.models import SequenceEncoder
from rote.models.model import Model
from rote.tasks import AssociationTask, Vocabulary


def telling(contexts: np.ndarray, logits: np.ndarray, dtype: torch.dtype = torch.float64) -> Model:
    """A sequence encoder with W = I: row by row, the logits themselves."""
    facts, vocab = logits.shape
    spec = SequenceEncoder(vocab=vocab, context=contexts.shape[1], contexts=facts, dim=vocab)
    weights = {
        "keys": torch.from_numpy(np.asarray(contexts, dtype=np.int64)),
        "encodings": torch.from_numpy(logits).to(dtype),
        "unembed": torch.eye(vocab, dtype=dtype),
    }
    return Model(spec, weights)


def lookup(facts: int, vocab: int, seed: int = 0) -> AssociationTask:
    """Distinct contexts of two tokens with random answers."""
    generator = np.random.default_rng(seed)
    pairs = generator.permutation(vocab**2)[:facts]
    contexts = np.stack([pairs // vocab, pairs % vocab], 1)
    return AssociationTask(contexts, generator.integers(vocab, size=facts), Vocabulary.numbered(vocab))
