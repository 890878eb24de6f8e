"""Evaluation in floating point, where every value is an integer that the dtype holds exactly.

A sum of whole numbers is exact in floating point, whatever the order of summation and with or without fused
multiply-add, when the sum of their magnitudes stays below 2^(mantissa bits). The checking mode measures exactly that:
the *peak*, the largest sum of |weight x value| + |bias| over all neurons and inputs, and that every value is whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from rote.constructions.vardi2022.network import Network
from rote.errors import CheckFailed, InputError
from rote.models.deep_relu import MANTISSA_BITS
from rote.models.forward.deep_relu import relu_layers, through


@dataclass(frozen=True)
class LayerStack:
    """A network's layers as full matrices of one width, and the columns that its inputs and outputs take."""

    weight: Float[Tensor, "depth width width"]
    bias: Float[Tensor, "depth width"]
    inputs: dict[str, int]
    outputs: dict[str, int]

    def placed(self, inputs: Mapping[str, Tensor]) -> Float[Tensor, "width batch"]:
        """Inputs in their columns, all else 0."""
        size = len(next(iter(inputs.values())))
        state = torch.zeros(self.weight.shape[1], size, dtype=self.weight.dtype)
        for name, column in self.inputs.items():
            state[column] = inputs[name].to(self.weight.dtype)
        return state

    def evaluate(self, inputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
        state = through(self.weight, self.bias, self.placed(inputs))
        return {name: state[column] for name, column in self.outputs.items()}


def stacked(network: Network, width: int, dtype: torch.dtype, inputs: Mapping[str, int] | None = None) -> LayerStack:
    """A network as full matrices, rejected if a weight or bias is not exact in the dtype.

    `inputs` says in which columns its inputs come; by default the first ones, in order.
    """
    columns = dict(inputs or {name: column for column, name in enumerate(network.inputs)})
    mantissa = MANTISSA_BITS[str(dtype).removeprefix("torch.")]
    if network.largest_bits > mantissa:
        raise InputError(
            f"dtype {str(dtype).removeprefix('torch.')} holds whole numbers of {mantissa} bits but the network has "
            f"weights of {network.largest_bits} bits; store with shorter words (word_bits), or evaluate exactly"
        )
    weight = torch.zeros(network.depth, width, width, dtype=torch.float64)
    bias = torch.zeros(network.depth, width, dtype=torch.float64)
    places: list[tuple[int, int, int]] = []
    factors: list[float] = []
    for depth, layer in enumerate(network.layers):
        for row, neuron in enumerate(layer):
            bias[depth, row] = float(neuron.bias)
            for source, factor in neuron.terms:
                places.append((depth, row, source if depth else columns[network.inputs[source]]))
                factors.append(float(factor))
    weight[tuple(torch.tensor(places).T)] = torch.tensor(factors, dtype=torch.float64)
    outputs = {name: column for column, name in enumerate(network.outputs)}
    return LayerStack(weight.to(dtype), bias.to(dtype), columns, outputs)


def peak(stack: LayerStack, inputs: Mapping[str, Tensor], whole_from: int = 0, batch: int = 8192) -> int:
    """Largest sum of magnitudes in any neuron over these inputs; a value that is not whole is an error.

    Layers before `whole_from` may hold values that are not whole (they make them so).
    """
    size = len(next(iter(inputs.values())))
    largest = 0.0
    for start in range(0, size, batch):
        state = stack.placed({name: values[start : start + batch] for name, values in inputs.items()})
        for depth, after in enumerate(relu_layers(stack.weight, stack.bias, state)):
            if depth >= whole_from:
                if not torch.equal(after, after.round()):
                    raise CheckFailed(f"layer {depth} of {len(stack.weight)} holds a value that is not whole")
                magnitude = (
                    stack.weight[depth].double().abs() @ state.double() + stack.bias[depth].double().abs()[:, None]
                )
                largest = max(largest, float(magnitude.max()))
            state = after
    return int(largest)
