"""Training of a stack of networks by AdamW on all sequences per step, each network with its own learning rate.

Networks do not influence each other, except that a stack may stop as soon as one of them has met a threshold.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from rote.training.query_attention.train import one_thread
from rote.training.uniform_attention.network import BlockShape, NetworkStack, backward, forward, initial_stack
from rote.training.uniform_attention.problem import SequenceProblem

MOMENTUM, SQUARES, TINY = 0.9, 0.999, 1e-8
"""Adam's usual constants."""
CURVE_POINTS = 50
"""Approximate number of points in a training curve."""


@dataclass(frozen=True)
class LearningSetting:
    """The hyperparameters of one network, chosen by a search."""

    learning_rate: float
    """Peak learning rate, reached after the warm-up; then it decays to zero by a cosine."""
    warm_up: int
    """Steps of linear warm-up."""


@dataclass(frozen=True)
class Schedule:
    """Settings shared by all networks of a stack."""

    steps: int
    decay: float
    """Weight decay, multiplied by the learning rate at every step."""
    stop_accuracy: float | None = None
    """The stack stops when a network's accuracy is above this."""
    stop_error: float | None = None
    """The stack stops when a network's mean squared error is below this."""


@dataclass(frozen=True)
class BlockTrained:
    loss: float
    """Smallest loss over all steps: cross-entropy in nats, or mean squared error."""
    accuracy: float | None
    """Highest accuracy over all steps; None for regression."""
    final_loss: float
    """Loss of the last step; NaN if training diverged."""
    steps: int
    """Steps that the stack took."""
    seconds: float
    """CPU time of the stack divided by its networks."""
    curve: tuple[tuple[int, float, float | None], ...]
    """(step, loss, accuracy) along training."""


def train_stack(
    problem: SequenceProblem,
    shape: BlockShape,
    settings: Sequence[LearningSetting],
    seeds: Sequence[int],
    schedule: Schedule,
) -> list[BlockTrained]:
    """Train one network per setting and seed, in float32 on one thread: results are the same on any machine."""
    with one_thread(), torch.no_grad():
        started = time.thread_time()
        stack, free = initial_stack(shape, problem, seeds)
        gradients = NetworkStack(*(torch.empty_like(part) for part in stack))
        optimiser = _AdamW(stack, free, settings, schedule)
        curves: list[tuple[int, list[float], list[float]]] = []
        least, highest = torch.full((len(settings),), math.inf), torch.zeros(len(settings))
        step = 0
        while True:
            passed = forward(stack, problem)
            losses, accuracies, slopes = measured(passed.outputs, problem)
            least = torch.fmin(least, losses)
            highest = torch.maximum(highest, torch.where(losses.isfinite(), accuracies, 0.0))
            met = _met(schedule, least, highest)
            if step % max(1, schedule.steps // CURVE_POINTS) == 0 or step == schedule.steps or met:
                curves.append((step, losses.tolist(), accuracies.tolist()))
            if step == schedule.steps or met:
                break
            backward(stack, problem, passed, slopes, gradients)
            optimiser.step(gradients, step)
            step += 1
        seconds = (time.thread_time() - started) / len(settings)
        labelled = problem.labels is not None
        return [
            BlockTrained(
                float(least[number]),
                float(highest[number]) if labelled else None,
                curves[-1][1][number],
                step,
                seconds,
                tuple((at, loss[number], share[number] if labelled else None) for at, loss, share in curves),
            )
            for number in range(len(settings))
        ]


def measured(outputs: Tensor, problem: SequenceProblem) -> tuple[Tensor, Tensor, Tensor]:
    """Loss and accuracy of each network on every sequence, and the loss's gradient by the outputs."""
    sequences = outputs.shape[2]
    if problem.labels is None:
        if problem.targets is None:
            raise TypeError("problem: has neither labels nor targets")
        off = outputs[:, 0] - problem.targets
        return (off * off).mean(1), torch.zeros(len(outputs)), (2 / sequences * off)[:, None]
    labels = problem.labels.expand(len(outputs), 1, -1)
    logs = outputs.log_softmax(1)
    right = logs.gather(1, labels)
    losses = -right.mean((1, 2))
    accuracies = (right >= logs.amax(1, keepdim=True)).float().mean((1, 2))
    slopes = logs.exp_().scatter_add_(1, labels, torch.full_like(labels, -1, dtype=logs.dtype)).div_(sequences)
    return losses, accuracies, slopes


def _met(schedule: Schedule, least: Tensor, highest: Tensor) -> bool:
    if schedule.stop_accuracy is not None:
        return bool((highest > schedule.stop_accuracy).any())
    return schedule.stop_error is not None and bool((least < schedule.stop_error).any())


class _AdamW:
    """AdamW with one learning rate per network; `torch.optim` has one for all."""

    def __init__(
        self, stack: NetworkStack, free: NetworkStack, settings: Sequence[LearningSetting], schedule: Schedule
    ) -> None:
        self._schedule = schedule
        kept = [number for number, where in enumerate(free) if where.any()]
        self._numbers = kept
        self._parts, self._free = [stack[number] for number in kept], [free[number] for number in kept]
        self._means = [torch.zeros_like(part) for part in self._parts]
        self._squares = [torch.zeros_like(part) for part in self._parts]
        self._peaks = np.array([setting.learning_rate for setting in settings])
        self._warm_ups = np.array([setting.warm_up for setting in settings])

    def rates(self, step: int) -> np.ndarray:
        """Learning rates at a step: linear warm-up, then a cosine to zero."""
        rising = (step + 1) / (self._warm_ups + 1)
        along = np.clip((step - self._warm_ups) / (self._schedule.steps - self._warm_ups), 0, 1)
        return self._peaks * np.where(step < self._warm_ups, rising, 0.5 * (1 + np.cos(np.pi * along)))

    def step(self, gradients: NetworkStack, step: int) -> None:
        rates = torch.from_numpy(self.rates(step)).float().view(-1, 1, 1)
        stride = rates / (1 - MOMENTUM ** (step + 1))
        root = (1 - SQUARES ** (step + 1)) ** 0.5
        for number, part, free, mean, square in zip(
            self._numbers, self._parts, self._free, self._means, self._squares, strict=True
        ):
            gradient = gradients[number]
            mean.lerp_(gradient, 1 - MOMENTUM)
            square.mul_(SQUARES).addcmul_(gradient, gradient, value=1 - SQUARES)
            change = (
                (stride * mean).div_(square.sqrt().div_(root).add_(TINY)).add_(part * (self._schedule.decay * rates))
            )
            part.sub_(change.mul_(free))
