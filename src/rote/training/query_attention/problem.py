"""A vector task in the form that the folded engine reads."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from rote.errors import InputError
from rote.models.query_attention import QueryAttention
from rote.tasks import VectorTask
from rote.training.query_attention.coordinates import Coordinates


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
        """Some of the examples."""

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
