"""Fitting the matrix of a linear memory by cross-entropy, which is convex in it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from scipy.optimize import minimize
from torch import Tensor

from rote.constructions.common.random_memory import RandomMemory
from rote.models.spec import SOLVE_FLOATS, rows_within
from rote.progress import SILENT, Progress

CHECK_EVERY = 5
"""Steps between two checks of the margins, each of which costs as much as a step."""
SAFE_MARGIN = 2**12
"""Margin at which to stop, in units of the saved dtype's rounding of the largest logit."""


@dataclass(frozen=True, eq=False)
class TrainedMemory:
    """A fitted W and how the fit ended."""

    memory: Float[Tensor, "dim dim"]
    steps: int
    loss: float
    """Mean cross-entropy in nats."""
    recalled: int


def train(memory: RandomMemory, steps: int, progress: Progress = SILENT) -> TrainedMemory:
    """Minimise the cross-entropy of W from the outer products on, until every margin survives rounding."""
    dim, facts = memory.dim, memory.task.facts
    rows = rows_within(SOLVE_FLOATS, len(memory.unembed))
    rounding = SAFE_MARGIN * torch.finfo(memory.dtype).eps

    def parts(W: Tensor):
        for start in range(0, facts, rows):
            some = slice(start, min(start + rows, facts))
            yield some, memory.inputs[some] @ W.T @ memory.unembed.T, memory.answers[some, None]

    def loss(flat) -> tuple[float, object]:
        total, gradient = 0.0, torch.zeros(dim, dim, dtype=torch.float64)
        for some, logits, answers in parts(torch.from_numpy(flat).view(dim, dim)):
            total += float((logits.logsumexp(1) - logits.gather(1, answers)[:, 0]).sum())
            off = logits.softmax(1)
            off.scatter_add_(1, answers, torch.full_like(answers, -1, dtype=torch.float64))
            gradient += memory.unembed.T @ (off.T @ memory.inputs[some])
        return total, gradient.view(-1).numpy()

    def margins(flat) -> tuple[int, bool]:
        """Facts recalled, and whether all are by a safe margin."""
        recalled, smallest, largest = 0, math.inf, 0.0
        for _, logits, answers in parts(torch.from_numpy(flat).view(dim, dim)):
            own = logits.gather(1, answers)[:, 0]
            largest = max(largest, float(logits.abs().max()))
            margin = own - logits.scatter(1, answers, -math.inf).amax(1)
            recalled += int((margin > 0).sum())
            smallest = min(smallest, float(margin.min()))
        return recalled, smallest > rounding * largest

    taken = 0
    with progress.stage("training a linear memory", steps) as stage:

        def after_step(flat) -> None:
            nonlocal taken
            taken += 1
            stage.advance()
            if taken % CHECK_EVERY == 0 and margins(flat)[1]:
                raise StopIteration

        # Four times the outer products: logits of a few nats, where cross-entropy has slope.
        start = 4 * memory.outer_products().reshape(-1).numpy()
        limits = {"maxiter": steps, "maxfun": 20 * steps, "maxcor": 20, "ftol": 1e-13, "gtol": 1e-7}
        ended = minimize(loss, start, jac=True, method="L-BFGS-B", callback=after_step, options=limits)
    W = torch.from_numpy(ended.x).view(dim, dim).clone()
    return TrainedMemory(W, taken, float(ended.fun) / facts, margins(ended.x)[0])
