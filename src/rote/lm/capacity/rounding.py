"""How much of what a module holds survives when its weights are rounded.

Floating-point formats round every weight by itself. With b bits, the weights of one tensor take 2^b - 1 equally spaced
values, symmetric around zero, up to the largest (half a step is never lost to a zero point).
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

ROUNDINGS: dict[str, Callable[[Tensor], Tensor]] = {
    "float16": lambda weight: weight.half().to(weight.dtype),
    "bfloat16": lambda weight: weight.bfloat16().to(weight.dtype),
    "8 bits": lambda weight: _grid(weight, 8),
    "6 bits": lambda weight: _grid(weight, 6),
    "4 bits": lambda weight: _grid(weight, 4),
}


@torch.no_grad()
def after_rounding(module: nn.Module, measure: Callable[[], float]) -> dict[str, float]:
    """What `measure` gives for each rounding of the module's weights; the module is left as it was."""
    weights = list(module.parameters())
    kept = [weight.clone() for weight in weights]
    measured = {}
    for name, rounding in ROUNDINGS.items():
        for weight, own in zip(weights, kept, strict=True):
            weight.copy_(rounding(own))
        measured[name] = measure()
    for weight, own in zip(weights, kept, strict=True):
        weight.copy_(own)
    return measured


def _grid(weight: Tensor, bits: int) -> Tensor:
    step = weight.abs().max() / (2 ** (bits - 1) - 1)
    return weight if step == 0 else (weight / step).round() * step
