"""Norms with their scale frozen: linear maps, through which directions are pulled back."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn


def through_norm(norm: nn.Module, stream: Float[Tensor, "rows dim"], along: Tensor) -> tuple[Tensor, Tensor]:
    """The direction in the residual stream that a direction after the norm reads, its scale frozen; and a constant.

    `along` has directions in its last axis, one or several per row.
    """
    if isinstance(norm, nn.Identity):
        return along, torch.zeros(along.shape[:-1]).to(along)
    gain = norm.get_parameter("weight").double() * along
    wide = (len(stream), *[1] * (along.ndim - 1))
    if isinstance(norm, nn.LayerNorm):
        scale = (stream.var(1, correction=0) + norm.eps).sqrt().view(wide)
        bias = norm.bias
        read = (gain - gain.mean(-1, keepdim=True)) / scale
        return read, torch.zeros(along.shape[:-1]).to(read) if bias is None else along @ bias.double()
    epsilon = float(getattr(norm, "variance_epsilon", getattr(norm, "eps", 0.0)))
    scale = (stream.square().mean(1) + epsilon).sqrt().view(wide)
    return gain / scale, torch.zeros(along.shape[:-1]).to(gain)
