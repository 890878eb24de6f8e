"""Sizes of sequence encoders."""

from __future__ import annotations

from typing import Any

from rote.constructions.construction import Request
from rote.models.sequence_encoder import SequenceEncoder
from rote.tasks import DistributionTask, TokenTask

DEFAULT_DIM = 16
"""Default embedding dimension, or vocab - 1 if that is smaller: there every distribution is exact."""


def chosen_dim(request: Request[DistributionTask, Any]) -> int:
    """The given embedding dimension, or the default."""
    return request.dim or min(DEFAULT_DIM, max(1, request.task.vocab - 1))


def encoder_spec(task: TokenTask, dim: int) -> SequenceEncoder:
    """A row for every context of the task."""
    return SequenceEncoder(vocab=task.vocab, context=task.context, contexts=len(task.contexts), dim=dim)


def fitted_encoder(request: Request[DistributionTask, Any]) -> SequenceEncoder:
    """The encoder that is fitted to a task: of the given embedding dimension, or the default."""
    return encoder_spec(request.task, chosen_dim(request))
