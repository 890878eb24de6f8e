"""Everything but the gates fitted by cross-entropy: L-BFGS over free token dimensions, W_V, W_O and W_U together.

With attention fixed, logits are a product of four linear maps, each of which alone would be a convex fit; alternating
between them stalls, fitting them together does not. Products run in float32 until a line search fails on its rounding.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor
from torch.nn import functional

from rote.constructions.rote.fit import ROUND_STEPS, hopeless
from rote.constructions.rote.fixed_gates.gates import Gates
from rote.progress import Progress
from rote.tasks import AssociationTask

FITTED = ("tokens", "positions", "layers.0.value", "layers.0.output", "unembed")
PATIENCE = 6
"""Rounds of 100 steps without progress in missed facts before a fit is given up."""


@dataclass(frozen=True, eq=False)
class GateFit:
    """The best weights seen: fewest missed facts, or those that were accepted."""

    weights: dict[str, Tensor]
    missed: int
    evaluations: int
    accepted: bool


class _Ended(Exception):
    """The fit was accepted, or its time is over."""


class _Objective:
    """Mean cross-entropy and its gradient; remembers the best point and offers complete ones to `accept`."""

    def __init__(
        self, gates: Gates, task: AssociationTask, accept: Callable[[dict[str, Tensor]], bool], deadline: float | None
    ) -> None:
        self.gates, self.accept, self.deadline = gates, accept, deadline
        self.contexts = torch.from_numpy(task.contexts).long()
        classes, self.answers = torch.unique(torch.from_numpy(task.answers).long(), return_inverse=True)
        # Tokens that are nobody's answer share the last row, a class that is never right.
        self.row_of = torch.full((gates.spec.vocab,), len(classes))
        self.row_of[classes] = torch.arange(len(classes))
        rows = int(self.row_of.max()) + 1
        self.patterns = gates.patterns(task)
        self.start = {name: gates.weights[name] for name in FITTED} | {"unembed": gates.weights["unembed"][:rows]}
        for name in ("tokens", "positions"):
            self.start[name] = self.start[name][:, gates.count :]
        self.evaluations, self.missed, self.accepted = 0, task.facts + 1, False
        self.best: np.ndarray | None = None
        self._wait = 0
        self.use(torch.float32)

    def use(self, dtype: torch.dtype) -> None:
        self.dtype, self.mixing = dtype, self.patterns.to(dtype)
        self.fixed = {name: self.gates.weights[name][:, : self.gates.count].to(dtype) for name in FITTED[:2]}

    def first(self) -> np.ndarray:
        return torch.cat([self.start[name].flatten() for name in FITTED]).numpy()

    def split(self, point: Tensor) -> dict[str, Tensor]:
        sizes = [self.start[name].numel() for name in FITTED]
        parts = zip(FITTED, point.split(sizes), strict=True)
        return {name: part.view(self.start[name].shape) for name, part in parts}

    def weights(self, point: np.ndarray) -> dict[str, Tensor]:
        """The fitted tensors as a model holds them, in float64."""
        parts = self.split(torch.from_numpy(point))
        for name in FITTED[:2]:
            parts[name] = torch.cat([self.gates.weights[name][:, : self.gates.count], parts[name]], 1)
        return {**parts, "unembed": parts["unembed"][self.row_of]}

    def logits(self, parts: dict[str, Tensor]) -> Tensor:
        tokens, positions = (torch.cat([self.fixed[name], parts[name]], 1) for name in FITTED[:2])
        value, output = parts["layers.0.value"], parts["layers.0.output"]
        heads, head_dim, dim = value.shape
        of_token = tokens @ value.reshape(-1, dim).T
        of_place = positions @ value.reshape(-1, dim).T
        mixed = self.mixing.new_zeros(len(self.contexts), heads, head_dim)
        for place in range(self.contexts.shape[1]):
            # An embedding, not an index: its gradient is many times faster.
            read = functional.embedding(self.contexts[:, place], of_token) + of_place[place]
            mixed = mixed + self.mixing[:, :, place, None] * read.view(-1, heads, head_dim)
        last = functional.embedding(self.contexts[:, -1], tokens) + positions[-1]
        stream = last + mixed.flatten(1) @ output.transpose(1, 2).reshape(-1, dim)
        return stream @ parts["unembed"].T

    def __call__(self, given: np.ndarray) -> tuple[float, np.ndarray]:
        self.evaluations += 1
        point = torch.from_numpy(given).to(self.dtype).requires_grad_(True)
        logits = self.logits(self.split(point))
        loss = functional.cross_entropy(logits, self.answers)
        (gradient,) = torch.autograd.grad(loss, point)
        self._look(given, int(logits.detach().argmax(1).ne(self.answers).sum()))
        return float(loss.detach()), gradient.double().numpy()

    def _look(self, given: np.ndarray, missed: int) -> None:
        if missed < self.missed or missed == 0:
            self.missed, self.best = missed, given.copy()
        self._wait -= 1
        if missed == 0 and self._wait <= 0:
            self.accepted = self.accept(self.weights(given))
            self._wait = 10  # margins grow slowly
        if self.accepted or (self.deadline is not None and time.monotonic() > self.deadline):
            raise _Ended


def fit_gates(
    gates: Gates,
    task: AssociationTask,
    accept: Callable[[dict[str, Tensor]], bool],
    steps: int,
    progress: Progress,
    deadline: float | None,
) -> GateFit:
    """Fit until `accept` takes weights that miss nothing, or the fall of missed facts leaves no hope."""
    objective = _Objective(gates, task, accept, deadline)
    point, course = objective.first(), [task.facts + 1]
    with progress.stage(f"fitting {task.facts} facts", steps) as stage:
        try:
            for done in range(0, steps, ROUND_STEPS):
                number = min(ROUND_STEPS, steps - done)
                options = {"maxiter": number, "maxcor": 20, "ftol": 0.0, "gtol": 1e-12}
                ended = minimize(objective, point, jac=True, method="L-BFGS-B", options=options)
                point = ended.x
                stage.advance(number)
                stage.describe(f"fitting {task.facts} facts, {objective.missed} missed")
                if ended.nit < number:
                    if objective.dtype == torch.float64:
                        break
                    objective.use(torch.float64)
                course.append(objective.missed)
                if hopeless(course, (steps - done - number) // ROUND_STEPS, PATIENCE):
                    break
        except _Ended:
            pass
    best = point if objective.best is None else objective.best
    return GateFit(objective.weights(best), objective.missed, objective.evaluations, objective.accepted)
