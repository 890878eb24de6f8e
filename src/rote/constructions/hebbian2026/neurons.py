"""Bilinear neurons, random or fitted to the facts, and the ridge readout."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from rote.constructions.common.random_attention.draw import gaussian

MOST_STEPS, TOLERANCE = 1024, 1e-8
"""Conjugate-gradient steps of one fit, and the relative residual at which it ends."""


def features(left: Tensor, right: Tensor, keys: Float[Tensor, "facts dim"]) -> Float[Tensor, "facts width"]:
    return (keys @ left.T) * (keys @ right.T)


def random_neurons(dim: int, width: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """A and B, scaled so that neurons have variance 1 / width on a sphere of radius one."""
    scale = width**-0.25
    return scale * gaussian((width, dim), generator), scale * gaussian((width, dim), generator)


def fitted_neurons(
    keys: Float[Tensor, "facts dim"], values: Float[Tensor, "facts dim"], width: int, ridge: float,
    generator: torch.Generator,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """B fitted beside a random A, then A beside that B, for the Hebbian readout of the random neurons."""
    left, right = random_neurons(keys.shape[1], width, generator)
    hebbian = values.T @ features(left, right, keys) / len(keys)
    right = _fit(left, keys, values, hebbian, ridge)
    return _fit(right, keys, values, hebbian, ridge), right


def _fit(other: Tensor, keys: Tensor, values: Tensor, readout: Tensor, ridge: float) -> Tensor:
    """The X that minimises |V W ((other K) * (X K)) - I|^2 + ridge |X|^2, by conjugate gradients."""
    gates = other @ keys.T
    gram = values.T @ values

    def normal(candidate: Tensor) -> Tensor:
        written = readout @ (gates * (candidate @ keys.T))
        return (gates * (readout.T @ (gram @ written))) @ keys + ridge * candidate

    residual = (gates * (readout.T @ values.T)) @ keys
    solution, direction = torch.zeros_like(residual), residual.clone()
    size, wanted = float(residual.square().sum()), float(residual.square().sum()) * TOLERANCE**2
    for _ in range(min(max(2 * len(other), 128), MOST_STEPS)):
        if size <= wanted:
            break
        applied = normal(direction)
        step = size / float((direction * applied).sum())
        solution += step * direction
        residual -= step * applied
        size, before = float(residual.square().sum()), size
        direction = residual + (size / before) * direction
    return solution


def ridge_readout(written: Float[Tensor, "facts width"], values: Tensor, ridge: float) -> Float[Tensor, "dim width"]:
    """W with the least |neurons W^T - values|^2 / facts + ridge |W|^2; the smaller of two equal systems is solved."""
    facts, width = written.shape
    if width > facts:
        gram = written @ written.T + ridge * torch.eye(facts, dtype=written.dtype)
        return torch.linalg.solve(gram, values).T @ written
    covariance = written.T @ written / facts + ridge * torch.eye(width, dtype=written.dtype)
    return torch.linalg.solve(covariance, written.T @ values / facts).T
