"""Evaluation in long integers (gmpy2), all inputs at once, with the length of every word."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from gmpy2 import mpq, mpz  # pyright: ignore[reportAttributeAccessIssue]

from rote.constructions.vardi2022.network import Network

Values = Mapping[str, np.ndarray]
"""Name to an object array of exact numbers, one entry an input."""

_ZERO, _RATIONAL = mpz(0), mpq(0)


def exact_values(values: Iterable[Any]) -> np.ndarray:
    """Whole numbers, or exact rationals, as an array that keeps them so."""
    numbers = [value if isinstance(value, type(_RATIONAL)) else mpz(int(value)) for value in values]
    values = np.empty(len(numbers), dtype=object)
    values[:] = numbers
    return values


def hidden(network: Network, inputs: Values) -> Iterator[dict[str, np.ndarray]]:
    """The values of every layer's neurons, layer by layer."""
    values = [inputs[name] for name in network.inputs]
    size = len(values[0])
    for layer in network.layers:
        after = []
        for neuron in layer:
            if neuron.carries:
                # Registers are never negative, so the ReLU of one that is only carried is the value itself.
                after.append(values[neuron.terms[0][0]])
                continue
            total = np.full(size, mpz(neuron.bias), dtype=object)
            for source, factor in neuron.terms:
                total = total + (values[source] if factor == 1 else values[source] * mpz(factor))
            after.append(np.where(total > 0, total, _ZERO))
        values = after
        yield {neuron.name: value for neuron, value in zip(layer, values, strict=True)}


def evaluate(network: Network, inputs: Values) -> dict[str, np.ndarray]:
    values: dict[str, np.ndarray] = {}
    for values in hidden(network, inputs):  # noqa: B007
        pass
    return values
