"""The torch engine, which is the reference: any trainable architecture, any context length, any torch device."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from rote.models.attention_only import Transformer
from rote.models.budget import FIT_FLOATS, rows_within
from rote.training.objective import AdamSettings, AdamState, Evaluation
from rote.training.problem import TrainingProblem
from rote.training.stacked import grid_logits, stacked_logits


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
