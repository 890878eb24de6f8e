"""Editing methods on the W_2 of a built model, each as its paper has it.

- exact: the change of least norm that moves one fact and no other, (v - W k) d^T with d the fact's dual vector.
- ROME (Meng et al. 2022): v by gradient steps on the output of the MLP, then the rank-one change
  (v - W k) (C^-1 k)^T / (k^T C^-1 k), C the second moment of keys.
- MEMIT (Meng et al. 2023): (v - W k) k^T (lambda C + k k^T)^-1, in one layer.
- fine-tuning: Adam on W_2 until the answer is right by a margin; with a penalty on the change of other facts' answers.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from studies.mlp_facts import GAIN, MlpFacts

Editor = Callable[[MlpFacts, Tensor, int, int], Tensor]
"""Of the facts with their present answers, W_2, the row and its new answer: the changed W_2."""
STEPS = 25
ENOUGH = 0.02
"""Loss at which an edit stops."""


def exact(facts: MlpFacts, weights: Tensor, row: int, answer: int) -> Tensor:
    """The least-norm change that puts the stream of one fact at the code of its new answer."""
    wanted = facts.unembed[answer] - facts.streams[row] - weights @ facts.keys[row]
    return weights + torch.outer(wanted, facts.duals[:, row])


def value_for(facts: MlpFacts, weights: Tensor, row: int, answer: int, rate: float) -> Tensor:
    """v*: what the MLP should write, by Adam on its output, with weight decay as in ROME's released settings."""
    start = weights @ facts.keys[row]
    change = torch.zeros_like(start, requires_grad=True)
    optimizer = torch.optim.Adam([change], lr=rate)
    target = torch.tensor([answer])
    for _ in range(STEPS):
        logits = GAIN * (facts.streams[row] + start + change) @ facts.unembed.T
        loss = functional.cross_entropy(logits[None], target) + 1e-3 * change.norm() / start.norm() ** 2
        if float(loss.detach()) < ENOUGH:
            break
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            largest = 4 * start.norm()
            if change.norm() > largest:
                change.mul_(largest / change.norm())
    return start + change.detach()


def rome(stored: bool, rate: float = 0.1) -> Editor:
    """With the moment of the stored keys, or of keys that were never stored (as text that does not hold the facts)."""

    def edit(facts: MlpFacts, weights: Tensor, row: int, answer: int) -> Tensor:
        key = facts.keys[row]
        direction = (facts.inverse_stored if stored else facts.inverse_other) @ key
        change = value_for(facts, weights, row, answer, rate) - weights @ key
        return weights + torch.outer(change, direction / (direction @ key))

    return edit


def memit(weight: float = 300.0, rate: float = 0.1) -> Editor:
    def edit(facts: MlpFacts, weights: Tensor, row: int, answer: int) -> Tensor:
        key = facts.keys[row]
        direction = facts.inverse_other @ key
        solved = direction / (weight + direction @ key)  # (weight C + k k^T)^-1 k
        return weights + torch.outer(value_for(facts, weights, row, answer, rate) - weights @ key, solved)

    return edit


def tuned(rate: float, penalty: float = 0.0) -> Editor:
    """Adam on W_2 until the answer is right; with a penalty for all steps.

    The penalty is the divergence of 64 other facts' answers from those before the edit.
    """

    def edit(facts: MlpFacts, weights: Tensor, row: int, answer: int) -> Tensor:
        changed = weights.clone().requires_grad_(True)
        optimizer = torch.optim.Adam([changed], lr=rate)
        generator = torch.Generator().manual_seed(row)
        others = torch.randperm(len(facts.keys), generator=generator)[:64]
        others = others[others != row]
        before = facts.logits(weights, others).log_softmax(1)
        place, target = torch.tensor([row]), torch.tensor([answer])
        for _ in range(STEPS * (2 if penalty else 4)):
            loss = facts.losses(changed, place, target).mean()
            done = not penalty and float(loss.detach()) < ENOUGH
            if penalty:
                after = facts.logits(changed, others).log_softmax(1)
                loss = loss + penalty * functional.kl_div(after, before, log_target=True, reduction="batchmean")
            if done:
                break
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return changed.detach()

    return edit
