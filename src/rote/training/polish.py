"""L-BFGS on all contexts, from wherever the first optimiser ended: the last misses of a nearly fitted model."""

from __future__ import annotations

import numpy as np
import torch

from rote.training.objective import Objective

HISTORY = 100
"""Pairs of steps and gradient changes kept: 800 bytes a parameter."""


def polished(objective: Objective, flat: np.ndarray, iterations: int) -> tuple[np.ndarray, np.ndarray]:
    """One model's parameters after L-BFGS with strong Wolfe line searches, and the loss at every evaluation.

    Where an evaluation is not finite, the best parameters before it are kept.
    """
    parameters = torch.from_numpy(flat.astype(np.float32).copy()).requires_grad_()
    optimiser = torch.optim.LBFGS(
        [parameters],
        max_iter=iterations,
        max_eval=iterations * 5 // 4,
        history_size=HISTORY,
        line_search_fn="strong_wolfe",
        tolerance_grad=1e-10,
        tolerance_change=1e-13,
    )
    losses: list[float] = []
    best = (np.inf, flat)

    def evaluate() -> torch.Tensor:
        nonlocal best
        now = parameters.detach().numpy()
        loss, _, gradient = objective.gradient(now[None])
        losses.append(float(loss[0]))
        if losses[-1] < best[0]:
            best = (losses[-1], now.copy())
        parameters.grad = torch.from_numpy(gradient[0])
        return torch.tensor(loss[0])

    optimiser.step(evaluate)
    return best[1], np.array(losses, dtype=np.float32)
