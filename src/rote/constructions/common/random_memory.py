"""A linear memory with random embeddings, before anything is written into it: what its constructions share.

Every distinct key i gets a random unit vector e_i and every token j a random unit vector u_j; only the d x d matrix W
of logits_j(i) = u_j . W e_i depends on the facts. Unit length makes every fact as loud as any other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Integer
from torch import Tensor

from rote.constructions.common.memory_size import memory_spec
from rote.constructions.common.random_attention.draw import gaussian
from rote.constructions.construction import Request
from rote.models.model import Model, dtype_named
from rote.tasks import AssociationTask


@dataclass(frozen=True, eq=False)
class RandomMemory:
    """Embeddings rounded to the dtype that is saved, widened to float64 for what is computed from them."""

    task: AssociationTask
    dtype: torch.dtype
    inputs: Float[Tensor, "keys dim"]
    unembed: Float[Tensor, "vocab dim"]
    answers: Integer[Tensor, " keys"]

    @property
    def dim(self) -> int:
        return self.inputs.shape[1]

    def outer_products(self) -> Float[Tensor, "dim dim"]:
        """sum_i u_{g(i)} e_i^T."""
        return self.unembed[self.answers].T @ self.inputs

    def model(self, memory: Float[Tensor, "dim dim"]) -> Model:
        """The finished model, its keys in lexicographic order as its look-up likes them best."""
        spec = memory_spec(self.task, self.dim)
        weights = {
            "inputs": self.inputs.to(self.dtype),
            "memory": memory.to(self.dtype).contiguous(),
            "unembed": self.unembed.to(self.dtype),
            "keys": torch.from_numpy(self.task.contexts).long(),
        }
        return Model(spec, weights, self.task.vocabulary)


def random_memory(request: Request[AssociationTask, Any], dim: int) -> RandomMemory:
    """Embeddings of a task's distinct keys (each with its commonest answer) and of all tokens."""
    task = request.task.majority()
    task = task.take(np.lexsort(task.contexts.T[::-1]))
    dtype, generator = dtype_named(request.dtype), torch.Generator().manual_seed(request.seed)
    return RandomMemory(
        task=task,
        dtype=dtype,
        inputs=unit_rows(task.facts, dim, generator).to(dtype).double(),
        unembed=unit_rows(task.vocab, dim, generator).to(dtype).double(),
        answers=torch.from_numpy(task.answers).long(),
    )


def unit_rows(rows: int, dim: int, generator: torch.Generator) -> Float[Tensor, "rows dim"]:
    """Independent random points on the unit sphere."""
    points = gaussian((rows, dim), generator)
    return points / points.norm(dim=1, keepdim=True)
