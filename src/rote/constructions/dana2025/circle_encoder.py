"""The sequence encoder of Proposition 3: answers on a circle, contexts on the ray of their answer."""

from __future__ import annotations

import math

import numpy as np
import torch

from rote.constructions.dana2025.encoder import Encoder


def circle_encoder(answers: np.ndarray, vocab: int, divergence: float = 1e-6) -> tuple[Encoder, dict[str, float | int]]:
    """The encoder of these answers, one row for each, with what was measured on the way."""
    used = np.unique(answers)
    angle = 2 * math.pi * torch.arange(len(used), dtype=torch.float64) / len(used)
    circle = torch.stack([angle.cos(), angle.sin()], 1)
    gaps = torch.cat([1 - angle[1:].cos(), torch.ones(vocab - len(used), dtype=torch.float64)])
    scale = _scale(gaps, divergence)
    unembed = torch.zeros(vocab, 2, dtype=torch.float64)
    unembed[torch.from_numpy(used).long()] = circle
    embed = scale * circle[torch.from_numpy(np.searchsorted(used, answers))]
    smallest = float(gaps.min()) if len(gaps) else math.inf
    return Encoder(unembed, embed), {"scale": scale, "answers": len(used), "smallest_gap": smallest}


def _scale(gaps: torch.Tensor, divergence: float) -> float:
    """The least s with log(1 + sum_j exp(-s gap_j)) <= divergence: every context has the same gaps."""
    if not len(gaps):
        return 1.0
    low, high = 0.0, math.log(len(gaps) / math.expm1(divergence)) / float(gaps.min())
    for _ in range(80):
        middle = (low + high) / 2
        if float(torch.log1p((-middle * gaps).exp().sum())) > divergence:
            low = middle
        else:
            high = middle
    return high
