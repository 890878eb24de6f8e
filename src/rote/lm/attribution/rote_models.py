"""A model that rote built or trained, in the form in which language models are inspected.

Blocks of attention and MLP on a residual stream, with the output projection as a module of its own, so that the same
hooks read and replace heads and MLPs. There is no norm: the final one is the identity.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from rote.lm.language_model import LanguageModel
from rote.measure.inspection import transformer_of
from rote.models.attention_only import Transformer
from rote.models.forward.attention_only import (
    attention_of,
    layer_heads,
    layer_input,
    score_scale,
    stream_positions,
)
from rote.models.forward.mlp_transformer import neurons
from rote.models.model import Model


class _Attention(nn.Module):
    def __init__(self, spec: Transformer, weights: dict[str, Tensor], layer: int) -> None:
        super().__init__()
        self.spec, self.weights, self.layer = spec.attention, weights, layer
        output = weights[f"layers.{layer}.output"]
        if self.spec.compressed:
            output = torch.einsum("dc,hck->hdk", weights["decompress"], output)
        self.o_proj = nn.Linear(output.shape[0] * output.shape[2], spec.dim, bias=False)
        self.o_proj.weight = nn.Parameter(output.permute(1, 0, 2).flatten(1), requires_grad=False)

    @property
    def value_matrix(self) -> Float[Tensor, "heads head_dim dim"]:
        value = self.weights[f"layers.{self.layer}.value"]
        return value @ self.weights["compress"] if self.spec.compressed else value

    def forward(self, stream: Float[Tensor, "rows tokens dim"]) -> tuple[Tensor, Tensor]:
        part = layer_heads(self.weights, self.layer)
        x = layer_input(self.spec, self.weights, self.layer, stream)
        weighing = attention_of(part, x, x, score_scale(self.spec))
        values = torch.einsum("bphs,bsd,hkd->bphk", weighing, x, part["value"])
        return self.o_proj(values.flatten(2)), weighing.transpose(1, 2)


class _Mlp(nn.Module):
    def __init__(self, spec: Transformer, weights: dict[str, Tensor], layer: int) -> None:
        super().__init__()
        self.spec, self.weights, self.layer = spec, weights, layer

    def forward(self, stream: Float[Tensor, "rows tokens dim"]) -> Float[Tensor, "rows tokens dim"]:
        if not self.spec.width:
            return torch.zeros_like(stream)
        return neurons(self.spec, self.weights, self.layer, stream) @ self.weights[f"layers.{self.layer}.mlp_out"].T


class _Block(nn.Module):
    def __init__(self, spec: Transformer, weights: dict[str, Tensor], layer: int) -> None:
        super().__init__()
        self.positions = stream_positions(spec.attention, weights, layer) if layer else None
        self.self_attn = _Attention(spec, weights, layer)
        self.mlp = _Mlp(spec, weights, layer)

    def forward(self, stream: Float[Tensor, "rows tokens dim"]) -> Float[Tensor, "rows tokens dim"]:
        stream = stream if self.positions is None else stream + self.positions
        stream = stream + self.self_attn(stream)[0]
        return stream + self.mlp(stream)


class _Stack(nn.Module):
    def __init__(self, spec: Transformer, weights: dict[str, Tensor]) -> None:
        super().__init__()
        self.tokens, self.positions = weights["tokens"], stream_positions(spec.attention, weights, 0)
        self.layers = nn.ModuleList(_Block(spec, weights, layer) for layer in range(spec.layers))
        self.norm = nn.Identity()

    def forward(self, ids: Int[Tensor, "rows tokens"]) -> Float[Tensor, "rows tokens dim"]:
        stream = self.tokens[ids]
        stream = stream if self.positions is None else stream + self.positions
        for block in self.layers:
            stream = block(stream)
        return self.norm(stream)


class _Causal(nn.Module):
    """Answers to the calls that an inspected language model is given; it keeps no cache."""

    def __init__(self, spec: Transformer, weights: dict[str, Tensor]) -> None:
        super().__init__()
        self.model = _Stack(spec, weights)
        self.config = SimpleNamespace(num_attention_heads=spec.heads)
        self.unembedding = nn.Linear(spec.dim, len(weights["unembed"]), bias=False)
        self.unembedding.weight = nn.Parameter(weights["unembed"], requires_grad=False)

    def get_output_embeddings(self) -> nn.Module:
        return self.unembedding

    def forward(self, ids: Int[Tensor, "rows tokens"], **_: Any) -> SimpleNamespace:
        return SimpleNamespace(logits=self.unembedding(self.model(ids)[:, -1:]))


class _Words:
    """Tokens as the words of the model's vocabulary."""

    def __init__(self, model: Model) -> None:
        self.words = None if model.vocabulary is None else model.vocabulary.tokens

    def decode(self, ids: list[int]) -> str:
        return " ".join(str(token) if self.words is None else self.words[token] for token in ids)


def as_language_model(model: Model) -> LanguageModel:
    """The model with heads and MLPs that hooks can reach; rejected if it has no attention heads."""
    spec = transformer_of(model)
    exact = model if model.dtype in (torch.float32, torch.float64) else model.to("float32")
    return LanguageModel(f"{spec.architecture} model", _Causal(spec, exact.weights).eval(), _Words(model), "causal")
