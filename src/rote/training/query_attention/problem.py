"""A vector task in the form that the folded engine reads, in coordinates with mean zero and variance one.

Uniform vectors in [0, 1)^d have nearly the same direction, which slows training. An affine embedding absorbs a shift
and a scale of its inputs exactly, so that training may run on x' = (x - shift) / scale and the trained weights can be
converted back to x: A x + b = A' x' + b' with A' = scale A and b' = b + shift A 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from rote.errors import InputError
from rote.models.query_attention import QueryAttention
from rote.tasks import VectorTask


@dataclass(frozen=True)
class Coordinates:
    """x' = (x - shift) / scale, the same for every coordinate of every vector."""

    shift: float = 0.0
    scale: float = 1.0

    @classmethod
    def of(cls, task: VectorTask, spec: QueryAttention) -> Coordinates:
        """Mean and standard deviation of the queries' coordinates; the identity without an embedding to absorb them."""
        spread = float(task.queries.std())
        return cls(float(task.queries.mean()), spread) if spec.embed and spread > 0 else cls()

    def vectors(self, raw: Tensor) -> Tensor:
        return (raw - self.shift) / self.scale

    def inside(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        """Weights for x' of the model that has these weights for x."""
        return self._changed(weights, self.scale, self.shift)

    def outside(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        """Weights for x of the model that has these weights for x'."""
        return self._changed(weights, 1 / self.scale, -self.shift / self.scale)

    def _changed(self, weights: dict[str, Tensor], scale: float, shift: float) -> dict[str, Tensor]:
        if "embed" not in weights or (scale, shift) == (1.0, 0.0):
            return dict(weights)
        embed = weights["embed"].double()
        bias = weights["embed_bias"].double() + shift * embed.sum(1)
        kind = weights["embed"].dtype
        return weights | {"embed": (scale * embed).to(kind), "embed_bias": bias.to(kind)}


@dataclass(frozen=True, eq=False)
class VectorProblem:
    """Queries with a one appended (so that a table's last row is its constant), contexts, and answers."""

    queries: Float[Tensor, "examples dim_and_one"]
    contexts: Float[Tensor, "some context dim"]
    """One row if all examples share a context."""
    answers: Tensor
    """Labels (examples), or targets (examples x outputs)."""

    @classmethod
    def of(cls, task: VectorTask, coordinates: Coordinates, dtype: torch.dtype = torch.float32) -> VectorProblem:
        queries = coordinates.vectors(torch.from_numpy(task.queries)).to(dtype)
        contexts = coordinates.vectors(torch.from_numpy(task.contexts)).to(dtype)
        answers = torch.from_numpy(task.labels if task.targets is None else task.targets)
        return cls(
            torch.cat([queries, torch.ones(len(queries), 1, dtype=dtype)], 1),
            contexts,
            answers.long() if task.targets is None else answers.to(dtype),
        )

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def shared(self) -> bool:
        return len(self.contexts) == 1

    @property
    def labelled(self) -> bool:
        return not self.answers.is_floating_point()

    def rows(self, rows: slice | Tensor) -> VectorProblem:

        def taken(tensor: Tensor) -> Tensor:
            # Copying complete rows is three times as fast as indexing.
            return tensor[rows] if isinstance(rows, slice) else tensor.index_select(0, rows)

        contexts = self.contexts if self.shared else taken(self.contexts)
        return VectorProblem(taken(self.queries), contexts, taken(self.answers))


def must_match(spec: QueryAttention, task: VectorTask) -> None:
    """Raise an error that names every difference between the sizes of a task and of the specification."""
    pairs = (("context", spec.context, task.context), ("dim", spec.dim, task.dim))
    off = [f"{name} {own} but the task's is {other}" for name, own, other in pairs if own != other]
    if spec.outputs < task.outputs or (task.targets is not None and spec.outputs != task.outputs):
        off.append(f"outputs {spec.outputs} but the task needs {task.outputs}")
    if off:
        raise InputError(f"the specification does not fit the task: it has {'; '.join(off)}")
