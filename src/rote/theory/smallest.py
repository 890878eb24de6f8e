"""A result turned around: the smallest model that holds a task's facts by it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rote.models import LinearMemory, Spec
from rote.tasks.shape import TaskShape


@dataclass(frozen=True)
class SmallestModel:
    """A model that rote has the architecture of."""

    reason: str
    """What the size rests on."""
    spec: Spec

    @property
    def parameters(self) -> int:
        return self.spec.parameters()

    @property
    def bits_per_parameter(self) -> float | None:
        """Always None: the precision is the dtype of the build."""
        return None


@dataclass(frozen=True)
class SmallestSize:
    """The size of a model that rote has no architecture for."""

    reason: str
    """What the size rests on."""
    description: str
    """The model in words."""
    parameters: int
    bits_per_parameter: float | None = None
    """Where the result fixes a precision of its own."""


Smallest = Callable[[TaskShape], SmallestModel | SmallestSize]
"""Takes the shape of a task; raises `InputError` with the reason where no size will do."""


def memory_of(shape: TaskShape, dim: int, how: str) -> SmallestModel:
    """A memory of this dim with one random vector per key, its matrix W trained or written as `how` says."""
    return SmallestModel(
        f"W {how} holds d^2 = {dim**2} of the numbers, random vectors and keys the others",
        LinearMemory(vocab=shape.vocab, context=shape.context, inputs=shape.associations, dim=dim),
    )
