"""Lower bounds looked for from below: how many labelings of N inputs networks with few parameters give.

A network that memorizes whatever the labels gives all 2^N labelings as its weights vary. Random weights find some of
the labelings that p parameters can give; if they found all with p < sqrt(N), the bound would fail at constant one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rote.experiments.statements.encoders import Numbers
from rote.papers.kinds.statement_settings import SmallNetworks

WIDTH = 2
DRAWS = 200_000
BATCH = 10_000

Networks = Callable[[np.random.Generator, int, np.ndarray], np.ndarray]
"""From draws and inputs to outputs (draws x inputs): a random network each."""


def small_network_numbers(cell: SmallNetworks, seed: int) -> Numbers:
    """Labelings that ReLU networks with so many non-zero weights and biases gave, of all there are."""
    rng = np.random.default_rng(seed)
    inputs = np.sort(rng.standard_normal(cell.sequences))

    def relu(rng: np.random.Generator, draws: int, inputs: np.ndarray) -> np.ndarray:
        return relu_networks(rng, draws, inputs, cell.parameters, cell.layers)

    found, root = labelings(relu, inputs, rng), float(np.sqrt(cell.sequences))
    return {
        "labelings": found,
        "labelings_below_root": found if cell.parameters < root else None,
        "all_but_one": 2**cell.sequences - 1,
        "parameters": cell.parameters,
        "parameters_by_counting": root,
    }


def labelings(networks: Networks, inputs: np.ndarray, rng: np.random.Generator, draws: int = DRAWS) -> int:
    """Different sign patterns over the inputs; an output of zero counts as negative."""
    found: set[int] = set()
    places = 1 << np.arange(len(inputs), dtype=np.int64)
    for _ in range(max(1, draws // BATCH)):
        found |= set(np.unique((networks(rng, BATCH, inputs) > 0) @ places).tolist())
    return len(found)


def _parameters(layers: int) -> int:
    """Weights and biases of a network with so many hidden layers."""
    return 2 if layers == 0 else 2 * WIDTH + (layers - 1) * (WIDTH**2 + WIDTH) + WIDTH + 1


def relu_networks(rng: np.random.Generator, draws: int, inputs: np.ndarray, parameters: int, layers: int) -> np.ndarray:
    """Random networks of one input, up to so many hidden layers of two neurons, and so many parameters not zero.

    The depth, and which parameters are not zero, are random too, among depths that have so many parameters. Sizes are
    log-normal, so that few thresholds lie beyond all inputs.
    """
    enough = [depth for depth in range(layers + 1) if _parameters(depth) >= parameters]
    layers = int(rng.choice(enough))
    shapes = [(WIDTH, 1 if layer == 0 else WIDTH) for layer in range(layers)] + [(1, WIDTH if layers else 1)]
    sizes = [rows * columns + rows for rows, columns in shapes]
    total = sum(sizes)
    kept = np.argsort(rng.random((draws, total)), axis=1) < parameters
    values = kept * rng.choice([-1.0, 1.0], (draws, total)) * np.exp(rng.standard_normal((draws, total)))
    hidden = np.broadcast_to(inputs, (draws, 1, len(inputs)))
    start = 0
    for (rows, columns), size in zip(shapes, sizes, strict=True):
        part = values[:, start : start + size]
        weight, bias = part[:, : rows * columns].reshape(draws, rows, columns), part[:, rows * columns :]
        hidden = weight @ hidden + bias[:, :, None]
        start += size
        if start < total:
            hidden = np.maximum(hidden, 0)
    return hidden[:, 0]
