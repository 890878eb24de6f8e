"""A result turned around: the smallest model that holds a task's facts by it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rote.models.spec import Spec
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
