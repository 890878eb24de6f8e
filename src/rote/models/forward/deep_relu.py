"""Forward pass of deep ReLU networks around one layer of attention."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from rote.models.deep_relu import DeepRelu


def logits(spec: DeepRelu, weights: dict[str, Tensor], inputs: Any) -> Float[Tensor, "batch *position vocab"]:
    """Logits at the last position, or at every position (`every_position`).

    `inputs` are token ids (batch x context), or vectors: contexts (batch x context x dim) and queries (batch x dim).
    """
    entered = tokens_in(spec, weights, inputs)
    batch, length = entered.shape
    state = entered.new_zeros(spec.width, batch * length)
    state[0] = entered.flatten()
    if spec.layers_before:
        state = through(weights["before.weight"], weights["before.bias"], state)
    mixed = attended(spec, weights, state.T.reshape(batch, length, spec.width))
    state = through(weights["after.weight"], weights["after.bias"], mixed.reshape(-1, spec.width).T)
    label = state[0].view(mixed.shape[:-1])
    logits = label[..., None] * weights["unembed.weight"] + weights["unembed.bias"]
    return logits if spec.every_position else logits[:, 0]


def tokens_in(spec: DeepRelu, weights: dict[str, Tensor], inputs: Any) -> Float[Tensor, "batch length"]:
    """The number that stands for each token."""
    if spec.input == "vectors":
        contexts, queries = inputs
        return torch.cat([contexts, queries[:, None]], 1) @ weights["project"] + weights["shift"]
    if spec.input == "table":
        places = torch.arange(spec.context, device=inputs.device)
        return weights["table"][places if spec.ordered else 0 * places, inputs]
    entered = weights["tokens"][inputs]
    return entered + weights["positions"] if spec.ordered else entered


def attended(
    spec: DeepRelu, weights: dict[str, Tensor], tokens: Float[Tensor, "batch length width"]
) -> Float[Tensor, "batch position width"]:
    """One head with a skip connection, for the last position or for all; every position sees every other."""
    asking = tokens if spec.every_position else tokens[:, -1:]
    values = tokens @ weights["attention.value"].T
    if spec.mixing == "sum":
        mixed = values.sum(1, keepdim=True)
    else:
        queries, keys = asking @ weights["attention.query"].T, tokens @ weights["attention.key"].T
        mixed = (queries @ keys.transpose(1, 2)).softmax(-1) @ values
    return asking + mixed @ weights["attention.output"].T


def through(
    weight: Float[Tensor, "depth width width"],
    bias: Float[Tensor, "depth width"],
    state: Float[Tensor, "width batch"],
) -> Float[Tensor, "width batch"]:
    """The state after all layers."""
    for matrix, offset in zip(weight, bias, strict=True):
        state = _relu_layer(matrix, offset, state)
    return state


def relu_layers(
    weight: Float[Tensor, "depth width width"],
    bias: Float[Tensor, "depth width"],
    state: Float[Tensor, "width batch"],
) -> Iterator[Float[Tensor, "width batch"]]:
    """The state after each layer, for inspection."""
    for matrix, offset in zip(weight, bias, strict=True):
        state = _relu_layer(matrix, offset, state)
        yield state


def _relu_layer(
    matrix: Float[Tensor, "width width"], offset: Float[Tensor, " width"], state: Float[Tensor, "width batch"]
) -> Float[Tensor, "width batch"]:
    return torch.addmm(offset[:, None], matrix, state).relu_()
