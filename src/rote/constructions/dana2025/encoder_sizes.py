"""The embedding dimension of sequence encoders when none is given."""

from __future__ import annotations

from typing import Any

from rote.constructions.construction import Request
from rote.tasks import DistributionTask

DEFAULT_DIM = 16
"""Embedding dimension when none is given, or vocab - 1 where that is less: there every distribution is exact."""


def chosen_dim(request: Request[DistributionTask, Any]) -> int:
    """The embedding dimension asked for, or the default."""
    return request.dim or min(DEFAULT_DIM, max(1, request.task.vocab - 1))
