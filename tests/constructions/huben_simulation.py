"""Huben and Morris 2023: one attention head is one MLP neuron.

A head that looks at two places only, its own position with score a and a resting position with score 0, attends to
itself with weight 1/(1 + e^-a). If its own position holds the value a too and the resting one 0, the head gives
a sigmoid(a) = SiLU(a). With a = w . x + b that is a neuron; its column of the MLP's output matrix is the head's W_O:

    MLP(x) = sum_i o_i SiLU(w_i . x + b_i) = sum_h W_O^h W_V^h A^h(x)      exactly.

Which two places a head sees would be a mask's business. Ordinary heads make the mask from scores: S coordinates of the
stream hold the position as a unit vector, and each position asks for all unit vectors but its own, which answer with a
large negative score. The resting position comes first, where a causal mask lets everyone see it, and is zero: score 0,
value 0. Hence head_dim S + 1 (S for the mask, one for a) and dim D + S for inputs of D >= 1 numbers; the theorem is
quoted with k >= S + 1, d >= S + 2, one dimension more than this arrangement takes.

ReLU is the limit SiLU(c a)/c, off by at most 0.279/c per neuron (the largest |a| sigmoid(-|a|) is 0.2785).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from rote.constructions.common.saturation import UNSEEN
from rote.errors import InputError, problems

RELU_DEFECT = 0.27846454276107374
"""Largest difference of ReLU and SiLU: max over a of a/(1 + e^a), where a - 1 = e^-a."""


@dataclass(frozen=True, eq=False)
class SimulatedMlp:
    """A one-hidden-layer MLP: x -> W_2 sigma(W_1 x + b), with W_1 width x dim and W_2 dim x width."""

    inner: Tensor
    bias: Tensor
    outer: Tensor
    activation: str = "silu"
    """`silu` or `relu`."""

    def __post_init__(self) -> None:
        refused = []
        if self.inner.shape != self.outer.T.shape or self.bias.shape != self.inner.shape[:1]:
            refused.append(
                f"W_1 {tuple(self.inner.shape)}, b {tuple(self.bias.shape)} and W_2 {tuple(self.outer.shape)} do not "
                "belong to one hidden layer that maps a space to itself"
            )
        if self.activation not in ("silu", "relu"):
            refused.append(f"activation {self.activation!r}: a head simulates silu exactly and relu closely, no others")
        if refused:
            raise problems("MLP", refused)

    def __call__(self, x: Float[Tensor, "*rows dim"]) -> Float[Tensor, "*rows dim"]:
        before = x @ self.inner.T + self.bias
        after = torch.nn.functional.silu(before) if self.activation == "silu" else before.relu()
        return after @ self.outer.T


@dataclass(frozen=True, eq=False)
class AttentionMlp:
    """An MLP as the heads of one attention layer, and the stream those heads read.

    `heads` are a layer's query, key, value and output tensors as `rote.models.forward.attention_only` takes them; the
    layer needs a causal mask (or none) and no scaling of scores.
    """

    heads: dict[str, Tensor]
    context: int
    """S: positions of the input; the stream has one more, the resting position, in front."""
    inputs: int
    """D: numbers per position."""
    defect: float
    """Largest difference from the MLP in any one output, in exact arithmetic; zero for SiLU."""

    def stream(self, x: Float[Tensor, "batch context inputs"]) -> Float[Tensor, "batch positions dim"]:
        """Inputs followed by their position's unit vector, with a position of zeros in front."""
        batch, context, inputs = x.shape
        if (context, inputs) != (self.context, self.inputs):
            made = f"{self.context} positions of {self.inputs} numbers"
            raise InputError(f"input: {context} positions of {inputs} numbers, but this was made for {made}")
        stream = x.new_zeros(batch, context + 1, inputs + context)
        stream[:, 1:, :inputs] = x
        stream[:, 1:, inputs:] = torch.eye(context, dtype=x.dtype)
        return stream

    def outputs(self, mixed: Float[Tensor, "batch positions dim"]) -> Float[Tensor, "batch context inputs"]:
        """The MLP's outputs, out of what the layer adds to the stream."""
        return mixed[:, 1:, : self.inputs]


def attention_from_mlp(mlp: SimulatedMlp, context: int, largest: float, sharpness: float = 2.0**10) -> AttentionMlp:
    """Heads that give an MLP's outputs at every one of `context` positions.

    `largest` bounds the norm of an input, from which follows how far the mask must push scores down. `sharpness` is c
    of SiLU(c a)/c for ReLU: larger is closer, until c times the rounding of a matters; SiLU is exact and takes none.
    """
    if context < 1 or not sharpness > 0 or not largest >= 0:
        raise InputError(f"context {context}, sharpness {sharpness} and largest {largest} must be positive")
    width, inputs = mlp.inner.shape
    scale = sharpness if mlp.activation == "relu" else 1.0
    highest = float((mlp.inner.norm(dim=1) * largest + mlp.bias.abs()).max())
    mask = 2 * scale * highest + UNSEEN
    new, places = mlp.inner.new_zeros, slice(inputs, inputs + context)
    shape = (width, context + 1, inputs + context)
    query, key, value, output = new(shape), new(shape), new(shape), new(width, shape[2], shape[1])
    one_each = torch.eye(context, dtype=mlp.inner.dtype)
    query[:, :context, places] = 1 - one_each
    key[:, :context, places] = -mask * one_each
    # The last coordinate carries a: asked for by every position but the resting one.
    query[:, context, places] = 1.0
    key[:, context, :inputs] = scale * mlp.inner
    key[:, context, places] = scale * mlp.bias[:, None]
    value[:, 0, :inputs] = mlp.inner
    value[:, 0, places] = mlp.bias[:, None]
    output[:, :inputs, 0] = mlp.outer.T
    defect = 0.0
    if mlp.activation == "relu":
        defect = RELU_DEFECT / sharpness * float(mlp.outer.abs().sum(1).max())
    heads = {"query": query, "key": key, "value": value, "output": output}
    return AttentionMlp(heads, context, inputs, defect)
