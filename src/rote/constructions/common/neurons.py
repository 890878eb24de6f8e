"""Random neurons in general position on given inputs, and the solve for what they must write.

sigma(W_1 x + b) with a non-polynomial sigma has, on distinct inputs, as many independent columns as neurons for almost
every W_1 and b. How well conditioned they are depends on the draw: directions are drawn in the coordinates where the
inputs are white, and each threshold lies among the inputs, since a neuron that is on (or off) for all of them is only
linear.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from rote.constructions.common.random_attention.draw import gaussian
from rote.constructions.common.solvers.least_norm import Factored, factor
from rote.errors import CheckFailed

GAIN = 2.0
"""Standard deviation of what enters a neuron: large enough to bend GELU and SiLU, small enough to leave them smooth."""
MIDDLE = (0.3, 0.7)
"""Thresholds lie between these quantiles of a neuron's inputs."""
GOOD_CONDITION = 1e6
"""Below this condition number no further sample is drawn: float32 keeps one digit, which a code needs, float64 ten."""
RELATIVE_ZERO = 1e-10
"""Directions in which the inputs vary this much less than in their largest are left alone."""


@dataclass(frozen=True, eq=False)
class Neurons:
    """W_1 and b."""

    inner: Float[Tensor, "width dim"]
    bias: Float[Tensor, " width"]


def random_neurons(inputs: Float[Tensor, "rows dim"], width: int, generator: torch.Generator) -> Neurons:
    """Neurons whose inputs have standard deviation `GAIN` and thresholds in the middle of them."""
    centred = inputs - inputs.mean(0)
    sizes, basis = torch.linalg.eigh(centred.T @ centred / len(inputs))
    kept = sizes > sizes[-1] * RELATIVE_ZERO
    white = basis[:, kept] / sizes[kept].sqrt()
    directions = gaussian((width, white.shape[1]), generator)
    # One input alone varies in no direction: the norms are then zero, and its neurons constant.
    directions = directions / directions.norm(dim=1, keepdim=True).clamp(min=1e-300)
    inner = GAIN * directions @ white.T
    low, high = MIDDLE
    quantiles = low + (high - low) * torch.rand(width, generator=generator, dtype=torch.float64)
    order = (quantiles * (len(inputs) - 1)).round().long()
    thresholds = (inputs @ inner.T).sort(0).values.gather(0, order[None])[0]
    # A little below an input, so that it is seen by the neuron whose threshold it set.
    below = 0.1 * GAIN * torch.rand(width, generator=generator, dtype=torch.float64)
    return Neurons(inner, below - thresholds)


@dataclass(frozen=True, eq=False)
class Solvable:
    """The best of several draws, and how many were made."""

    neurons: Neurons
    factored: Factored
    draws: int


def well_conditioned(
    inputs: Float[Tensor, "rows dim"],
    width: int,
    features: Callable[[Neurons], Float[Tensor, "rows width"]],
    draws: int,
    generator: torch.Generator,
    method: str,
) -> Solvable:
    """Draw neurons until their outputs on these inputs, as `features` computes them, are well enough conditioned."""
    best: Solvable | None = None
    for draw in range(1, draws + 1):
        neurons = random_neurons(inputs, width, generator)
        factored = factor(features(neurons))
        if best is None or factored.condition < best.factored.condition:
            best = Solvable(neurons, factored, draw)
        if best.factored.condition < GOOD_CONDITION:
            break
    if best is None or best.factored.rank < len(inputs):
        rank = 0 if best is None else best.factored.rank
        raise CheckFailed(
            f"{method}: {width} neurons have rank {rank} on {len(inputs)} contexts in the best of {draws} draws, so "
            "their outputs cannot be anything at all; attention may not tell some contexts apart. Try another "
            "`seed`, more `heads`, a larger `dim`, or `score_std` nearer to 1"
        )
    return best
