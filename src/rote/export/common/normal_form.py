"""One form for every attention Transformer: positions enter with the tokens, every head reads the stream itself.

Plain checkpoints know positions at the input alone and no compression between stream and heads. Models that add
positions before every layer, whose attention reads them beside the stream, or that have a shared compression, are
brought to that form by carrying along which position a token stands at, as `context` more dimensions of the stream (a
one at the position, zeros elsewhere): whatever a layer adds per position is then a matrix of what it reads. In exact
arithmetic the function is the same.

Notation: D is the stream's width, d the dimensions that layers write (the first ones).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from jaxtyping import Float, Integer
from torch import Tensor
from torch.nn import functional

from rote.errors import InputError
from rote.models.attention_only import AttentionOnly, Transformer
from rote.models.forward.attention_only import stream
from rote.models.model import Model
from rote.models.spec import FORWARD_FLOATS, rows_within

BEGINNINGS = 2**13
"""Beginnings of keys that are run together."""
WIDE_RUNS = 2**28
"""Beginnings times heads up to which they are run in float64."""
MATRICES = ("query", "key", "value", "output")
WITHOUT_HEADS = "runs no Transformer without attention heads, given `heads=0`; export it to torch or huggingface"


@dataclass(frozen=True)
class NormalMlp:
    """W_2 sigma(W_1 x + b)."""

    inward: Float[Tensor, "width D"]
    bias: Float[Tensor, " width"]
    outward: Float[Tensor, "D width"]


@dataclass(frozen=True)
class NormalLayer:
    """Heads, scores' scale folded into the queries, and an MLP where the model has one."""

    query: Float[Tensor, "heads rank D"]
    key: Float[Tensor, "heads rank D"]
    value: Float[Tensor, "heads k D"]
    output: Float[Tensor, "heads D k"]
    mlp: NormalMlp | None = None


class Run(NamedTuple):
    """What a normal form computes on the way."""

    logits: Tensor
    patterns: list[Tensor]
    """Attention of each layer: batch x heads x position x position."""
    largest_square: float
    """Largest |x|^2 of the stream at any position, before any layer and after the last."""
    streams: list[Tensor]
    """What each layer reads: batch x position x D."""


