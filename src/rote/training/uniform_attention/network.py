"""F2 . uniform attention . F1: residual feed-forward blocks on each token, an average, and blocks at the first token.

    block(x) = x + W_2 relu(W_1 x + b_1) + b_2            on every token, `blocks` times (F1) and again (F2)
    attention(x)_0 = x_0 + A (x_1 + ... + x_n) / n        queries and keys are zero, A is W_O W_V
    output = W_r F2(attention(F1(x)))_0 + b_r             a label or a number, read at the first token

Inside, every token carries a constant 1 and every block a unit that is always 1, so that biases are columns of the
matrices and a step is nothing but products; the rows and columns that keep the ones are never changed
(`NetworkStack.free`).

Notation: `width` is the dimension of a token inside the model (2 in the paper's experiments on text), `inner` that of
a block between its two matrices (8), `blocks` the paper's #blocks, of F1 and of F2 each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from rote.training.uniform_attention.problem import SequenceProblem


@dataclass(frozen=True)
class BlockShape:
    blocks: int
    width: int
    inner: int
    outputs: int
    tokens: int
    """Number of tokens with an embedding."""
    trained_embedding: bool = True
    """True if the embedding is trained; otherwise it is part of the data, not a parameter."""

    @property
    def block_parameters(self) -> int:
        """Parameters of F1 and F2: 84 per block pair at width 2 and inner width 8."""
        return 2 * self.blocks * (2 * self.width * self.inner + self.inner + self.width)

    @property
    def embedding_parameters(self) -> int:
        return self.width * self.tokens if self.trained_embedding else 0

    @property
    def parameters(self) -> int:
        readout = self.outputs * (self.width + 1)
        return self.block_parameters + self.embedding_parameters + self.width**2 + readout


class NetworkStack(NamedTuple):
    """The weights of several networks of one shape, their gradients, or a mask of the trainable ones.

    Blocks come first where there are several, networks next; `wide` is the width and the constant, `inside` the inner
    width and its constant.
    """

    embedding: Float[Tensor, "networks wide tokens"]
    inward: Float[Tensor, "depth networks inside wide"]
    outward: Float[Tensor, "depth networks wide inside"]
    attention: Float[Tensor, "networks wide wide"]
    readout: Float[Tensor, "networks outputs wide"]


def initial_stack(
    shape: BlockShape, problem: SequenceProblem, seeds: Sequence[int]
) -> tuple[NetworkStack, NetworkStack]:
    """One network per seed, and a mask: 1 for a trainable weight, 0 for one that keeps the constants.

    Matrices and biases start uniform in +-1/sqrt(inputs), as torch's linear layers do; the embedding is standard
    normal if it is trained.
    """
    drawn = [_drawn(shape, problem, torch.Generator().manual_seed(seed)) for seed in seeds]
    parts = [
        torch.stack(networks, dim) for networks, dim in zip(zip(*drawn, strict=True), (0, 1, 1, 0, 0), strict=True)
    ]
    free = _free(shape)
    return NetworkStack(*parts), free


def _drawn(shape: BlockShape, problem: SequenceProblem, generator: torch.Generator) -> NetworkStack:
    """One network, with its constants in place."""
    depth, width, inner = 2 * shape.blocks, shape.width, shape.inner

    def uniform(inputs: int, *sizes: int) -> Tensor:
        return (2 * torch.rand(*sizes, generator=generator) - 1) / inputs**0.5

    vectors = problem.table
    if vectors is None:
        vectors = torch.randn(width, shape.tokens, generator=generator)
    inward = torch.zeros(depth, inner + 1, width + 1)
    inward[:, :inner] = uniform(width, depth, inner, width + 1)
    inward[:, inner, width] = 1
    outward = torch.zeros(depth, width + 1, inner + 1)
    outward[:, :width] = uniform(inner, depth, width, inner + 1)
    attention = torch.zeros(width + 1, width + 1)
    attention[:width, :width] = uniform(width, width, width)
    readout = uniform(width, shape.outputs, width + 1)
    return NetworkStack(torch.cat([vectors, torch.ones(1, shape.tokens)]), inward, outward, attention, readout)


def _free(shape: BlockShape) -> NetworkStack:
    width, inner = shape.width, shape.inner
    embedding = torch.zeros(1, width + 1, 1)
    embedding[:, :width] = float(shape.trained_embedding)
    inward = torch.ones(1, 1, inner + 1, width + 1)
    inward[:, :, inner] = 0
    outward = torch.ones(1, 1, width + 1, inner + 1)
    outward[:, :, width] = 0
    attention = torch.zeros(1, width + 1, width + 1)
    attention[:, :width, :width] = 1
    return NetworkStack(embedding, inward, outward, attention, torch.ones(1, 1, width + 1))


class Pass(NamedTuple):
    """One forward pass, with the activations that the backward pass needs."""

    outputs: Float[Tensor, "networks outputs sequences"]
    entering: list[Tensor]
    """Inputs of each block, and last the input of the readout."""
    inside: list[Tensor]
    averages: Float[Tensor, "networks wide sequences"]


def forward(stack: NetworkStack, problem: SequenceProblem) -> Pass:
    """Every network's outputs for every sequence.

    F1 acts on each token alone, so it is applied to the table of tokens and not to every place where one occurs.
    """
    depth = len(stack.inward)
    hidden, entering, inside = stack.embedding, [], []
    averages = hidden
    for layer in range(depth):
        if layer == depth // 2:
            averages = problem.average(hidden)
            hidden = torch.baddbmm(hidden.index_select(2, problem.first), stack.attention, averages)
        entering.append(hidden)
        inside.append(torch.bmm(stack.inward[layer], hidden).relu_())
        hidden = torch.baddbmm(hidden, stack.outward[layer], inside[layer])
    return Pass(torch.bmm(stack.readout, hidden), [*entering, hidden], inside, averages)


def backward(
    stack: NetworkStack, problem: SequenceProblem, kept: Pass, slopes: Tensor, gradients: NetworkStack
) -> None:
    """Write the gradients of all weights, given those of the outputs."""
    depth = len(stack.inward)
    torch.bmm(slopes, kept.entering[-1].mT, out=gradients.readout)
    slope = torch.bmm(stack.readout.mT, slopes)
    for layer in reversed(range(depth)):
        inside = kept.inside[layer]
        torch.bmm(slope, inside.mT, out=gradients.outward[layer])
        before = torch.ops.aten.threshold_backward(torch.bmm(stack.outward[layer].mT, slope), inside, 0)
        torch.bmm(before, kept.entering[layer].mT, out=gradients.inward[layer])
        slope = torch.baddbmm(slope, stack.inward[layer].mT, before)
        if layer == depth // 2:
            torch.bmm(slope, kept.averages.mT, out=gradients.attention)
            spread = problem.spread(torch.bmm(stack.attention.mT, slope))
            slope = spread.index_add_(2, problem.first, slope)
    gradients.embedding.copy_(slope)
