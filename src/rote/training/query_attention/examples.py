"""Forward and backward pass of the examples, from folded tables.

For head h, attention a, values V and output o = sum_s a_s V_s, with do the gradient of o,

    dV_s = a_s do,      dscore_s = a_s (V_s - o) do,

and every table's gradient is one matrix product over the examples.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from rote.training.query_attention.fold import FreshTables, SharedTables, Tables
from rote.training.query_attention.problem import VectorProblem

WORKING_FLOATS = 2**17
"""Attention weights per chunk: as many as fit into a core's L2 cache with their gradients."""


@dataclass
class Score:
    """Sums over examples."""

    loss: float = 0.0
    """Cross-entropy in nats, or squared error summed over outputs."""
    right: int = 0
    """Number of labels whose output is the largest."""
    examples: int = 0

    @property
    def mean_loss(self) -> float:
        return self.loss / self.examples

    @property
    def accuracy(self) -> float:
        return self.right / self.examples


def chunks(problem: VectorProblem, heads: int, examples: int | None = None) -> list[slice]:
    """Rows of each chunk of the given examples. Default: of all examples."""
    examples = len(problem) if examples is None else examples
    context, dim = problem.contexts.shape[1:]
    step = max(16, WORKING_FLOATS // (heads * (context if problem.shared else context + dim)))
    return [slice(start, min(start + step, examples)) for start in range(0, examples, step)]


@torch.no_grad()
def shares_of(tables: Tables, examples: VectorProblem) -> Float[Tensor, "examples heads context"]:
    """Attention weights alone."""
    heads, context = len(tables.mix), examples.contexts.shape[1]
    if isinstance(tables, SharedTables):
        return (examples.queries @ tables.scores).view(-1, heads, context).softmax(-1)
    asked = (examples.queries @ tables.asked).view(len(examples), heads, -1)
    from_positions = (examples.queries @ tables.positions).view(-1, heads, context)
    return torch.baddbmm(from_positions, asked, examples.contexts.mT).softmax(-1)


@torch.no_grad()
def values_of(tables: Tables, examples: VectorProblem) -> Float[Tensor, "_ heads context"]:
    """Every head's value of every token; one row if the context is shared."""
    if isinstance(tables, SharedTables):
        return tables.values[None]
    return tables.values @ examples.contexts.mT + tables.position_values


@torch.no_grad()
def attention(
    tables: Tables, examples: VectorProblem
) -> tuple[Float[Tensor, "examples heads context"], Float[Tensor, "_ heads context"]]:
    """Attention weights and values; the values are one row if the context is shared."""
    if isinstance(tables, SharedTables):
        return shares_of(tables, examples), values_of(tables, examples)
    # Scores and values of an example in one product with its context.
    heads, context = len(tables.mix), examples.contexts.shape[1]
    asked = examples.queries.new_empty(len(examples), 2 * heads, examples.contexts.shape[2])
    asked[:, :heads] = (examples.queries @ tables.asked).view(len(examples), heads, -1)
    asked[:, heads:] = tables.values
    both = asked @ examples.contexts.mT
    scores = both[:, :heads] + (examples.queries @ tables.positions).view(-1, heads, context)
    return scores.softmax(-1), both[:, heads:] + tables.position_values


@torch.no_grad()
def outputs(tables: Tables, examples: VectorProblem) -> Float[Tensor, "examples outputs"]:
    """The model's outputs for each example."""
    weights, values = attention(tables, examples)
    return (weights * values).sum(-1) @ tables.mix + tables.bias


@torch.no_grad()
def accumulate(
    tables: Tables, gradients: list[Tensor], examples: VectorProblem, scale: float, shares: Tensor | None = None
) -> Score:
    """Add the gradients of scale x (summed loss) to those of the tables; returns the sums.

    `shares` are the attention weights if they are known already; they are overwritten.
    """
    weights, values = attention(tables, examples) if shares is None else (shares, values_of(tables, examples))
    given = (weights * values).sum(-1)
    score, slope = _loss(given @ tables.mix + tables.bias, examples.answers)
    slope *= scale
    *inner, mix, bias = gradients
    mix.addmm_(given.T, slope)
    bias.add_(slope.sum(0))
    by_head = (slope @ tables.mix.T)[..., None]
    weights.mul_(by_head)  # now the gradient of the values
    if isinstance(tables, SharedTables):
        scores, shared_values = inner
        shared_values.add_(weights.sum(0))
        scores.addmm_(examples.queries.T, (values - given[..., None]).mul_(weights).flatten(1))
        return score
    _accumulate_fresh(tables, inner, examples, weights, values.sub_(given[..., None]).mul_(weights))
    return score


def _accumulate_fresh(
    tables: FreshTables, gradients: list[Tensor], examples: VectorProblem, of_values: Tensor, of_scores: Tensor
) -> None:
    asked, positions, value, position_values = gradients
    heads = len(tables.mix)
    mixed = torch.cat([of_scores, of_values], 1) @ examples.contexts
    asked.addmm_(examples.queries.T, mixed[:, :heads].flatten(1))
    positions.addmm_(examples.queries.T, of_scores.flatten(1))
    value.add_(mixed[:, heads:].sum(0))
    position_values.add_(of_values.sum(0))


def _loss(given: Float[Tensor, "examples outputs"], answers: Tensor) -> tuple[Score, Tensor]:
    """Sums, and the slope of the summed loss in the outputs."""
    if answers.is_floating_point():
        off = given - answers
        return Score(float((off * off).sum()), 0, len(off)), off.mul_(2)
    log_shares = given.log_softmax(1)
    own = answers[:, None]
    picked = log_shares.gather(1, own)
    right, loss = int((picked >= log_shares.amax(1, keepdim=True)).sum()), -float(picked.sum())
    slope = log_shares.exp_()
    slope.scatter_add_(1, own, -torch.ones_like(own, dtype=slope.dtype))
    return Score(loss, right, len(given)), slope
