"""Muon: steepest descent in the spectral norm for the matrices inside heads, Adam for the rest (Jordan et al. 2024).

The update of a matrix is the nearest orthogonal matrix to its (Nesterov) momentum, found by five steps of a quintic
Newton-Schulz iteration whose coefficients push every singular value into about [0.7, 1.2].
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from rote.models.attention_only import Transformer
from rote.training.objective import AdamSettings, AdamState, Objective

MOMENTUM = 0.95
QUINTIC = (3.4445, -4.7750, 2.0315)


class Muon:
    """The optimizer Muon, on the gradients of any engine."""

    def __init__(self, objective: Objective, flat: np.ndarray) -> None:
        self._objective = objective
        self.state = AdamState.start(flat)
        self._momentum = np.zeros_like(self.state.flat)
        self._matrices = matrix_slices(objective.spec)

    def steps(
        self,
        rates: np.ndarray,
        matrix_rates: np.ndarray,
        rows: np.ndarray | None,
        settings: AdamSettings,
        focus: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Take one step per rate; returns losses and accuracies (models x steps) before each step."""
        state, losses, shares = self.state, [], []
        for step, (rate, matrix_rate) in enumerate(zip(rates, matrix_rates, strict=True)):
            batch = None if rows is None else rows[:, step]
            evaluation = self._objective.gradient(state.flat, batch, focus[:, step])
            gradient = evaluation.gradient
            losses.append(evaluation.loss)
            shares.append(evaluation.right)
            state.steps += 1
            state.first += (1 - settings.beta1) * (gradient - state.first)
            state.second += (1 - settings.beta2) * (gradient * gradient - state.second)
            self._momentum += (1 - MOMENTUM) * (gradient - self._momentum)
            ahead = MOMENTUM * self._momentum + (1 - MOMENTUM) * gradient
            rms = np.sqrt(state.second / (1 - settings.beta2**state.steps)) + settings.epsilon
            update = rate / (1 - settings.beta1**state.steps) * state.first / rms
            for part, shape in self._matrices:
                momentum = torch.from_numpy(ahead[:, part]).view(-1, *shape)
                update[:, part] = matrix_rate * orthogonalised(momentum).reshape(len(update), -1).numpy()
            state.flat -= update.astype(np.float32)
        return np.stack(losses, 1), np.stack(shares, 1)


def orthogonalised(matrices: Tensor, iterations: int = 5) -> Tensor:
    """Each matrix with its singular values moved close to one."""
    a, b, c = QUINTIC
    x = matrices / (torch.linalg.matrix_norm(matrices, keepdim=True) + 1e-7)
    tall = x.shape[-2] > x.shape[-1]
    x = x.mT if tall else x
    for _ in range(iterations):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.mT if tall else x


def matrix_slices(spec: Transformer) -> list[tuple[slice, tuple[int, ...]]]:
    """Slices of the per-head matrices in a vector of parameters, and their shapes."""
    slices, start = [], 0
    for name, shape in spec.shapes().items():
        size = int(np.prod(shape))
        if name in spec.head_axes():
            slices.append((slice(start, start + size), shape))
        start += size
    return slices