@dataclass(frozen=True)
class NormalForm:
    """A Transformer in float64: x = tokens[t] + positions[s], layers, unembed."""

    tokens: Float[Tensor, "vocab D"]
    positions: Float[Tensor, "context D"]
    layers: tuple[NormalLayer, ...]
    unembed: Float[Tensor, "answers D"]
    written: int
    """d: layers write the first dimensions alone."""
    activation: str = "gelu"

    @property
    def dim(self) -> int:
        return self.tokens.shape[1]

    @property
    def heads(self) -> int:
        return max(len(layer.query) for layer in self.layers)

    @property
    def head_dim(self) -> int:
        """Dimensions that a head needs where queries, keys and values have one length."""
        return max(max(layer.query.shape[1], layer.value.shape[1]) for layer in self.layers)

    @property
    def width(self) -> int:
        return max(0 if layer.mlp is None else len(layer.mlp.bias) for layer in self.layers)

    def run(self, contexts: Integer[Tensor, "batch context"]) -> Run:
        x = self.tokens[contexts] + self.positions[: contexts.shape[1]]
        later = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        patterns, streams, largest = [], [], float(x.square().sum(-1).max())
        for layer in self.layers:
            streams.append(x)
            asked, keys, values = (
                torch.einsum("hkd,bsd->bhsk", matrix, x) for matrix in (layer.query, layer.key, layer.value)
            )
            scores = (asked @ keys.transpose(-1, -2)).masked_fill(later, -math.inf)
            patterns.append(scores.softmax(-1))
            x = x + torch.einsum("hdk,bhsk->bsd", layer.output, patterns[-1] @ values)
            largest = max(largest, float(x.square().sum(-1).max()))
            if layer.mlp is not None:
                before = x @ layer.mlp.inward.T + layer.mlp.bias
                after = functional.gelu(before) if self.activation == "gelu" else before.relu()
                x = x + after @ layer.mlp.outward.T
                largest = max(largest, float(x.square().sum(-1).max()))
        return Run(x[:, -1] @ self.unembed.T, patterns, largest, streams)

    def largest_square(self, contexts: Integer[Tensor, "facts context"]) -> float:
        """Largest |x|^2 of the stream at any position of these contexts."""
        if len(self.layers) == 1 and self.layers[0].mlp is None:
            return self._largest_after_one_layer(contexts)
        heads, places = self.heads, contexts.shape[1]
        rows = min(256, rows_within(FORWARD_FLOATS, heads * places * (2 * places + 4 * self.head_dim)))
        return max(self.run(part).largest_square for part in contexts.split(rows))

    def _largest_after_one_layer(self, contexts: Integer[Tensor, "facts context"]) -> float:
        """The same for one layer. What it adds at a position depends on the tokens so far alone: each beginning of a
        key is run once, and keys that are padded on the left have few. Very many are run in float32."""
        layer = self.layers[0]
        heads, k, dim = layer.value.shape
        places = list(_beginnings(contexts))
        dtype = torch.float64 if heads * sum(map(len, places)) <= WIDE_RUNS else torch.float32
        weights = {f"layers.0.{name}": getattr(layer, name).to(dtype) for name in MATRICES}
        weights["tokens"] = self.tokens.to(dtype)
        largest = 0.0
        for place, first in enumerate(places):
            rows = contexts[first, : place + 1]
            read = self.tokens[rows[:, -1].unique()] + self.positions[place]
            positions = self.positions[: place + 1]
            if not place:
                # Attention of one position to itself: as that of two that are alike.
                rows, positions = rows.expand(-1, 2), positions.expand(2, -1)
            spec = AttentionOnly(
                vocab=len(self.tokens), context=len(positions), dim=dim, head_dim=max(k, layer.query.shape[1]),
                heads=heads, scale_scores=False, wide_heads=True, query_key_rank=layer.query.shape[1],
            )  # fmt: skip
            given = {**weights, "positions": positions.to(dtype)}
            after = (stream(spec, given, part) for part in rows.split(BEGINNINGS))
            largest = max(largest, *(float(x.square().sum(1).max()) for x in (read, *after)))
        return largest


def _beginnings(contexts: Integer[Tensor, "facts context"]) -> Iterator[Integer[Tensor, " beginnings"]]:
    """For each place, one context of each distinct beginning up to there."""
    found, vocab = torch.zeros(len(contexts), dtype=torch.long), int(contexts.max()) + 1
    for column in contexts.T:
        distinct, found = (found * vocab + column).unique(return_inverse=True)
        first = torch.empty(len(distinct), dtype=torch.long)
        first[found] = torch.arange(len(contexts))
        yield first


