"""The torch engine, which is the reference: any trainable architecture, any context length, any torch device.

Forward pass of many models of one shape at once: every tensor has a leading axis of models.

One layer works from tables: queries, keys and values depend only on a token and its position, so they are computed
once per token and once per position, and contexts pick them. Over all pairs of tokens nothing is picked at all
(`grid_logits`): the softmax over two positions is a sigmoid of a score difference, and sum_h a_h W_O^h W_V^h x is one
batched product per first token and one per last token.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from jaxtyping import Float, Integer
from torch import Tensor
from torch.nn import functional

from rote.models.attention_only import AttentionOnly, Transformer
from rote.models.forward.attention_only import score_scale
from rote.models.spec import FIT_FLOATS, rows_within
from rote.training.objective import AdamSettings, AdamState, Evaluation
from rote.training.problem import TrainingProblem

Weights = dict[str, Tensor]


def stacked_logits(
    spec: Transformer, weights: Weights, contexts: Integer[Tensor, "models batch context"]
) -> Float[Tensor, "models batch vocab"]:
    """Logits of each model after its own contexts."""
    attention = spec.attention
    tokens = weights["tokens"]
    if attention.layers == 1:
        read, positions = _tables(attention, weights)
        stream = _picked(tokens, contexts[..., -1])
        if (added := _stream_positions(attention, weights, 0)) is not None:
            stream = stream + added[:, None, -1]
        stream = stream + _write(attention, weights, 0, _one_layer(attention, weights, read, positions, contexts))
        return _after(spec, weights, 0, stream) @ weights["unembed"].mT
    stream = _picked(tokens, contexts)
    for layer in range(attention.layers):
        if (positions := _stream_positions(attention, weights, layer)) is not None:
            stream = stream + positions[:, None]
        last = layer == attention.layers - 1
        mixed = _layer(attention, weights, layer, stream, last)
        stream = (stream[:, :, -1:] if last else stream) + _write(attention, weights, layer, mixed)
        stream = _after(spec, weights, layer, stream)
    return stream[:, :, 0] @ weights["unembed"].mT


def grid_logits(spec: Transformer, weights: Weights) -> Float[Tensor, "models pairs vocab"]:
    """Logits after every pair of tokens, the first token varying slowest, for one-layer models of two positions."""
    attention = spec.attention
    read, positions = _tables(attention, weights)
    part = {name: weights[f"layers.0.{name}"] for name in ("query", "key", "value", "output")}
    first, last = read + positions[:, :1], read + positions[:, 1:]

    def per_head(x: Tensor, name: str) -> Tensor:  # (models, heads, tokens, rows)
        return x[:, None] @ part[name].mT

    queries = per_head(last, "query") * score_scale(attention)
    own_scores = (queries * per_head(last, "key")).sum(-1)
    share = torch.sigmoid(queries @ per_head(first, "key").mT - own_scores[..., None])
    written_first = per_head(first, "value") @ part["output"].mT
    written_last = per_head(last, "value") @ part["output"].mT
    # share is (models, heads, last, first): the weight of the first token's value.
    by_first = share.permute(0, 3, 2, 1) @ written_first.transpose(1, 2)
    by_last = share.permute(0, 2, 3, 1) @ written_last.transpose(1, 2)
    mixed = by_first - by_last.transpose(1, 2) + written_last.sum(1)[:, None]
    stream = weights["tokens"]
    if (added := _stream_positions(attention, weights, 0)) is not None:
        stream = stream + added[:, 1:]
    stream = stream[:, None] + _write(attention, weights, 0, mixed)
    return (_after(spec, weights, 0, stream) @ weights["unembed"].mT[:, None]).flatten(1, 2)


def _tables(spec: AttentionOnly, weights: Weights) -> tuple[Tensor, Tensor]:
    """Inputs of the heads of the first layer: one term per token (models, vocab, dim) and one per position."""
    tokens = weights["tokens"]
    read = tokens @ weights["compress"].mT if spec.compressed else tokens
    return read, weights[spec.attention_positions(0) or "positions"]


def _picked(table: Float[Tensor, "models vocab columns"], index: Integer[Tensor, "models ..."]) -> Tensor:
    """Rows of each model's table. One flat embedding look-up, whose gradient is far cheaper than indexing's."""
    models, rows, columns = table.shape
    offset = torch.arange(models, device=index.device).view(-1, *[1] * (index.ndim - 1)) * rows
    return functional.embedding(index + offset, table.reshape(models * rows, columns))


def _one_layer(
    spec: AttentionOnly, weights: Weights, read: Tensor, positions: Tensor, contexts: Tensor
) -> Float[Tensor, "models batch inner"]:
    models, batch, context = contexts.shape
    part = {name: weights[f"layers.0.{name}"] for name in ("query", "key", "value", "output")}

    def projected(name: str) -> Tensor:  # (models, inner, heads * rows)
        return part[name].flatten(1, 2).mT

    queries = _picked(read @ projected("query"), contexts[..., -1]) + (positions[:, -1:] @ projected("query"))
    keys = _picked(read @ projected("key"), contexts) + (positions @ projected("key"))[:, None]
    values = _picked(read @ projected("value"), contexts) + (positions @ projected("value"))[:, None]
    queries = queries.view(models, batch, 1, spec.heads, spec.rank) * score_scale(spec)
    scores = (queries * keys.view(models, batch, context, spec.heads, spec.rank)).sum(-1)
    attention = scores.softmax(2)
    mixed = (attention[..., None] * values.view(models, batch, context, spec.heads, spec.head_dim)).sum(2)
    return mixed.flatten(2) @ part["output"].transpose(2, 3).flatten(1, 2)


def _layer(
    spec: AttentionOnly, weights: Weights, layer: int, stream: Float[Tensor, "models batch context dim"], last: bool
) -> Float[Tensor, "models batch position inner"]:
    """sum_h W_O^h W_V^h A^h at the last position, or at every position under a causal mask."""
    part = {name: weights[f"layers.{layer}.{name}"] for name in ("query", "key", "value", "output")}
    if spec.compressed:
        stream = stream @ weights["compress"].mT[:, None]
    if (read_beside := spec.attention_positions(layer)) is not None:
        stream = stream + weights[read_beside][:, None]
    asking = stream[:, :, -1:] if last else stream

    def per_head(x: Tensor, name: str) -> Tensor:  # (models, batch, heads, positions, rows)
        rows = x @ part[name].flatten(1, 2).mT[:, None]
        return rows.unflatten(-1, part[name].shape[1:3]).transpose(2, 3)

    scores = per_head(asking, "query") @ per_head(stream, "key").mT * score_scale(spec)
    if not last:
        later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
        scores = scores.masked_fill(later, -math.inf)
    mixed = scores.softmax(-1) @ per_head(stream, "value")
    return mixed.transpose(2, 3).flatten(3) @ part["output"].transpose(2, 3).flatten(1, 2)[:, None]


def _stream_positions(spec: AttentionOnly, weights: Weights, layer: int) -> Tensor | None:
    name = spec.stream_positions(layer)
    return None if name is None else weights[name]


def _write(spec: AttentionOnly, weights: Weights, layer: int, mixed: Tensor) -> Tensor:
    """The output of a layer, added to the residual stream."""
    if not spec.compressed:
        return mixed
    return mixed @ _aligned(weights["decompress"].mT, mixed)


def _after(spec: Transformer, weights: Weights, layer: int, stream: Tensor) -> Tensor:
    """The residual stream after the MLP of a layer."""
    if not spec.width:
        return stream
    inner, outer = weights[f"layers.{layer}.mlp_in"].mT, weights[f"layers.{layer}.mlp_out"].mT
    before = stream @ _aligned(inner, stream) + _aligned(weights[f"layers.{layer}.mlp_bias"][:, None], stream)
    neurons = functional.gelu(before) if spec.activation == "gelu" else before.relu()
    return stream + neurons @ _aligned(outer, stream)


def _aligned(matrix: Float[Tensor, "models rows columns"], stream: Tensor) -> Tensor:
    """A matrix per model, with axes of one so that it multiplies a stream with any number of axes."""
    models, rows, columns = matrix.shape
    return matrix.view(models, *[1] * (stream.ndim - 3), rows, columns) if stream.ndim > 3 else matrix


class TorchObjective:
    """Gradients by autograd of the stacked forward pass.

    `weights` of contexts under full batches are the same for all models, or (models x contexts).
    """

    def __init__(
        self,
        spec: Transformer,
        problem: TrainingProblem,
        weights: np.ndarray,
        device: str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.spec, self.problem = spec, problem
        self.engine = "torch" if device == "cpu" else f"torch ({device})"
        self._device, self._dtype = torch.device(device), dtype
        self._sizes = [math.prod(shape) for shape in spec.shapes().values()]
        self._contexts = self._put(problem.contexts).long()
        self._weights = self._put(weights).to(dtype)
        self._answers = self._put(problem.answers).long()
        self._grid = problem.grid and spec.attention.layers == 1
        self._single = len(problem.tokens) == len(problem)
        self._entries = (self._put(problem.rows).long(), self._put(problem.tokens).long())
        self._probabilities = self._put(problem.probabilities).to(dtype)
        self._starts = self._put(problem.starts).long()

    def gradient(self, flat: np.ndarray, rows: np.ndarray | None = None, focus: np.ndarray | None = None) -> Evaluation:
        parameters = self._put(flat).to(self._dtype).requires_grad_()
        batch = None if rows is None else self._put(rows).long()
        loss, right, objective = self.loss(parameters, batch, self._focus(focus))
        (gradient,) = torch.autograd.grad(objective.sum(), parameters)
        return Evaluation(*(part.detach().cpu().numpy() for part in (loss, right, gradient, objective)))

    def adam_steps(
        self,
        state: AdamState,
        rates: np.ndarray,
        rows: np.ndarray | None,
        settings: AdamSettings,
        focus: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        flat, first, second = (self._put(part).to(self._dtype) for part in (state.flat, state.first, state.second))
        batches = None if rows is None else self._put(rows).long()
        losses, shares = [], []
        for step, rate in enumerate(rates.tolist()):
            parameters = flat.detach().requires_grad_()
            batch = None if batches is None else batches[:, step]
            chosen = self._focus(None if focus is None else focus[:, step])
            loss, right, objective = self.loss(parameters, batch, chosen)
            (gradient,) = torch.autograd.grad(objective.sum(), parameters)
            losses.append(loss.detach())
            shares.append(right)
            state.steps += 1
            first.lerp_(gradient, 1 - settings.beta1)
            second.mul_(settings.beta2).addcmul_(gradient, gradient, value=1 - settings.beta2)
            rms = (second / (1 - settings.beta2**state.steps)).sqrt_().add_(settings.epsilon)
            flat.addcdiv_(first, rms, value=-rate / (1 - settings.beta1**state.steps))
        for kept, now in ((state.flat, flat), (state.first, first), (state.second, second)):
            kept[...] = now.cpu().numpy()
        return torch.stack(losses, 1).cpu().numpy(), torch.stack(shares, 1).cpu().numpy()

    def loss(self, parameters: Tensor, rows: Tensor | None, focus: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        """Cross-entropy, accuracy and generalized cross-entropy per model."""
        weights = self.unstacked(parameters)
        models = parameters.shape[0]
        if rows is None:
            every = torch.arange(len(self.problem), device=self._device)
            logits = self._logits(weights, models, every)
            weight, rows = self._weights, every.expand(models, -1)
        else:
            logits = stacked_logits(self.spec, weights, self._contexts[rows])
            weight = torch.full(rows.shape, 1 / rows.shape[1], dtype=self._dtype, device=self._device)
        log_probabilities = logits.log_softmax(-1)
        right = log_probabilities.detach().argmax(-1) == self._answers[rows]
        crossed = self._crossed(log_probabilities, rows)
        loss = -(weight * crossed).sum(-1)
        objective = loss
        if focus is not None:
            # The smallest normal number in place of zero, for which the cross-entropy is used instead.
            safe = focus.clamp(min=torch.finfo(self._dtype).tiny)
            focused = -(weight * torch.expm1(safe[:, None] * crossed)).sum(-1) / safe
            objective = torch.where(focus > 0, focused, loss)
        return loss, (weight * right).sum(-1), objective

    @torch.no_grad()
    def predictions(self, flat: np.ndarray) -> np.ndarray:
        parameters = self._put(flat).to(self._dtype)
        weights = self.unstacked(parameters)
        models = len(flat)
        step = rows_within(FIT_FLOATS, models * self.problem.vocab)
        predicted = []
        for start in range(0, len(self.problem), step):
            rows = torch.arange(start, min(start + step, len(self.problem)), device=self._device)
            top = self._logits(weights, models, rows).topk(min(2, self.problem.vocab), -1)
            strict = top.values[..., 0].isfinite()
            if top.values.shape[-1] > 1:
                strict &= top.values[..., 0] > top.values[..., 1]
            predicted.append(torch.where(strict, top.indices[..., 0], -1))
        return torch.cat(predicted, 1).to(torch.int32).cpu().numpy()

    def only(self, model: int) -> TorchObjective:
        weights = self._weights if self._weights.ndim == 1 else self._weights[model]
        return TorchObjective(self.spec, self.problem, weights.cpu().numpy(), str(self._device), self._dtype)

    def unstacked(self, parameters: Tensor) -> dict[str, Tensor]:
        """A stack of parameter vectors as named tensors; one split, so that its gradient is one concatenation."""
        parts = parameters.split(self._sizes, dim=1)
        shapes = self.spec.shapes().items()
        return {name: part.view(len(parameters), *shape) for part, (name, shape) in zip(parts, shapes, strict=True)}

    def _logits(self, weights: dict[str, Tensor], models: int, rows: Tensor) -> Tensor:
        if self._grid and len(rows) == len(self.problem):
            return grid_logits(self.spec, weights)
        return stacked_logits(self.spec, weights, self._contexts[rows].expand(models, -1, -1))

    def _crossed(self, log_probabilities: Tensor, rows: Tensor) -> Tensor:
        """sum_n pi(n) log p(n) of each row."""
        if self._single:
            return log_probabilities.gather(-1, self._entries[1][rows][..., None])[..., 0]
        lengths = (self._starts[1:] - self._starts[:-1])[rows]
        model_row = torch.arange(rows.numel(), device=rows.device).repeat_interleave(lengths.flatten())
        first = (lengths.flatten().cumsum(0) - lengths.flatten()).repeat_interleave(lengths.flatten())
        entry = self._starts[rows.flatten()].repeat_interleave(lengths.flatten())
        entry = entry + torch.arange(len(model_row), device=rows.device) - first
        picked = log_probabilities.flatten(0, 1)[model_row, self._entries[1][entry]] * self._probabilities[entry]
        return picked.new_zeros(rows.numel()).index_add(0, model_row, picked).view(rows.shape)

    def _focus(self, focus: np.ndarray | None) -> Tensor | None:
        return None if focus is None or not focus.any() else self._put(focus).to(self._dtype)

    def _put(self, array: np.ndarray) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self._device)
