"""Low-rank adapters: W x + B A x beside frozen matrices, and how many of their numbers matter.

A and B have r (d_in + d_out) numbers per matrix; r^2 of them change nothing, since B A = (B M)(M^-1 A) for every
invertible M.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import torch
from torch import Tensor, nn

from rote.errors import InputError

Modules = Literal["all", "attention", "mlp", "down"]
ROLES = {
    "attention": ("q_proj", "k_proj", "v_proj", "o_proj", "c_attn", "qkv_proj", "query", "key", "value", "output"),
    "mlp": (
        "gate_proj",
        "up_proj",
        "down_proj",
        "c_fc",
        "gate_up_proj",
        "fc1",
        "fc2",
        "dense_h_to_4h",
        "dense_4h_to_h",
        "up",
        "down",
    ),
    "down": ("down_proj", "fc2", "down"),
}
"""Names of matrices by what they do; GPT-2's `c_proj` is both an attention's and an MLP's."""


def matrices_of(module: nn.Module, modules: Modules) -> dict[str, tuple[int, int]]:
    """Shapes (inputs, outputs) of the matrices inside blocks that LoRA would adapt, by name."""
    found = {}
    for name, part in module.named_modules():
        weight = getattr(part, "weight", None)
        if weight is None or weight.ndim != 2 or isinstance(part, nn.Embedding) or name.endswith("lm_head"):
            continue
        inputs, outputs = weight.shape if type(part).__name__ == "Conv1D" else weight.shape[::-1]
        if _belongs(name, modules):
            found[name] = (int(inputs), int(outputs))
    return found


def _belongs(name: str, modules: Modules) -> bool:
    above, _, last = name.rpartition(".")
    if last == "c_proj":
        inside = "mlp" if above.endswith("mlp") else "attention"
        return modules in ("all", inside) or (modules == "down" and inside == "mlp")
    if modules == "all":
        return any(last in names for names in ROLES.values())
    return last in ROLES[modules]


class Adapted(nn.Module):
    """A frozen matrix and its adapter: x W + x A^T B^T. B begins at zero, A at random.

    A and B may be kept in a wider dtype than the matrix, so that small steps of training add up. They are rounded to
    the dtype of the states where they are used.
    """

    def __init__(self, base: nn.Module, inputs: int, outputs: int, rank: int, dtype: torch.dtype | None = None) -> None:
        super().__init__()
        self.base = base
        like: Tensor = next(base.parameters())
        dtype = dtype or like.dtype
        self.lora_A = nn.Parameter(torch.randn(rank, inputs, dtype=dtype) / math.sqrt(inputs))
        self.lora_B = nn.Parameter(torch.zeros(outputs, rank, dtype=dtype))

    def forward(self, states: Tensor) -> Tensor:
        a, b = self.lora_A.to(states.dtype), self.lora_B.to(states.dtype)
        return self.base(states) + states @ a.T @ b.T


def adapt(
    module: nn.Module, rank: int, modules: Modules = "all", dtype: torch.dtype | None = None
) -> dict[str, Adapted]:
    """Freeze a module and put adapters of this rank on its matrices, by name. Only A and B are trained.

    `dtype` is that of A and B; by default that of the matrix.
    """
    shapes = matrices_of(module, modules)
    if not shapes:
        raise InputError(f"`modules`: {type(module).__name__} has no matrices named as {modules!r} ones are")
    module.requires_grad_(False)
    adapters = {}
    for name, (inputs, outputs) in shapes.items():
        above, _, last = name.rpartition(".")
        parent: Any = module.get_submodule(above)
        adapters[name] = Adapted(getattr(parent, last), inputs, outputs, rank, dtype)
        setattr(parent, last, adapters[name])
    return adapters


def effective_parameters(shapes: list[tuple[int, int]], rank: int) -> int:
    """Numbers of A and B without the r^2 per matrix that change nothing."""
    within = [min(rank, *shape) for shape in shapes]
    return sum(own * (sum(shape) - own) for own, shape in zip(within, shapes, strict=True))
