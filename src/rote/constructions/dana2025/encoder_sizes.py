"""Sizes of sequence encoders: the embedding dimension when none is given, and what an encoder does not have."""

from __future__ import annotations

from typing import Any

from rote.constructions.construction import Request
from rote.errors import InputError
from rote.tasks import DistributionTask

DEFAULT_DIM = 16
"""Embedding dimension when none is given, or vocab - 1 where that is less: there every distribution is exact."""


def positive_dim(dim: int) -> int:
    if dim < 1:
        raise InputError(f"dim: {dim} is below 1; an encoder needs at least one dimension")
    return dim


def chosen_dim(request: Request[DistributionTask, Any]) -> int:
    """The embedding dimension asked for, or the default."""
    refuse_attention_sizes(request)
    if request.dim is not None:
        return positive_dim(request.dim)
    return min(DEFAULT_DIM, max(1, request.task.vocab - 1))


def refuse_attention_sizes(request: Request[Any, Any]) -> None:
    """A sequence encoder has no heads; asking for some is a misunderstanding worth an error."""
    given = [name for name in ("heads", "head_dim") if getattr(request, name) is not None]
    if given:
        raise InputError(
            f"{', '.join(given)}: a sequence encoder has no attention heads; leave them out, or store the facts in "
            "attention by dana2025.theorem1 (associations) or dana2025.theorem1_distribution (distributions)"
        )
