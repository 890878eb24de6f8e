"""What the heads together must give on every example, and the readout that turns it into classes or real outputs.

The readout sees d_v numbers: for labels these are a code per class, for real targets the targets themselves, or their
coordinates in the space they span when there are more outputs than dimensions.
"""

from __future__ import annotations

from typing import cast

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from rote.constructions.common.random_attention.codes import answer_code
from rote.constructions.mahdavi2024.options import ID
from rote.errors import InputError
from rote.models.query_attention import QueryAttention
from rote.tasks import VectorTask


def value_dim_for(task: VectorTask, asked: int | None) -> int:
    """d_v: for labels the length of a class code, for targets the rank of the matrix of targets."""
    if task.labels is not None:
        # Sixteen dimensions keep random class codes well apart at 32 numbers a head and dimension.
        return asked or min(task.outputs, task.dim, 16)
    needed = task.outputs
    if needed > task.dim:
        needed = int(np.linalg.matrix_rank(cast(np.ndarray, task.targets)))
    if needed > task.dim or needed > (asked or needed):
        limit = f"dim {task.dim}" if needed > task.dim else f"`value_dim={asked}`"
        raise InputError(
            f"{ID}: targets of rank {needed} do not fit through {limit}: all outputs are read from that many "
            "numbers. Give fewer outputs, or vectors of a larger dim"
        )
    return asked or needed


def wanted_outputs(
    task: VectorTask, spec: QueryAttention, generator: torch.Generator
) -> tuple[Float[Tensor, "examples value_dim"], Float[Tensor, "outputs dim"]]:
    """What the heads' sum must be on every example, and the readout that turns it into outputs."""
    readout = torch.zeros(spec.outputs, spec.dim, dtype=torch.float64)
    if task.labels is not None:
        if spec.value_dim == 1 and spec.outputs > 2:
            raise InputError(f"{ID}: `value_dim=1` tells two classes apart, not {spec.outputs}; give 2 or more")
        code = answer_code(spec.outputs, spec.value_dim, generator)
        readout[:, : spec.value_dim] = code
        return code[torch.from_numpy(task.labels).long()], readout
    targets = torch.from_numpy(cast(np.ndarray, task.targets))
    if spec.outputs <= spec.value_dim:
        readout[:, : spec.outputs] = torch.eye(spec.outputs, dtype=torch.float64)
        return torch.nn.functional.pad(targets, (0, spec.value_dim - spec.outputs)), readout
    left, singular, right = torch.linalg.svd(targets, full_matrices=False)
    kept = min(spec.value_dim, len(singular))
    readout[:, :kept] = right[:kept].T
    return torch.nn.functional.pad(left[:, :kept] * singular[:kept], (0, spec.value_dim - kept)), readout
