"""L-BFGS refinement on all contexts after the first optimizer, for the last misses of a nearly fitted model."""

from __future__ import annotations

import numpy as np
import torch

from rote.training.objective import Differentiable

HISTORY = 100
"""Length of the L-BFGS history: 800 bytes per parameter."""


def polished(
    objective: Differentiable, flat: np.ndarray, iterations: int, focus: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """One model's parameters after L-BFGS with strong Wolfe line searches, and the cross-entropies on the way down.

    If an evaluation is not finite, the best parameters before it are kept.
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
        evaluation = objective.gradient(now[None], None, np.array([focus]))
        value = float(evaluation.objective[0])
        if value < best[0]:
            best = (value, now.copy())
            losses.append(float(evaluation.loss[0]))
        parameters.grad = torch.from_numpy(evaluation.gradient[0])
        return torch.tensor(value)

    optimiser.step(evaluate)
    return best[1], np.array(losses, dtype=np.float32)
