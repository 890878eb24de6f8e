"""Unlearning methods on the W_2 of a built model, and the usual metrics of what is left.

Gradient ascent on the forget set; gradient difference (ascent there, descent on the rest); NPO (Zhang et al. 2024),
-(2 / beta) log sigma(-beta log(p / p_start)) on the forget set with descent on the rest.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from scipy.stats import ks_2samp
from torch import Tensor
from torch.nn import functional

from studies.mlp_facts import MlpFacts

Unlearner = Callable[[MlpFacts, Tensor, Tensor], Tensor]
"""Of the facts, the forget set and the rest: the changed W_2."""
STEPS = 150
BETA = 0.1


def _descended(facts: MlpFacts, loss_of: Callable[[Tensor], Tensor], forget: Tensor, rate: float) -> Tensor:
    """Adam until no fact of the forget set is answered, and 20 % further."""
    weights = facts.weights.clone().requires_grad_(True)
    optimizer = torch.optim.Adam([weights], lr=rate)
    left = STEPS
    for step in range(STEPS):
        optimizer.zero_grad()
        loss_of(weights).backward()
        optimizer.step()
        if left == STEPS and not bool(facts.right(weights.detach())[forget].any()):
            left = step + 1 + max(2, step // 5)
        if step + 1 >= left:
            break
    return weights.detach()


def ascent(rate: float = 1e-3) -> Unlearner:
    return lambda facts, forget, rest: _descended(facts, lambda w: -facts.losses(w, forget).mean(), forget, rate)


def difference(rate: float = 1e-3) -> Unlearner:
    def unlearn(facts: MlpFacts, forget: Tensor, rest: Tensor) -> Tensor:
        return _descended(facts, lambda w: facts.losses(w, rest).mean() - facts.losses(w, forget).mean(), forget, rate)

    return unlearn


def npo(rate: float = 1e-3) -> Unlearner:
    def unlearn(facts: MlpFacts, forget: Tensor, rest: Tensor) -> Tensor:
        start = facts.losses(facts.weights, forget)

        def loss(weights: Tensor) -> Tensor:
            ratio = start - facts.losses(weights, forget)
            return -(2 / BETA) * functional.logsigmoid(-BETA * ratio).mean() + facts.losses(weights, rest).mean()

        return _descended(facts, loss, forget, rate)

    return unlearn


def truth_ratios(facts: MlpFacts, weights: Tensor, rows: Tensor, wrong: Tensor) -> np.ndarray:
    """Probability of wrong answers (geometric mean) over that of the right one, per fact."""
    logs = facts.logits(weights, rows).log_softmax(1)
    right = logs.gather(1, facts.answers[rows][:, None])[:, 0]
    return (logs.gather(1, wrong).mean(1).exp() / (right.exp() + 1e-10)).numpy()


def auc(positive: np.ndarray, negative: np.ndarray) -> float:
    """Probability that a positive scores higher than a negative, ties by half."""
    more = (positive[:, None] > negative[None]).mean()
    return float(more + 0.5 * (positive[:, None] == negative[None]).mean())


def metrics(
    facts: MlpFacts, weights: Tensor, forget: Tensor, wrong: Tensor, reference: np.ndarray, outside: Tensor
) -> dict[str, float]:
    """Each is larger the more knowledge it sees. `outside` are losses of held-out facts under the same weights."""
    ratios = truth_ratios(facts, weights, forget, wrong)
    losses = facts.losses(weights, forget)
    quality = ks_2samp(1 / (ratios + 1e-10), 1 / (reference + 1e-10)).pvalue
    return {
        "forget quality (KS)": -float(np.log10(max(quality, 1e-300))),
        "truth ratio": -float(np.minimum(ratios, 1 / (ratios + 1e-10)).mean()),
        "membership (loss)": auc(-losses.numpy(), -outside.numpy()),
        "probability": float((-losses).exp().mean()),
        "exact memorization": float(facts.right(weights)[forget].double().mean()),
    }


def rounded(weights: Tensor, kind: str) -> Tensor:
    """W_2 in bfloat16, or on a grid of so many bits with one scale per row."""
    if kind == "bfloat16":
        return weights.to(torch.bfloat16).double()
    levels = 2 ** (int(kind.removeprefix("int")) - 1) - 1
    scale = weights.abs().amax(1, keepdim=True) / levels
    return (weights / scale).round() * scale
