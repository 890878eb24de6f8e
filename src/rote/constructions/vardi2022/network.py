"""Sparse integer ReLU networks, and a builder that emits them layer by layer.

A layer is a list of neurons relu(sum_i c_i h_i + bias) over the neurons of the layer before; coefficients and biases
are whole numbers of any length. Networks are evaluated as networks: `exact` in long integers, `floating` in torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from rote.constructions.vardi2022.affine import Affine


class Neuron(NamedTuple):
    """relu(sum of factor x source + bias); sources are places in the layer before."""

    name: str
    terms: tuple[tuple[int, int], ...]
    """(source, factor), factors not zero."""
    bias: int

    @property
    def carries(self) -> bool:
        """Whether it only passes a value on."""
        return self.bias == 0 and len(self.terms) == 1 and self.terms[0][1] == 1


Layer = tuple[Neuron, ...]


@dataclass(frozen=True)
class Network:
    """Named inputs and layers of neurons; its outputs are the neurons of its last layer."""

    inputs: tuple[str, ...]
    layers: tuple[Layer, ...]

    @property
    def outputs(self) -> tuple[str, ...]:
        return tuple(neuron.name for neuron in self.layers[-1])

    @property
    def depth(self) -> int:
        return len(self.layers)

    @property
    def width(self) -> int:
        """Neurons in the widest layer."""
        return max(len(layer) for layer in self.layers)

    @property
    def nonzeros(self) -> int:
        """Weights and biases that are not zero."""
        return sum(len(neuron.terms) + (neuron.bias != 0) for layer in self.layers for neuron in layer)

    @property
    def dense_parameters(self) -> int:
        """Weights and biases of full matrices between layers of these sizes."""
        sizes = [len(self.inputs), *(len(layer) for layer in self.layers)]
        return sum(after * (before + 1) for before, after in pairwise(sizes))

    def constants(self) -> list[int]:
        """Every weight and bias that is not zero."""
        factors = [factor for layer in self.layers for neuron in layer for _, factor in neuron.terms]
        return factors + [neuron.bias for layer in self.layers for neuron in layer if neuron.bias != 0]

    @property
    def largest_bits(self) -> int:
        """Length of the longest weight or bias."""
        return max(abs(constant).bit_length() for constant in self.constants())

    @property
    def total_bits(self) -> int:
        """Length of all weights and biases that are not zero, with a sign each."""
        return sum(abs(constant).bit_length() + 1 for constant in self.constants())


class Builder:
    """Emits a network by naming what its neurons hold.

    *Registers* hold values that are never negative and live until deleted: every layer carries them on. Assigning a
    register an affine expression costs nothing by itself: the next layer's carrying neuron computes it (and, being a
    ReLU, clamps it at zero). A register that is a constant needs no neuron at all.
    *Temporaries* are the further neurons of one layer, and can be read by the layer after it only.
    """

    def __init__(self, inputs: tuple[str, ...] = ("x",)) -> None:
        self._inputs = inputs
        self._before = inputs
        self._registers = {name: Affine({name: 1}) for name in inputs}
        self._layers: list[Layer] = []

    @property
    def depth(self) -> int:
        return len(self._layers)

    def __getitem__(self, name: str) -> Affine:
        """A register, or a temporary of the last layer, as an expression in the last layer's neurons."""
        if name in self._registers:
            return self._registers[name]
        if name not in self._before:
            raise KeyError(name)
        return Affine({name: 1})

    def __setitem__(self, name: str, value: Affine | int) -> None:
        self._registers[name] = value if isinstance(value, Affine) else Affine(constant=value)

    def __delitem__(self, name: str) -> None:
        del self._registers[name]

    def layer(self, **temporaries: Affine) -> None:
        """Emit a layer: all registers, then these temporaries."""
        carried = {name: value for name, value in self._registers.items() if value.terms}
        self._emit({**carried, **temporaries})
        for name in carried:
            self._registers[name] = Affine({name: 1})

    def finish(self, *outputs: str) -> Network:
        """Emit a last layer of these registers alone."""
        self._emit({name: self._registers[name] for name in outputs})
        return Network(self._inputs, tuple(self._layers))

    def _emit(self, neurons: dict[str, Affine]) -> None:
        index_of = {name: index for index, name in enumerate(self._before)}
        layer = []
        for name, value in neurons.items():
            terms = sorted((index_of[source], factor) for source, factor in value.terms.items())
            layer.append(Neuron(name, tuple(terms), value.constant))
        self._layers.append(tuple(layer))
        self._before = tuple(neurons)
