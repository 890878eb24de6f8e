"""Proposition 3: two dimensions hold any number of associations, as a sequence encoder.

Answers stand on a circle, W_n = (cos, sin), and E(t) = scale times the row of t's answer: every other answer's logit is
less by at least scale (1 - cos(2 pi / m)), m the number of answers on the circle. Tokens that are no answer stand at
the centre, which leaves the circle to those that are. The proof lets the scale go to infinity; here it is the
least at which the divergence falls below what was asked for.
"""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
import torch
from pydantic import Field

from rote.constructions.construction import Construction, Draft, Options, Request, register
from rote.constructions.dana2025.encoder import Encoder
from rote.constructions.dana2025.sequence_encoder import PAPER, encoder_model, refuse_attention_sizes
from rote.errors import InputError
from rote.tasks import AssociationTask


class Proposition3Options(Options):
    """Settings of Proposition 3."""

    divergence: Annotated[float, Field(gt=0, le=1)] = 1e-6
    """Divergence, in nats, at which the scale is large enough. Recall does not depend on it."""


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


def _build(request: Request) -> Draft:
    refuse_attention_sizes(request)
    if request.dim not in (None, 2):
        raise InputError(f"dim: {request.dim}; Proposition 3 is about dim 2, where a circle holds every answer")
    if not isinstance(request.task, AssociationTask):
        raise InputError(f"an association task is needed here, not a {type(request.task).__name__}")
    task = request.task.majority()
    encoder, measured = circle_encoder(task.answers, task.vocab, request.options.divergence)
    return Draft(encoder_model(encoder, task, request.dtype), None, None, dict(measured))


register(
    Construction(
        id="dana2025.proposition3",
        summary="a table of dimension 2, answers on a circle: every association, one row for each",
        source=f"{PAPER}, Proposition 3",
        tasks=(AssociationTask,),
        build=_build,
        options=Proposition3Options,
    )
)
