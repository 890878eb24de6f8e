"""What each head, each MLP and the skip connection add to the residual stream at the last position.

The stream that is unembedded is a sum: the last token's embedding with its positions (the skip connection), one vector
per head and layer, and one per MLP. The unembedding is linear, so each logit is the sum of what its parts add to it,
in models of any depth. What a part adds through later layers is part of what those layers add.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Integer
from torch import Tensor

from rote.models.attention_only import Transformer
from rote.models.forward.attention_only import (
    attention_of,
    layer_heads,
    layer_input,
    layer_output,
    score_scale,
    stream_positions,
)
from rote.models.forward.mlp_transformer import neurons


@dataclass(frozen=True)
class LayerParts:
    """One layer at the last position."""

    attention: Float[Tensor, "batch heads context"]
    values: Float[Tensor, "batch heads head_dim"]
    """W_V^h A^h."""
    outward: Float[Tensor, "heads dim head_dim"]
    """From a head's values to the stream: W_O^h, behind the shared decompression where there is one."""
    mlp: Float[Tensor, "batch dim"] | None
    """What the layer's MLP adds; nothing where it has none."""

    def heads_along(self, direction: Float[Tensor, "batch dim"]) -> Float[Tensor, "batch heads"]:
        """What each head adds in a direction of the stream, one direction per input."""
        folded = torch.einsum("bd,hdk->bhk", direction, self.outward)
        return (folded * self.values).sum(2)


@dataclass(frozen=True)
class Decomposition:
    """The residual stream of some contexts at their last position, as the sum it is."""

    skip: Float[Tensor, "batch dim"]
    layers: tuple[LayerParts, ...]

    def stream(self) -> Float[Tensor, "batch dim"]:
        total = self.skip
        for layer in self.layers:
            total = total + torch.einsum("bhk,hdk->bd", layer.values, layer.outward)
            total = total if layer.mlp is None else total + layer.mlp
        return total


def decomposed(
    spec: Transformer, weights: dict[str, Tensor], contexts: Integer[Tensor, "batch context"]
) -> Decomposition:
    """Run the model once and keep its parts."""
    attention = spec.attention
    stream = weights["tokens"][contexts]
    skip, layers = stream[:, -1], []
    for layer in range(attention.layers):
        if (positions := stream_positions(attention, weights, layer)) is not None:
            stream, skip = stream + positions, skip + positions[-1]
        last = layer == attention.layers - 1
        part = layer_heads(weights, layer)
        x = layer_input(attention, weights, layer, stream)
        weighing = attention_of(part, x[:, -1:] if last else x, x, score_scale(attention))
        values = torch.einsum("bphs,bsd,hkd->bphk", weighing, x, part["value"])
        mixed = torch.einsum("bphk,hdk->bpd", values, part["output"])
        stream = (stream[:, -1:] if last else stream) + layer_output(attention, weights, layer, mixed)
        mlp = None
        if spec.width:
            added = neurons(spec, weights, layer, stream) @ weights[f"layers.{layer}.mlp_out"].T
            stream, mlp = stream + added, added[:, -1]
        outward = part["output"]
        if attention.compressed:
            outward = torch.einsum("dc,hck->hdk", weights["decompress"], outward)
        layers.append(LayerParts(weighing[:, -1], values[:, -1], outward, mlp))
    return Decomposition(skip, tuple(layers))
