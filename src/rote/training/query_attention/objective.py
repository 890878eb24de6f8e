"""Loss and gradients of one query-attention model on one vector task, by folded tables."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from rote.models.query_attention import QueryAttention
from rote.training.query_attention.examples import Score, accumulate, chunks, outputs
from rote.training.query_attention.fold import fold
from rote.training.query_attention.problem import VectorProblem


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
