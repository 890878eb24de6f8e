"""Corollary 4.1 in full: a label for every position of given sequences, as one model with logits at each."""

from __future__ import annotations

import numpy as np
import torch

from rote.constructions.kajitsuka2025.model import Entrance, floating_model
from rote.constructions.kajitsuka2025.transformer import Facts, Transformer, assemble
from rote.constructions.vardi2022.memorizer import Storage
from rote.errors import InputError
from rote.models.deep_relu import MANTISSA_BITS
from rote.models.model import Model


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


def sequence_facts(sequences: np.ndarray, labels: np.ndarray) -> Facts:
    """One fact a position: the sequence, turned so that this position's token comes last, and its label.

    `sequences` and `labels` (N x n): tokens from 0 on, and labels from 0 on.
    """
    if sequences.shape != labels.shape or sequences.ndim != 2:
        raise InputError(f"sequences {sequences.shape} and labels {labels.shape}: give one label for every position")
    length = sequences.shape[1]
    turns = (np.arange(length)[:, None] + 1 + np.arange(length)) % length
    attended = sequences[:, turns].reshape(-1, length).astype(np.int64) + 1
    return Facts(attended, labels.reshape(-1).astype(np.int64), length, asked=True)


def sequence_to_sequence(
    sequences: np.ndarray, labels: np.ndarray, storage: Storage = "lean", dtype: str = "float64", seed: int = 0
) -> tuple[Model, Transformer]:
    """A model with logits at every position, and the exact network it was made from."""
    facts = sequence_facts(sequences, labels)
    transformer = assemble(facts, storage, MANTISSA_BITS[dtype], seed=seed)
    outputs = int(max(sequences.max(), labels.max())) + 1
    fields = {"input": "tokens", "ordered": False, "vocab": outputs, "context": sequences.shape[1]}
    entrance = Entrance(fields, {"tokens": np.arange(1, outputs + 1, dtype=np.float64)})
    answers = np.arange(int(labels.max()) + 1)
    return floating_model(transformer, facts, entrance, answers, dtype, every_position=True), transformer


def positions_recalled(model: Model, sequences: np.ndarray, labels: np.ndarray, batch: int = 4096) -> int:
    """Positions at which the label's logit is the strict maximum."""
    recalled = 0
    for start in range(0, len(sequences), batch):
        logits = model.logits(sequences[start : start + batch])
        best = torch.from_numpy(labels[start : start + batch]).long()[..., None]
        own = logits.gather(-1, best)
        others = logits.scatter(-1, best, -float("inf")).amax(-1, keepdim=True)
        recalled += int((own > others).sum())
    return recalled
