"""The least-squares matrix of a linear memory; the equations are in `least_squares` beside this."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from rote.constructions.common.random_memory import RandomMemory


def least_squares(memory: RandomMemory, ridge: float) -> tuple[Float[Tensor, "dim dim"], float]:
    """W, and the ratio of the largest to the smallest penalised eigenvalue product."""
    centred = memory.unembed - memory.unembed.mean(0)
    outputs, left = torch.linalg.eigh(centred.T @ centred)
    inputs, right = torch.linalg.eigh(memory.inputs.T @ memory.inputs)
    products = outputs.clamp(min=0)[:, None] * inputs.clamp(min=0)
    # With fewer facts (or tokens) than dimensions some products are zero: the floor of rounding keeps them out.
    floor = products.max() * torch.finfo(torch.float64).eps * memory.dim
    penalised = products + ridge * products.mean() + floor
    crossed = centred[memory.answers].T @ memory.inputs
    return left @ ((left.T @ crossed @ right) / penalised) @ right.T, float(penalised.max() / penalised.min())