def normal_form(model: Model) -> NormalForm:
    """The model in normal form, in float64 so that what is folded is rounded once."""
    spec, weights = model.spec, {name: tensor.double() for name, tensor in model.weights.items()}
    if not isinstance(spec, Transformer):
        raise InputError(f"a {spec.architecture} is no Transformer of attention and MLPs")
    attention = spec.attention
    carried = any(
        attention.attention_positions(number) or (number and attention.stream_positions(number))
        for number in range(attention.layers)
    )
    places = torch.zeros(attention.context, attention.context * carried, dtype=torch.float64)
    places.fill_diagonal_(1.0)
    added = torch.zeros(attention.context, attention.dim, dtype=torch.float64)
    entering = attention.stream_positions(0)
    at_input = added if entering is None else weights[entering]
    scale = 1 / math.sqrt(attention.head_dim) if attention.scale_scores else 1.0
    layers = []
    for number in range(attention.layers):
        part = f"layers.{number}."
        if number and (later := attention.stream_positions(number)) is not None:
            added = added + weights[later]
        # What heads read is `through` times the stream plus `per_place` of the position.
        through, back = torch.eye(attention.dim, dtype=torch.float64), None
        if attention.compressed:
            through, back = weights["compress"], weights["decompress"]
        beside = attention.attention_positions(number)
        per_place = added if beside is None else weights[beside]
        reading = torch.cat([through, per_place.T], 1) if carried else through
        output = weights[part + "output"] if back is None else back @ weights[part + "output"]
        mlp = None
        if spec.width:
            inward = weights[part + "mlp_in"]
            mlp = NormalMlp(
                torch.cat([inward, inward @ added.T], 1) if carried else inward,
                weights[part + "mlp_bias"],
                _below(weights[part + "mlp_out"], places.shape[1]),
            )
        layers.append(
            NormalLayer(
                weights[part + "query"] @ reading * scale,
                weights[part + "key"] @ reading,
                weights[part + "value"] @ reading,
                _below(output, places.shape[1]),
                mlp,
            )
        )
    unembed = weights["unembed"]
    return NormalForm(
        tokens=functional.pad(weights["tokens"], (0, places.shape[1])),
        positions=torch.cat([at_input, places], 1),
        layers=tuple(layers),
        unembed=torch.cat([unembed, unembed @ added.T], 1) if carried else unembed,
        written=attention.dim,
        activation=spec.activation,
    )


def spread(form: NormalForm, per_layer: int) -> NormalForm:
    """The same function with at most `per_layer` heads a layer: each layer becomes several.

    Those several must not see what the others of them wrote, so each of the model's layers writes dimensions of its own
    (d of them) and everything that reads the stream reads the sum of those written so far.
    """
    if per_layer >= form.heads:
        return form
    d, count = form.written, len(form.layers)
    wide = form.dim + d * count

    def reading(matrix: Tensor, buffers: int) -> Tensor:
        """The matrix on a stream whose first dimensions are spread over so many more buffers."""
        more = [matrix[..., :d]] * buffers
        return functional.pad(torch.cat([matrix, *more], -1), (0, d * (count - buffers)))

    def writing(matrix: Tensor, buffer: int) -> Tensor:
        whole = matrix.new_zeros(*matrix.shape[:-2], wide, matrix.shape[-1])
        start = form.dim + d * buffer
        whole[..., start : start + d, :] = matrix[..., :d, :]
        return whole

    layers = []
    for number, layer in enumerate(form.layers):
        groups = zip(
            *(part.split(per_layer) for part in (layer.query, layer.key, layer.value, layer.output)), strict=True
        )
        for query, key, value, output in groups:
            query, key, value = (reading(matrix, number) for matrix in (query, key, value))
            layers.append(NormalLayer(query, key, value, writing(output, number)))
        if layer.mlp is not None:
            mlp = NormalMlp(reading(layer.mlp.inward, number + 1), layer.mlp.bias, writing(layer.mlp.outward, number))
            layers[-1] = replace(layers[-1], mlp=mlp)
    return replace(
        form,
        tokens=functional.pad(form.tokens, (0, d * count)),
        positions=functional.pad(form.positions, (0, d * count)),
        layers=tuple(layers),
        unembed=reading(form.unembed, count),
        written=wide,
    )


def _below(matrix: Tensor, rows: int) -> Tensor:
    """The matrix with rows of zeros below: what layers do not write."""
    return functional.pad(matrix, (0, 0, 0, rows))


def refuse_other_architectures(target: str, model: Model) -> list[str]:
    if isinstance(model.spec, Transformer):
        return [] if model.spec.heads else [f"{target} {WITHOUT_HEADS}"]
    return [
        f"a {model.spec.architecture} is no Transformer of attention and MLPs, which is all that {target} runs; "
        "export it to torch or huggingface"
    ]
