"""Training on a grid: every step computes with weights of a few levels, and gradients move what they are rounded from.

Straight-through estimation: a latent weight is rounded to its grid, the gradient at the rounded weights is applied to
the latent one, and latent weights are kept within half a step of their grid. Scales are fixed beforehand, one per
tensor: learned ones drifted to zero. The rate begins at several steps of the grid and falls with the third power of the
remaining steps.

Then the *finish*: rounds of a few hundred steps at a low rate in which the weights of the facts that are still missed
are raised. Among all the steps the model that recalls most is kept.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rote.errors import InputError
from rote.models.attention_only import Transformer
from rote.models.grid import LEVELS, GridName, Precision, TensorGrid
from rote.models.model import Model
from rote.tasks.vocabulary import Vocabulary
from rote.training.initial import generator, unflattened
from rote.training.objective import Objective
from rote.training.problem import TrainingProblem
from rote.training.protocol import Protocol, learning_rates
from rote.training.result import Trained
from rote.training.run import CHUNK, FOCUS_PER_MISS, Report, thinned

SPREAD = {"tokens": 1.77, "positions": 1.04, "query": 0.96, "key": 1.15, "value": 0.99, "output": 1.07, "unembed": 2.1}
"""Standard deviations of the tensors of a trained float32 model; training on a grid starts at `START` times these."""
START = 0.4
STEPS = {255: 0.012, 63: 0.04, 31: 0.08, 16: 0.145, 12: 0.17, 8: 0.2, 3: 0.33}
"""Step of the grid of head tensors, by levels: chosen on a few seeds of all pairs of 32 and 47 tokens."""
UNEMBED = 1.7
"""Step of the unembedding's grid, in steps of the head tensors'."""
REACH = 3.2
"""Width of the grids of tokens and positions, which have more levels: they are the most sensitive tensors."""
TOKEN_LEVELS: dict[GridName, int] = {
    "int8": 255, "int6": 63, "int4": 63, "levels12": 63, "int3": 31, "ternary": 31
}  # fmt: skip
POSITION_LEVELS = 255

ROUNDS, ROUND_STEPS, ROUND_BETA = 200, 300, 0.95
"""The finish: rounds, steps of each, and both betas of its Adam."""
ROUND_RATE, RAISED = 0.03, 1.3
"""Its rate, and what the weight of a missed fact is multiplied by in a round."""
NEARLY = 0.03
"""Share of missed facts above which the finish is not tried."""

Reweighted = Callable[[np.ndarray], Objective]
"""The same objective with other weights of the contexts."""


def refuse_off_grid(spec: Transformer, dtype: str) -> None:
    """Only tensors of attention-only models have grids."""
    if unknown := sorted({_kind(name) for name in spec.shapes()} - set(SPREAD)):
        raise InputError(
            f"`dtype={dtype}`: attention-only models of the per-head variant are trained on a grid; this one has "
            f"{', '.join(unknown)}. Leave `dtype` out, or the MLP or the shared compression"
        )


def precision_for(spec: Transformer, dtype: GridName) -> Precision:
    """The grids of a model: 8-bit positions, tokens of up to 6 bits, everything else of the precision's levels."""
    grids = {}
    for name, shape in spec.shapes().items():
        kind, levels = _kind(name), LEVELS[dtype]
        if kind in ("tokens", "positions"):
            levels = TOKEN_LEVELS[dtype] if kind == "tokens" else POSITION_LEVELS
            step = REACH / levels
        else:
            step = STEPS[levels] * (UNEMBED if kind == "unembed" else 1)
        grids[name] = TensorGrid(levels, np.full((1,) * len(shape), step, np.float16))
    return Precision(dtype, grids)


def initial_latent(spec: Transformer, seed: int) -> np.ndarray:
    """Random latent weights."""
    rng = generator(seed, "grid")
    parts = [rng.normal(0, START * SPREAD[_kind(name)], math.prod(shape)) for name, shape in spec.shapes().items()]
    return np.concatenate(parts)


def _kind(name: str) -> str:
    return name.rsplit(".", 1)[-1]


@dataclass(frozen=True, eq=False)
class FlatGrid:
    """The grids of all parameters side by side."""

    scale: np.ndarray
    middle: np.ndarray

    @classmethod
    def of(cls, spec: Transformer, precision: Precision) -> FlatGrid:
        scale, middle = [], []
        for name, shape in spec.shapes().items():
            grid = precision.grids[name]
            scale.append(np.broadcast_to(grid.scales.astype(np.float64), shape).reshape(-1))
            middle.append(np.full(math.prod(shape), grid.middle))
        return cls(np.concatenate(scale), np.concatenate(middle))

    def rounded(self, latent: np.ndarray) -> np.ndarray:
        codes = np.clip(np.rint(latent / self.scale + self.middle), 0, 2 * self.middle)
        return ((codes - self.middle) * self.scale).astype(np.float32)

    def clipped(self, latent: np.ndarray) -> np.ndarray:
        """Latent weights within half a step of the grid's ends."""
        edge = (self.middle + 0.5) * self.scale
        return np.clip(latent, -edge, edge)


