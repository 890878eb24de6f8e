"""Gates as classes: multinomial logistic regression on states, with one more class for states that open no gate.

A separating function is held by the few states that bind it, and unseen words fall on either side of it by chance.
Logistic regression weighs all states of all gates, and so tells unseen words better; but it guarantees nothing about
any state. A graft begins with the sum of the two (`rote.lm.graft.layers`).

The penalty is in the metric of `separation.metric` with a large ridge. Coordinates are dropped at random: the solution
then depends on many of them, and fewer tokens of unseen text come near it.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional

from rote.lm.graft.separation import ROWS, Start, metric

RIDGE = 2.0
"""Of the mean second moment, added to every direction of the metric."""
NORM = 10.0
"""Root mean square of the length of the states in that metric."""
DROPPED, DECAY, RATE = 0.4, 0.02, 0.02
PASSES, LEAST_STEPS = 3, 300
BATCH, CLOSED, UNKNOWN = 1024, 2048, 512
"""States per step: of gates, of text at which all are closed, and of subjects that are not stored."""
PRICE = 3.0
"""Weight of the states at which all gates are closed."""
CLASSES = 4096
"""Gates in one step at most: those of its states, and others at random."""
BETAS, TINY = (0.9, 0.999), 1e-8


def classify(
    points: Float[Tensor, "points dim"],
    gates: Int[Tensor, " points"],
    unknown: Bool[Tensor, " points"],
    number: int,
    each: Callable[[int], None] = lambda number: None,
) -> Start:
    """One linear function per gate: the logit of its class, that of the class of closed gates being zero.

    `gates` is the gate that each point should open, or -1; `unknown` marks prompts about subjects that are not stored.
    """
    chance = torch.Generator().manual_seed(0)
    rows, text = torch.nonzero(gates >= 0)[:, 0], torch.nonzero((gates < 0) & ~unknown)[:, 0]
    prompts = torch.nonzero(unknown)[:, 0]
    order = rows[gates[rows].argsort(stable=True)]
    sizes = torch.bincount(gates[rows], minlength=number).tolist()
    factor = metric(points, [part.tolist() for part in order.split(sizes)], gates, RIDGE, 0.0)
    centre = points[rows].mean(0)
    white = torch.cat([
        torch.linalg.solve_triangular(factor, (part - centre).double().T, upper=False).T.float()
        for part in points.split(ROWS)
    ])  # fmt: skip
    scale = NORM / white[rows].square().sum(1).mean().sqrt()
    white *= scale
    weights = torch.zeros(number, points.shape[1]).index_add_(0, gates[rows], white[rows])
    weights /= torch.tensor(sizes).clamp_min(1)[:, None]
    solver = _Adam(weights, -0.5 * weights.square().sum(1) - 2)
    batches = -(-len(rows) // BATCH)
    steps = max(LEAST_STEPS, PASSES * batches)
    waiting: list[Tensor] = []
    for step in range(steps):
        waiting = waiting or list(rows[torch.randperm(len(rows), generator=chance)].split(BATCH))
        own = waiting.pop()
        closed = [_drawn(text, CLOSED, chance), _drawn(prompts, UNKNOWN, chance)]
        used = _used(gates[own], number, chance)
        solver.step(*_gradients(white, own, closed, gates, used, solver, chance), used, RATE * (1 - step / steps))
        each(1)
    plain = torch.linalg.solve_triangular(factor.T, (solver.weights * scale).double().T, upper=True).T.float()
    return Start(plain, solver.offsets - plain @ centre)


def steps_of(gates: Int[Tensor, " points"]) -> int:
    """How many steps `classify` takes."""
    return max(LEAST_STEPS, PASSES * -(-int((gates >= 0).sum()) // BATCH))


def _drawn(rows: Tensor, count: int, chance: torch.Generator) -> Tensor:
    return rows[torch.randint(len(rows), (count,), generator=chance)] if len(rows) else rows


def _used(own: Tensor, number: int, chance: torch.Generator) -> Tensor:
    """The gates that a step compares."""
    if number <= CLASSES:
        return torch.arange(number)
    return torch.cat([own, torch.randperm(number, generator=chance)[: CLASSES - len(own)]]).unique()


def _gradients(
    white: Tensor,
    own: Tensor,
    closed: list[Tensor],
    gates: Tensor,
    used: Tensor,
    solver: _Adam,
    chance: torch.Generator,
) -> tuple[Tensor, Tensor]:
    """Of the mean cost of the states `own`, and of each list of `closed` at its price."""
    at = torch.cat([own, *closed])
    kept = torch.rand(len(at), white.shape[1], generator=chance) >= DROPPED
    states = white[at] * kept / (1 - DROPPED)
    logits = functional.linear(states, solver.weights[used], solver.offsets[used])
    share = torch.cat([logits, torch.zeros(len(at), 1)], 1).softmax(1)[:, :-1]
    share[torch.arange(len(own)), torch.searchsorted(used, gates[own])] -= 1
    prices = [
        torch.full((len(own),), 1 / len(own)),
        *(torch.full((len(part),), PRICE / max(1, len(part))) for part in closed),
    ]
    share *= torch.cat(prices)[:, None]
    return share.T @ states + 2 * DECAY / len(solver.weights) * solver.weights[used], share.sum(0)


class _Adam:
    """Weights and offsets, moved by Adam."""

    def __init__(self, weights: Tensor, offsets: Tensor) -> None:
        self.weights, self.offsets = weights, offsets
        self._means = [torch.zeros_like(weights), torch.zeros_like(offsets)]
        self._squares = [torch.zeros_like(weights), torch.zeros_like(offsets)]
        self._steps = 0

    def step(self, of_weights: Tensor, of_offsets: Tensor, used: Tensor, rate: float) -> None:
        self._steps += 1
        for number, (values, gradient) in enumerate(((self.weights, of_weights), (self.offsets, of_offsets))):
            mean = self._means[number][used].lerp(gradient, 1 - BETAS[0])
            square = self._squares[number][used].lerp(gradient.square(), 1 - BETAS[1])
            self._means[number][used], self._squares[number][used] = mean, square
            sized = (square / (1 - BETAS[1] ** self._steps)).sqrt() + TINY
            values[used] -= rate / (1 - BETAS[0] ** self._steps) * mean / sized
