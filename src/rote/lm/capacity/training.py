"""Training for the meter: every string in every step, Muon for the matrices, Adam for the rest, a cosine of rates.

Muon (see `rote.training.muon`) pays for the matrices inside the blocks; embeddings, the unembedding, norms, biases and
convolutions are Adam's. Minibatches hold less than the full batch at the same cost. Until the last steps a token counts
by how much of it is still missing, which holds more after equal steps; what is held is then measured plainly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from rote.lm.capacity.strings import StringShape
from rote.lm.capacity.subjects import logits_of
from rote.training.muon import MOMENTUM, orthogonalised
from rote.training.protocol import learning_rates

ADAM_SHARE = 0.3
"""Adam's peak rate as a share of Muon's."""
WARMUP = 0.05
BETAS = (0.9, 0.95)
FOCUS = 0.3
"""A token of probability p weighs (1 - p) to this power. Of a GPT-2 of 4,592 parameters offered 2.9 bits each, 4,000
steps hold 2.76 with 0.3 and 2.72 with 0.5; 1,000 hold 2.53 with 0.5 and 2.46 without."""
FOCUSED = 0.8
"""Share of the steps that are focused; the others minimise the code length itself."""
LEAST_WEIGHT = 1e-3
LOGITS_AT_ONCE = 2**23
"""Numbers in the logits of one forward pass; more strings are read in parts, whose gradients add up."""


@dataclass(frozen=True)
class Outcome:
    """A trained module, and its loss in bits per counted token before each of the last steps."""

    module: nn.Module
    loss: float
    diverged: bool


def train(
    module: nn.Module,
    strings: Tensor,
    shape: StringShape,
    steps: int,
    rate: float,
    each: Callable[[int], None] = lambda step: None,
) -> Outcome:
    """Train a module on all strings for `steps` full-batch steps with peak rate `rate`; every step calls `each`."""
    matrices, rest = _divide(module)
    muon = ModuleMuon(matrices)
    adam = torch.optim.AdamW(rest, lr=rate, betas=BETAS, eps=1e-10, weight_decay=0.0, fused=True)
    parts = strings.split(max(1, LOGITS_AT_ONCE // (shape.length * shape.vocab)))
    counted = strings[:, shape.key :].numel()
    module.eval()
    loss = math.nan
    for step, now in enumerate(learning_rates("cosine", steps, rate, 0.0, WARMUP, steps)):
        module.zero_grad(set_to_none=True)
        total = torch.zeros((), device=strings.device)
        focus = FOCUS if step < FOCUSED * steps else 0.0
        for part in parts:
            costs = token_costs(module, part, shape)
            weighted = costs * (-torch.expm1(-costs.detach())).clamp_min(LEAST_WEIGHT) ** focus if focus else costs
            (weighted.sum() / counted).backward()
            total += costs.detach().sum() / counted
        loss = float(total) / math.log(2)
        if not math.isfinite(loss):
            return Outcome(module, loss, True)
        adam.param_groups[0]["lr"] = float(now) * ADAM_SHARE
        adam.step()
        muon.step(float(now))
        each(step)
    return Outcome(module, loss, False)


def token_costs(module: nn.Module, strings: Tensor, shape: StringShape) -> Tensor:
    """Nats that each counted token costs, one string after another."""
    logits = logits_of(module, strings[:, :-1])[:, shape.key - 1 :]
    return functional.cross_entropy(logits.flatten(0, 1).float(), strings[:, shape.key :].flatten(), reduction="none")


def code_length(module: nn.Module, strings: Tensor, shape: StringShape) -> Tensor:
    """Nats that the counted tokens cost, all strings together."""
    return token_costs(module, strings, shape).sum()


def _divide(module: nn.Module) -> tuple[list[nn.Parameter], list[nn.Parameter]]:
    """Matrices inside blocks, and the rest: embeddings, unembedding, adapters, and what is no matrix."""
    tables = {
        id(weight)
        for name, part in module.named_modules()
        if isinstance(part, nn.Embedding) or name.endswith("lm_head")
        for weight in part.parameters(recurse=False)
    }
    tables |= {id(weight) for name, weight in module.named_parameters() if name in ("tokens", "positions", "unembed")}
    # Adapters are Adam's at every rank: of rank 1 there is nothing to make orthogonal.
    tables |= {id(weight) for name, weight in module.named_parameters() if name.endswith(("lora_A", "lora_B"))}
    trained = [weight for weight in module.parameters() if weight.requires_grad]
    matrices = [weight for weight in trained if weight.ndim in (2, 3) and min(weight.shape) > 1]
    matrices = [weight for weight in matrices if id(weight) not in tables]
    chosen = {id(weight) for weight in matrices}
    return matrices, [weight for weight in trained if id(weight) not in chosen]


class ModuleMuon:
    """Muon over the matrices of a module; those of one shape, or its transpose, are made orthogonal together.

    Most of a step on small matrices is the calls, not the products: a block of Llama has seven matrices of two shapes.
    """

    def __init__(self, matrices: list[nn.Parameter]) -> None:
        groups: dict[tuple[int, ...], list[nn.Parameter]] = {}
        for matrix in matrices:
            groups.setdefault(tuple(sorted(matrix.shape[-2:])), []).append(matrix)
        self._groups = list(groups.values())
        self._momenta = [torch.zeros_like(torch.cat([_wide(matrix) for matrix in group])) for group in self._groups]

    @torch.no_grad()
    def step(self, rate: float) -> None:
        for group, momentum in zip(self._groups, self._momenta, strict=True):
            gradients = [matrix.new_zeros(matrix.shape) if matrix.grad is None else matrix.grad for matrix in group]
            gradient = torch.cat([_wide(matrix) for matrix in gradients])
            momentum.lerp_(gradient, 1 - MOMENTUM)
            updates = orthogonalised(gradient.lerp(momentum, MOMENTUM))
            for matrix, update in zip(group, updates.split([len(_wide(matrix)) for matrix in group]), strict=True):
                tall = matrix.shape[-2] > matrix.shape[-1]
                # A matrix with more rows than columns moves every output as far as a square one would.
                scale = math.sqrt(max(1.0, matrix.shape[-2] / matrix.shape[-1]))
                matrix.sub_((update.mT if tall else update).reshape(matrix.shape), alpha=rate * scale)


def _wide(matrix: Tensor) -> Tensor:
    """A matrix, or a stack of them, as a stack (number x rows x columns) with no more rows than columns."""
    stack = matrix.reshape(-1, *matrix.shape[-2:])
    return stack.mT if stack.shape[-2] > stack.shape[-1] else stack