@dataclass
class Best:
    """The rounded weights that recalled most, and of those the ones with least loss."""

    flat: np.ndarray
    right: float = -1.0
    loss: float = math.inf

    def look(self, flat: np.ndarray, right: float, loss: float) -> None:
        if (right, -loss) > (self.right, -self.loss):
            self.flat, self.right, self.loss = flat, right, loss


def run_on_grid(
    reweighted: Reweighted,
    problem: TrainingProblem,
    protocol: Protocol,
    dtype: GridName,
    seed: int,
    vocabulary: Vocabulary | None,
    report: Report = lambda steps: None,
) -> Trained:
    """Train one model on its grid from random latent weights, finish it, and measure it."""
    started = time.thread_time()
    objective = reweighted(problem.prior)
    spec = objective.spec
    precision = precision_for(spec, dtype)
    grid = FlatGrid.of(spec, precision)
    best, losses = _descended(objective, grid, initial_latent(spec, seed), protocol, report)
    flat = _finished(objective, reweighted, problem, grid, best.flat)
    scores = problem.scores(objective.predictions(flat[None])[0])
    weights = unflattened(spec, flat)
    return Trained(
        model=Model(spec, weights, vocabulary, precision=precision),
        seed=seed,
        protocol=protocol,
        engine=objective.engine,
        accuracy=float(scores @ problem.uniform),
        sampled_accuracy=float(scores @ problem.prior),
        batch_accuracy=None,
        loss=float(objective.gradient(flat[None]).loss[0]),
        diverged_at=None,
        seconds=time.thread_time() - started,
        curve=thinned(np.array(losses)),
    )


def _descended(
    objective: Objective, grid: FlatGrid, latent: np.ndarray, protocol: Protocol, report: Report
) -> tuple[Best, list[float]]:
    """The protocol's steps of Adam on latent weights, ended when every fact is recalled."""
    first, second = np.zeros_like(latent), np.zeros_like(latent)
    rates = learning_rates("cubic", protocol.steps, protocol.peak, 0.0, protocol.warmup, 1)
    best, losses, missed = Best(grid.rounded(latent)), [], 1.0
    for step in range(protocol.steps):
        rounded = grid.rounded(latent)
        focus = np.array([min(protocol.focus * step / protocol.steps, FOCUS_PER_MISS * missed)])
        seen = objective.gradient(rounded[None], None, focus if protocol.focus else None)
        loss, right = float(seen.loss[0]), float(seen.right[0])
        losses.append(loss)
        missed += 0.1 * (1 - right - missed)
        best.look(rounded, right, loss)
        if step % CHUNK == CHUNK - 1:
            report(CHUNK)
        if right >= 1 - 1e-6 and not (objective.predictions(rounded[None])[0] != objective.problem.answers).any():
            report(protocol.steps - step - step % CHUNK)
            break
        rate = rates[step]
        gradient = seen.gradient[0].astype(np.float64)
        first += (1 - protocol.beta1) * (gradient - first)
        second += (1 - protocol.beta2) * (gradient * gradient - second)
        unbiased = first / (1 - protocol.beta1 ** (step + 1))
        size = np.sqrt(second / (1 - protocol.beta2 ** (step + 1))) + protocol.epsilon
        latent = grid.clipped((latent - rate * unbiased / size) * (1 - protocol.decay * rate))
    return best, losses


def _finished(
    objective: Objective, reweighted: Reweighted, problem: TrainingProblem, grid: FlatGrid, flat: np.ndarray
) -> np.ndarray:
    """Rounds at a low rate with the weights of missed facts raised, until nothing is missed."""
    weights, best, fewest = problem.prior.copy(), flat, len(problem) + 1
    for _ in range(ROUNDS):
        wrong = objective.predictions(flat[None])[0] != problem.answers
        if wrong.sum() < fewest:
            best, fewest = flat, int(wrong.sum())
        if not wrong.any() or wrong.mean() > NEARLY:
            break
        weights = np.where(wrong, weights * RAISED, weights)
        weights /= weights.sum()
        settings = _FINISH
        flat = _descended(reweighted(weights), grid, flat.astype(np.float64), settings, lambda steps: None)[0].flat
    return best


_FINISH = Protocol(name="finish", steps=ROUND_STEPS, peak=ROUND_RATE, beta1=ROUND_BETA, beta2=ROUND_BETA, warmup=0.05)
