"""Sizes of linear associative memories, which several results are about."""

from __future__ import annotations

from rote.models.linear_memory import LinearMemory
from rote.tasks.shape import TaskShape
from rote.theory.smallest import SmallestModel


def memory_of(shape: TaskShape, dim: int, how: str) -> SmallestModel:
    """A memory of this dim with one random vector per key, its matrix W trained or written as `how` says."""
    return SmallestModel(
        f"W {how} holds d^2 = {dim**2} of the numbers, random vectors and keys the others",
        LinearMemory(vocab=shape.vocab, context=shape.context, inputs=shape.associations, dim=dim),
    )
