"""The optimizer: Adam for all parameters, or Muon for W_Q and W_K and Adam for the others."""

from __future__ import annotations

import torch
from torch import Tensor

from rote.training.muon import MOMENTUM, orthogonalised
from rote.training.query_attention.protocol import VectorProtocol

MATRICES = ("query", "key")


class Optimiser:
    """Steps on the `.grad` of named tensors."""

    def __init__(self, weights: dict[str, Tensor], protocol: VectorProtocol) -> None:
        self._matrices = [weights[name] for name in MATRICES] if protocol.optimizer == "muon" else []
        rest = [tensor for name, tensor in weights.items() if not self._matrices or name not in MATRICES]
        self._adam = torch.optim.Adam(rest, lr=protocol.peak, betas=(0.9, protocol.beta2), fused=True) if rest else None
        self._momentum = torch.zeros(len(self._matrices), *(self._matrices[0].shape if self._matrices else ()))

    @torch.no_grad()
    def step(self, rate: float, matrix_rate: float) -> None:
        if self._adam is not None:
            self._adam.param_groups[0]["lr"] = rate
            self._adam.step()
        if not self._matrices:
            return
        # W_Q and W_K of all heads have one shape: they are orthogonalized together.
        gradient = torch.stack([matrix.grad for matrix in self._matrices if matrix.grad is not None])
        self._momentum.mul_(MOMENTUM).add_(gradient)
        updates = orthogonalised((gradient + MOMENTUM * self._momentum).flatten(0, 1)).view_as(gradient)
        for matrix, update in zip(self._matrices, updates, strict=True):
            matrix.add_(update, alpha=-matrix_rate)
