"""Linear functions that separate a few points from many others, by the widest margin in the others' own metric.

For each gate: the w of least w' C w with w x >= 1 at its own points and w x <= `ceiling` at every other. C is the
covariance of the background (points that are nobody's own), plus the scatter within each gate's own points (they are
the same thing in other words), plus shares of the background's mean and of a ridge. Least w' C w
means that the fewest other points come near 1. A higher ceiling gives a shorter w, which unseen text passes less often.

Each problem is a least-distance program, solved exactly by non-negative least squares (Lawson and Hanson 1974, chapter
23) over the points that bind, which are found by rounds: solve, score all points, add the worst, solve again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.optimize import nnls
from torch import Tensor

RIDGE = 5e-2
"""Of the mean second moment, added to every direction."""
WITHIN, MEAN = 10.0, 100.0
"""Shares of the scatter within own points and of the background's mean."""
ROUNDS, ADDED = 10, 6
"""Rounds at most, and points added per gate and round."""
LACKING = 0.3
"""Price of what a soft point lacks, as a share of the length of own points: low prices leave little slack."""
ENOUGH = 0.5
"""Share of the room between ceiling and own points that a gate must keep if it is to press some points further."""
SLACK = 0.02
"""A point may pass the ceiling by so much."""
ROWS = 2**14
"""Points in float64 at once."""
AT_ONCE = 2**25
"""Scores held in memory at once."""


@dataclass(frozen=True)
class Start:
    """Functions `weights . x + offset` to begin with, one per gate."""

    weights: Float[Tensor, "gates dim"]
    offsets: Float[Tensor, " gates"]


@dataclass(frozen=True)
class Separated:
    """One function `weights . x + offset` per gate."""

    weights: Float[Tensor, "gates dim"]
    offsets: Float[Tensor, " gates"]
    own: Float[Tensor, " gates"]
    """The least score of a gate's own points."""
    other: Float[Tensor, " gates"]
    """The largest score of a point that is not its own and not excused."""
    nearest: Int[Tensor, " gates"]
    """That point."""


def separate(
    points: Float[Tensor, "points dim"],
    own: Sequence[Sequence[int]],
    labels: Int[Tensor, " points"],
    ceiling: float,
    each: Callable[[int], None] = lambda number: None,
    soft: Sequence[Sequence[int]] | None = None,
    pressed: Float[Tensor, " points"] | None = None,
    start: Start | None = None,
) -> Separated:
    """Separate the points `own[i]` of each gate from all points whose label differs from theirs.

    `soft[i]` are further points of gate i that should score as much as its own, but may fall short at a price. A point
    whose factor in `pressed` is above 1 should stay below the ceiling by that factor; gates that fail so are solved
    again without. The functions are the nearest to `start` that do so, by default the shortest.
    """
    soft = soft or [()] * len(own)
    groups = [[*rows, *more] for rows, more in zip(own, soft, strict=True)]
    factor = metric(points, groups, labels, RIDGE, MEAN)
    white = torch.cat(
        [torch.linalg.solve_triangular(factor, part.double().T, upper=False).T.float() for part in points.split(ROWS)]
    )
    start = start or Start(torch.zeros(len(own), points.shape[1]), torch.zeros(len(own)))
    begun = Start((start.weights.double() @ factor).float(), start.offsets)
    weights = begun.weights.clone()

    def solve(gates: list[int], against: Tensor, each: Callable[[int], None]) -> Separated:
        _solve(weights, begun, gates, own, soft, white, against, labels, ceiling, each)
        plain = torch.linalg.solve_triangular(factor.T, weights.double().T, upper=True).T
        return scored(points, plain.float(), own, labels, start.offsets)

    found = solve(list(range(len(own))), white if pressed is None else white * pressed[:, None], each)
    failed = torch.nonzero(~(found.own - found.other > ENOUGH * (1 - ceiling)))[:, 0].tolist()
    if pressed is not None and failed:
        found = solve(failed, white, lambda number: None)
    return found


def _solve(
    weights: Tensor,
    begun: Start,
    gates: list[int],
    own: Sequence[Sequence[int]],
    soft: Sequence[Sequence[int]],
    white: Tensor,
    against: Tensor,
    labels: Tensor,
    ceiling: float,
    each: Callable[[int], None],
) -> None:
    """Write the weights of these gates, closed at the points `against`, which are those of `white` or longer."""
    gate_labels = labels[torch.tensor([rows[0] for rows in own])]
    binding: list[list[int]] = [[] for _ in own]
    for round_number in range(ROUNDS):
        for gate in gates:
            weights[gate] = _nearest(
                begun.weights[gate], float(begun.offsets[gate]), white[list(own[gate])], white[list(soft[gate])],
                against[binding[gate]], ceiling,
            )  # fmt: skip
            if round_number == 0:
                each(1)
        gates = _bind_worst(against, weights, begun.offsets, labels, gate_labels, gates, binding, ceiling)
        if not gates:
            break


