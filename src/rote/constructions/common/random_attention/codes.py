"""Answer codes: one vector per answer, such that each is its own nearest by inner product.

A fact is memorized when the residual stream, up to a positive factor, is close to its answer's code.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float, Integer
from torch import Tensor

from rote.constructions.common.random_attention.draw import gaussian

SPREAD_ANSWERS = 2_000
"""Up to so many answers are spread in fewer dimensions than `PUSHED_DIM`; above, the pairs are too many."""
PUSHED_DIM = 8
"""From so many dimensions on, pushing nearest points apart does better than spreading all, in a thirtieth of the time
(2,000 answers in 12 dimensions: smallest 1 - cosine 0.27 instead of 0.13, random points 0.04)."""
PUSHED_ANSWERS = 50_000
"""Up to so many answers are pushed; a step compares all pairs, 14,000 answers in about a second."""


def answer_code(answers: int, dim: int, generator: torch.Generator) -> Float[Tensor, "answers dim"]:
    """Unit vectors: on a line for d = 1 (two answers at most), a shuffled circle for d = 2 (Proposition 3 of Dana et
    al. 2025), orthonormal when there are no more answers than dimensions, else on the sphere and pushed apart: margins
    grow with the smallest angle."""
    if dim == 1:
        return torch.tensor([[1.0], [-1.0]], dtype=torch.float64)[:answers]
    if dim == 2 and answers > 2:
        angles = torch.randperm(answers, generator=generator).double() * (2 * math.pi / answers)
        return torch.stack([angles.cos(), angles.sin()], 1)
    points = gaussian((answers, dim), generator)
    if answers <= dim:
        return torch.linalg.qr(points.T)[0].T.contiguous()
    points = points / points.norm(dim=1, keepdim=True)
    if dim < PUSHED_DIM:
        return _spread(points) if answers <= SPREAD_ANSWERS else points
    return _pushed(points, 10 if answers <= 5_000 else 5) if answers <= PUSHED_ANSWERS else points


def _spread(points: Float[Tensor, "answers dim"], steps: int = 60) -> Float[Tensor, "answers dim"]:
    """Repulsion by exp(sharpness * cosine), sharper as the points settle: raises the smallest angle severalfold."""
    answers, dim = points.shape
    # Spacing of well-spread points: each owns a 1/answers share of a (d-1)-dimensional sphere.
    spacing = 2 * answers ** (-1 / (dim - 1))
    for step in range(steps):
        cosines = points @ points.T
        cosines.fill_diagonal_(-1)
        sharpness = (1 + 9 * step / steps) / spacing**2
        push = torch.softmax(cosines * sharpness, 1) @ points
        push = push - (push * points).sum(1, keepdim=True) * points
        size = push.norm(dim=1, keepdim=True).clamp(min=1e-12)
        moved = points - push / size * torch.minimum(size, 0.3 * spacing * torch.ones_like(size)) * (1 - step / steps)
        points = moved / moved.norm(dim=1, keepdim=True)
    return points


def _pushed(points: Float[Tensor, "answers dim"], steps: int, rows: int = 512) -> Float[Tensor, "answers dim"]:
    """Each point moves away from its nearest, by ever shorter steps; compared in float32, a few rows at a time."""
    moved = points.float()
    for step in range(steps):
        cosines, nearest = [], []
        for start in range(0, len(moved), rows):
            among = moved[start : start + rows] @ moved.T
            own = torch.arange(len(among))
            among[own, own + start] = -1
            largest = among.max(1)
            cosines.append(largest.values)
            nearest.append(largest.indices)
        away = moved - moved[torch.cat(nearest)]
        away = away / away.norm(dim=1, keepdim=True).clamp(min=1e-12)
        length = 0.3 * (1 - step / steps) * torch.cat(cosines).clamp(min=0)
        moved = moved + length[:, None] * away
        moved = moved / moved.norm(dim=1, keepdim=True)
    return moved.double() / moved.double().norm(dim=1, keepdim=True)


def targets(
    code: Float[Tensor, "answers dim"], answers: Integer[Tensor, " facts"], generator: torch.Generator
) -> Float[Tensor, "facts dim"]:
    """E(t): each fact's code at a random length; the strict maximum ignores a positive factor.

    With fewer answers than dimensions the codes leave directions that no logit sees: random values there keep the
    solved skip map invertible.
    """
    lengths = torch.rand(len(answers), 1, generator=generator, dtype=torch.float64) * 0.6 + 0.7
    wanted = code[answers] * lengths
    count, dim = code.shape
    if count < dim:
        noise = gaussian((len(answers), dim), generator) / math.sqrt(dim)
        wanted = wanted + noise - noise @ code.T @ code
    return wanted
