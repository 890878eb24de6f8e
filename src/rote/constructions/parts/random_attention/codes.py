"""Answer codes: one vector per answer, such that each is its own nearest by inner product.

A fact is memorized when the residual stream, up to a positive factor, is close to its answer's code.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float, Integer
from torch import Tensor

from rote.constructions.parts.random_attention.draw import gaussian

SPREAD_ANSWERS = 2_000
"""Up to so many answers are pushed apart in few dimensions; above, the pairs are too many."""


def answer_code(answers: int, dim: int, generator: torch.Generator) -> Float[Tensor, "answers dim"]:
    """Unit vectors: on a line for d = 1 (two answers at most), a shuffled circle for d = 2 (Proposition 3 of Dana et
    al. 2025), orthonormal when there are no more answers than dimensions, else on the sphere, pushed apart where
    random points would nearly meet."""
    if dim == 1:
        return torch.tensor([[1.0], [-1.0]], dtype=torch.float64)[:answers]
    if dim == 2 and answers > 2:
        angles = torch.randperm(answers, generator=generator).double() * (2 * math.pi / answers)
        return torch.stack([angles.cos(), angles.sin()], 1)
    points = gaussian((answers, dim), generator)
    if answers <= dim:
        return torch.linalg.qr(points.T)[0].T.contiguous()
    points = points / points.norm(dim=1, keepdim=True)
    return _spread(points) if answers <= SPREAD_ANSWERS and dim < 16 else points


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
