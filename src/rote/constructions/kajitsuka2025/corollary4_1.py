"""Corollary 4.1 (sequence to sequence): a label for every position of N sequences, with about sqrt(nN) parameters.

F1 hands the token on beside its code, and F2 maps the sequence's id and the token together. The network is
permutation-equivariant: a token that occurs twice in a sequence has one label there, unless positions enter.
"""

from __future__ import annotations

import numpy as np
import torch

from rote.constructions.construction import Construction, Draft, Request, register
from rote.constructions.kajitsuka2025.construct import MemorizerOptions, Variant, build_memorizer
from rote.constructions.kajitsuka2025.model import Entrance, floating_model
from rote.constructions.kajitsuka2025.theorem4_1 import PAPER
from rote.constructions.kajitsuka2025.transformer import Facts, Transformer, assemble
from rote.constructions.vardi2022.memorizer import Storage
from rote.errors import InputError
from rote.models.deep_relu import MANTISSA_BITS
from rote.models.model import Model
from rote.tasks import AssociationTask, VectorTask

ID = "kajitsuka2025.corollary4_1"


def build(request: Request) -> Draft:
    """For a task, whose facts ask for one label each: the last token, or the query, asks within what comes before it.

    Then sequences that recur with other last tokens share one id.
    """
    return build_memorizer(request, Variant(ID, asked=True))


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
    found = 0
    for start in range(0, len(sequences), batch):
        logits = model.logits(sequences[start : start + batch])
        best = torch.from_numpy(labels[start : start + batch]).long()[..., None]
        own = logits.gather(-1, best)
        others = logits.scatter(-1, best, -float("inf")).amax(-1, keepdim=True)
        found += int((own > others).sum())
    return found


register(
    Construction(
        id=ID,
        summary="the deep ReLU memorizer, sequence to sequence: the last token asks for its label",
        source=f"{PAPER}, Corollary 4.1",
        tasks=(AssociationTask, VectorTask),
        build=build,
        options=MemorizerOptions,
        default_dtype="auto",
    )
)