def scored(
    points: Float[Tensor, "points dim"],
    weights: Float[Tensor, "gates dim"],
    own: Sequence[Sequence[int]],
    labels: Int[Tensor, " points"],
    offsets: Float[Tensor, " gates"] | None = None,
) -> Separated:
    """What given weights reach: their least own and their largest other score."""
    offsets = torch.zeros(len(own)) if offsets is None else offsets
    gate_labels = labels[torch.tensor([rows[0] for rows in own])]
    least, largest, nearest = [], [], []
    step = max(1, AT_ONCE // len(points))
    for start in range(0, len(own), step):
        scores = weights[start : start + step] @ points.T + offsets[start : start + step, None]
        least += [float(row[list(own[start + at])].min()) for at, row in enumerate(scores)]
        scores.masked_fill_(gate_labels[start : start + step, None] == labels[None], -torch.inf)
        best = scores.max(1)
        largest.append(best.values)
        nearest.append(best.indices)
    return Separated(weights, offsets, torch.tensor(least), torch.cat(largest), torch.cat(nearest))


def metric(points: Tensor, own: Sequence[Sequence[int]], labels: Tensor, ridge: float, share: float) -> Tensor:
    """The Cholesky factor of C, with shares of a ridge and of the mean of the background: points of negative label."""
    background = points[labels < 0]
    if not len(background):
        background = points
    mean = background.mean(0).double()
    moment = _second_moment(background, mean) / len(background) + share * torch.outer(mean, mean)
    groups = [points[list(rows)] for rows in own if len(rows) > 1]
    if groups:
        apart = torch.cat([group - group.mean(0) for group in groups])
        moment += WITHIN * _second_moment(apart, torch.zeros_like(mean)) / (len(apart) - len(groups))
    moment += ridge * moment.diag().mean() * torch.eye(len(moment), dtype=torch.double)
    return torch.linalg.cholesky(moment)


def _second_moment(points: Tensor, around: Tensor) -> Tensor:
    """Sum of the outer products of the points' differences from one, in float64 by parts."""
    total = torch.zeros(points.shape[1], points.shape[1], dtype=torch.double)
    for part in points.split(ROWS):
        apart = part.double() - around
        total += apart.T @ apart
    return total


def _nearest(begun: Tensor, offset: float, own: Tensor, soft: Tensor, other: Tensor, ceiling: float) -> Tensor:
    """The w nearest to `begun` with w own + offset >= 1 and w other + offset <= ceiling; the best effort if none is.

    Each soft point has a coordinate of its own in which w pays for what the point lacks.
    """
    points = torch.cat([own, soft, -other]).double()
    signs = torch.cat([torch.ones(len(own) + len(soft)), -torch.ones(len(other))]).double()
    wanted = torch.cat([torch.ones(len(own) + len(soft)), torch.full((len(other),), -ceiling)]).double()
    lacking = wanted - points @ begun.double() - signs * offset
    if bool((lacking <= 0).all()):
        return begun
    lacks = torch.zeros(len(points), len(soft), dtype=torch.double)
    lacks[len(own) : len(own) + len(soft)] = LACKING * float(own.norm(dim=1).mean()) * torch.eye(len(soft))
    basis, coordinates = torch.linalg.qr(torch.cat([points, lacks], 1).T)
    system = np.vstack([coordinates.numpy(), lacking.numpy()])
    last = np.zeros(len(system))
    last[-1] = 1.0
    multipliers, _ = nnls(system, last, maxiter=50 * len(points))
    rest = system @ multipliers - last
    if abs(rest[-1]) < 1e-9:
        return begun
    return begun + (basis @ torch.from_numpy(-rest[:-1] / rest[-1]))[: own.shape[1]].float()


def _bind_worst(
    white: Tensor,
    weights: Tensor,
    offsets: Tensor,
    labels: Tensor,
    gate_labels: Tensor,
    gates: list[int],
    binding: list[list[int]],
    ceiling: float,
) -> list[int]:
    """Add to each gate the points that pass its ceiling farthest; gates that got any."""
    changed = []
    step = max(1, AT_ONCE // len(white))
    for start in range(0, len(gates), step):
        part = gates[start : start + step]
        scores = weights[part] @ white.T + offsets[part, None]
        scores.masked_fill_(gate_labels[part][:, None] == labels[None], -torch.inf)
        values, places = scores.topk(min(ADDED, scores.shape[1]), 1)
        for gate, value, place in zip(part, values.tolist(), places.tolist(), strict=True):
            new = [at for score, at in zip(value, place, strict=True) if score > ceiling + SLACK]
            new = [at for at in new if at not in binding[gate]]
            if new and weights[gate].any():
                binding[gate] += new
                changed.append(gate)
    return changed
