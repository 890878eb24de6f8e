"""Everything but the gates fitted by cross-entropy: Adam, then L-BFGS, on an engine of `rote.training`.

With attention fixed, logits are a product of four linear maps: free token dimensions, W_V, W_O and W_U. Each alone
would be a convex fit; alternating between them stalls, fitting them together does not. Gradients are those of training
with the gates' entries set to zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from rote.constructions.rote.fit import hopeless
from rote.constructions.rote.fixed_gates.gates import Gates
from rote.progress import Progress
from rote.tasks import AssociationTask
from rote.threads import cpu_time
from rote.training import native_engine
from rote.training.initial import flattened, unflattened
from rote.training.objective import Evaluation, Objective
from rote.training.polish import polished
from rote.training.problem import TrainingProblem
from rote.training.protocol import learning_rates
from rote.training.torch_objective import TorchObjective

PEAK, WARMUP, DECAY = 0.04, 0.05, 0.01
"""Largest rate of Adam's cosine schedule, share of the steps in which it rises, weight decay times the rate."""
BETA1, BETA2, EPSILON = 0.9, 0.99, 1e-8
CHUNK, ROUND = 100, 250
"""Steps of Adam and iterations of L-BFGS between two looks at the missed facts and the clock."""
PATIENCE = 2
"""Rounds of L-BFGS without progress in missed facts before a fit is given up."""

Accept = Callable[[dict[str, Tensor]], bool]


@dataclass(frozen=True, eq=False)
class GateFit:
    """The last weights of a fit, or those that were accepted."""

    weights: dict[str, Tensor]
    missed: int
    evaluations: int
    accepted: bool


class _FreeParts:
    """An engine's objective whose gradient is zero at the gates."""

    def __init__(self, gates: Gates, task: AssociationTask) -> None:
        self.spec, self.problem = gates.spec, TrainingProblem.of(task)
        engine = native_engine.NativeObjective if native_engine.available() else TorchObjective
        self._whole: Objective = engine(self.spec, self.problem, self.problem.prior)
        self.free = flattened(self.spec, gates.free())
        self.evaluations = 0

    def gradient(self, flat: np.ndarray, rows: np.ndarray | None = None, focus: np.ndarray | None = None) -> Evaluation:
        self.evaluations += 1
        found = self._whole.gradient(flat, rows, focus)
        return found._replace(gradient=found.gradient * self.free)

    def missed(self, flat: np.ndarray) -> int:
        return int((self._whole.predictions(flat[None])[0] != self.problem.answers).sum())


def fit_gates(
    gates: Gates,
    task: AssociationTask,
    accept: Accept,
    steps: int,
    refinement: int,
    progress: Progress,
    deadline: float | None,
) -> GateFit:
    """Fit until `accept` takes weights that miss nothing, or the fall of missed facts leaves no hope."""
    objective = _FreeParts(gates, task)
    missed, accepted, course = task.facts, False, []
    start = flat = flattened(gates.spec, gates.weights)
    with progress.stage(f"fitting {task.facts} facts", steps + refinement) as stage:
        for flat, taken in _course(objective, start, steps, refinement):
            missed = objective.missed(flat)
            accepted = not missed and accept(unflattened(gates.spec, flat))
            stage.advance(taken)
            stage.describe(f"fitting {task.facts} facts, {missed} missed")
            if taken == ROUND:
                course.append(missed)
            # Margins grow on after the last miss.
            hope = not missed or not hopeless(course, refinement // ROUND - len(course), PATIENCE)
            if accepted or not hope or (deadline is not None and cpu_time() > deadline):
                break
    return GateFit(unflattened(gates.spec, flat), missed, objective.evaluations, accepted)


def _course(objective: _FreeParts, flat: np.ndarray, steps: int, refinement: int) -> Iterator[tuple[np.ndarray, int]]:
    """Weights after every `CHUNK` steps of Adam with decoupled weight decay, then after every `ROUND` of L-BFGS."""
    first, second = np.zeros_like(flat), np.zeros_like(flat)
    rates = learning_rates("cosine", steps, PEAK, final=0.0, warmup=WARMUP, epoch=1).astype(np.float32)
    for step, rate in enumerate(rates, 1):
        gradient = objective.gradient(flat[None]).gradient[0]
        first += (1 - BETA1) * (gradient - first)
        second += (1 - BETA2) * (gradient * gradient - second)
        update = first / (1 - BETA1**step) / (np.sqrt(second / (1 - BETA2**step)) + EPSILON)
        flat = flat - rate * (update + DECAY * objective.free * flat)
        if step % CHUNK == 0:
            yield flat, CHUNK
    for _ in range(refinement // ROUND):
        flat = polished(objective, flat, ROUND)[0]
        yield flat, ROUND
