"""Proposition 2: with d >= N - 1 a sequence encoder meets every distribution exactly.

log pi_t less its mean lies in the N - 1 dimensions orthogonal to (1, ..., 1). W holds an orthonormal basis of them
(Helmert's) and E(t) the coordinates, so W E(t) = log pi_t up to a shift that a softmax does not see.
"""

from __future__ import annotations

from typing import Annotated

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from rote.constructions.construction import Construction, Draft, Options, Request, register
from rote.constructions.dana2025.encoder import Encoder, centred_log, expected_divergence, truth_and_prior
from rote.constructions.dana2025.sequence_encoder import PAPER, distributions_of, encoder_model, refuse_attention_sizes
from rote.errors import InputError
from rote.tasks import DistributionTask


class Proposition2Options(Options):
    """Settings of Proposition 2."""

    floor: Annotated[float, Field(gt=0, lt=1)] = 1e-12
    """Zeros of pi are raised to this: log 0 has no finite logit. It costs at most N times as much divergence."""


def helmert(vocab: int) -> Float[Tensor, "vocab less"]:
    """An orthonormal basis of what is orthogonal to (1, ..., 1): column j sets token j against those before it."""
    place = torch.arange(1, vocab, dtype=torch.float64)
    basis = torch.ones(vocab, vocab - 1, dtype=torch.float64).triu()
    basis[torch.arange(1, vocab), torch.arange(vocab - 1)] = -place
    return basis / (place * (place + 1)).sqrt()


def exact_encoder(truth: Float[Tensor, "contexts vocab"], dim: int, floor: float = 1e-12) -> Encoder:
    """W E(t) = log pi_t up to a shift, in dim >= vocab - 1 dimensions."""
    vocab = truth.shape[1]
    basis = helmert(vocab)
    spare = (0, dim - basis.shape[1])
    return Encoder(
        torch.nn.functional.pad(basis, spare),
        torch.nn.functional.pad(centred_log(truth, floor) @ basis, spare),
    )


def _build(request: Request) -> Draft:
    refuse_attention_sizes(request)
    task = distributions_of(request)
    dim = max(1, task.vocab - 1) if request.dim is None else request.dim
    if dim < task.vocab - 1:
        raise InputError(
            f"dim: {dim} is below vocab - 1 = {task.vocab - 1}; Proposition 2 needs that much, and below it some "
            "distributions cannot be met. Raise dim, or use dana2025.sequence_encoder"
        )
    truth, prior = truth_and_prior(task)
    encoder = exact_encoder(truth, dim, request.options.floor)
    measured = {"divergence_float64": expected_divergence(truth, prior, encoder.logits)}
    return Draft(encoder_model(encoder, task, request.dtype), None, None, measured)


register(
    Construction(
        id="dana2025.proposition2",
        summary="a table of dimension N - 1 that meets every distribution exactly",
        source=f"{PAPER}, Proposition 2",
        tasks=(DistributionTask,),
        build=_build,
        options=Proposition2Options,
        exact=False,
    )
)
