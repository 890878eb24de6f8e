"""Training by gradient descent: minibatches, warm-up and cosine; the best weights on all examples are kept.

The optimizer is Adam for all parameters, or Muon for W_Q and W_K and Adam for the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from rote.models.query_attention import QueryAttention
from rote.training.initial import generator
from rote.training.muon import MOMENTUM, orthogonalised
from rote.training.protocol import learning_rates
from rote.training.query_attention.examples import Score, accumulate, chunks, outputs
from rote.training.query_attention.fold import fold
from rote.training.query_attention.problem import VectorProblem
from rote.training.query_attention.protocol import VectorProtocol


@dataclass(frozen=True, eq=False)
class FoldedObjective:
    """Mean cross-entropy over labels, or mean squared error over examples (summed over outputs)."""

    spec: QueryAttention
    problem: VectorProblem

    def gradient(self, weights: dict[str, Tensor], rows: Tensor | None = None, shares: Tensor | None = None) -> Score:
        """Fill `.grad` of every tensor of `weights` (leaves that require it); over all examples or over `rows`.

        `shares` are the attention weights of all examples if they are known already; they are overwritten.
        """
        examples = len(self.problem) if rows is None else len(rows)
        tables = fold(self.spec, weights, self.problem.contexts)
        tensors = tables.tensors()
        detached = type(tables)(*(tensor.detach() for tensor in tensors))
        gradients = [torch.zeros_like(tensor) for tensor in detached.tensors()]
        total = Score()
        for part in chunks(self.problem, self.spec.heads, examples):
            # Rows are gathered in chunks, so that they are still in cache when they are read.
            own = self.problem.rows(part if rows is None else rows[part])
            score = accumulate(detached, gradients, own, 1 / examples, None if shares is None else shares[part])
            total = Score(total.loss + score.loss, total.right + score.right, total.examples + score.examples)
        for tensor in weights.values():
            tensor.grad = None
        through = [(table, grad) for table, grad in zip(tensors, gradients, strict=True) if table.requires_grad]
        torch.autograd.backward([table for table, _ in through], [grad for _, grad in through])
        return total

    @torch.no_grad()
    def score(self, weights: dict[str, Tensor]) -> Score:
        """Loss and number of right labels over all examples."""
        tables = fold(self.spec, weights, self.problem.contexts)
        loss, right = 0.0, 0
        for part in chunks(self.problem, self.spec.heads):
            examples = self.problem.rows(part)
            given = outputs(tables, examples)
            if self.problem.labelled:
                loss += float(torch.nn.functional.cross_entropy(given, examples.answers, reduction="sum"))
                right += int((given.argmax(1) == examples.answers).sum())
            else:
                loss += float((given - examples.answers).square().sum())
        return Score(loss, right, len(self.problem))


MATRICES = ("query", "key")


class Optimiser:
    """Steps on the `.grad` of named tensors."""

    def __init__(self, weights: dict[str, Tensor], protocol: VectorProtocol) -> None:
        self._matrices = [weights[name] for name in MATRICES] if protocol.optimizer == "muon" else []
        rest = [tensor for name, tensor in weights.items() if not self._matrices or name not in MATRICES]
        self._adam = torch.optim.Adam(rest, lr=protocol.peak, betas=(0.9, protocol.beta2), fused=True) if rest else None
        self._momentum = torch.zeros(len(self._matrices), *(self._matrices[0].shape if self._matrices else ()))

    @torch.no_grad()
    def step(self, rate: float, matrix_rate: float) -> None:
        if self._adam is not None:
            self._adam.param_groups[0]["lr"] = rate
            self._adam.step()
        if not self._matrices:
            return
        # W_Q and W_K of all heads have one shape: they are orthogonalized together.
        gradient = torch.stack([matrix.grad for matrix in self._matrices if matrix.grad is not None])
        self._momentum.mul_(MOMENTUM).add_(gradient)
        updates = orthogonalised((gradient + MOMENTUM * self._momentum).flatten(0, 1)).view_as(gradient)
        for matrix, update in zip(self._matrices, updates, strict=True):
            matrix.add_(update, alpha=-matrix_rate)


Report = Callable[[int], None]
"""Called with the number of steps taken since the last call."""


@dataclass
class Path:
    """The current weights, and the best ones so far."""

    weights: dict[str, Tensor]
    accuracy: float = 0.0
    loss: float = math.inf
    steps: int = 0
    diverged_at: int | None = None
    curve: list[tuple[int, float]] = field(default_factory=list)

    def keep(self, weights: dict[str, Tensor], accuracy: float, loss: float) -> None:
        """Keep these weights if they are the best so far: most labels right, then the smallest loss."""
        self.curve.append((self.steps, loss))
        if math.isfinite(loss) and (accuracy, -loss) > (self.accuracy, -self.loss):
            self.weights = {name: tensor.detach().clone() for name, tensor in weights.items()}
            self.accuracy, self.loss = accuracy, loss


def descend(
    objective: FoldedObjective, weights: dict[str, Tensor], protocol: VectorProtocol, seed: int, report: Report
) -> Path:
    """Train from given weights; stops early when every label is right (if the protocol says so) or the loss is NaN."""
    leaves = {name: tensor.clone().requires_grad_() for name, tensor in weights.items()}
    optimiser = Optimiser(leaves, protocol)
    rates, matrix_rates = rates_of(protocol)
    order = Batches(len(objective.problem), protocol.batch, seed)
    path = Path(weights)
    for step in range(protocol.steps):
        loss = objective.gradient(leaves, order.next()).mean_loss
        if not math.isfinite(loss):
            path.diverged_at = step
            break
        optimiser.step(rates[step], matrix_rates[step])
        path.steps = step + 1
        if path.steps % protocol.check == 0 or path.steps == protocol.steps:
            score = objective.score(leaves)
            path.keep(leaves, score.accuracy, score.mean_loss)
            report(min(protocol.check, path.steps))
            if protocol.stop and score.right == score.examples:
                break
    return path


def rates_of(protocol: VectorProtocol) -> tuple[list[float], list[float]]:
    """Learning rates of Adam and of Muon, step by step."""
    unit = learning_rates("cosine", protocol.steps, 1.0, 0.0, protocol.warmup, 1)
    return (protocol.peak * unit).tolist(), (protocol.muon_peak * unit).tolist()


class Batches:
    """Rows of every step: a new order each epoch, cut into batches; a remainder shorter than a batch waits for the next
    order."""

    def __init__(self, examples: int, batch: int | None, seed: int) -> None:
        self._examples, self._rng = examples, generator(seed, "batches")
        self._batch = None if batch is None or batch >= examples else batch
        self._left = torch.empty(0, dtype=torch.long)

    def next(self) -> Tensor | None:
        """Nothing when a batch is all examples."""
        if self._batch is None:
            return None
        if len(self._left) < self._batch:
            self._left = torch.from_numpy(self._rng.permutation(self._examples))
        taken, self._left = self._left[: self._batch], self._left[self._batch :]
        return taken
