"""`dana2025.sequence_encoder`, `dana2025.f_ls`, `dana2025.f_wls`: distributions by a table of rank d.

The best sequence encoder is the floor below which no Transformer of its embedding dimension can go (Proposition 1);
the two least-squares encoders are what the slides of 2024 offer in closed form, with their bounds.
"""

from __future__ import annotations

from typing import Annotated, Any

import torch
from pydantic import Field

from rote.constructions.construction import Construction, Draft, Options, Request, register
from rote.constructions.dana2025.best_encoder import Algorithm, best_encoder
from rote.constructions.dana2025.encoder import Encoder, expected_divergence, truth_and_prior
from rote.constructions.dana2025.least_squares import (
    expansion_bound,
    least_squares,
    ls_bound,
    printed_ls_bound,
    printed_wls_bound,
    weighted_least_squares,
)
from rote.errors import InputError
from rote.models.model import Model, dtype_named
from rote.models.sequence_encoder import SequenceEncoder
from rote.tasks import AssociationTask, DistributionTask

DEFAULT_DIM = 16
"""Embedding dimension when none is given, or vocab - 1 where that is less: there every distribution is exact."""

PAPER = "Dana, Pydi, Chevaleyre 2025"


class BestEncoderOptions(Options):
    """How hard to look."""

    algorithm: Algorithm = "joint"
    random_starts: Annotated[int, Field(ge=0, le=1000)] = 2
    trial_steps: Annotated[int, Field(ge=1)] = 150
    """L-BFGS steps that every start is given."""
    steps: Annotated[int, Field(ge=1)] = 2000
    """L-BFGS steps that the best start is given."""


class WeightedOptions(Options):
    """Settings of f_wls."""

    rounds: Annotated[int, Field(ge=1)] = 50
    """Alternating solves."""


def distributions_of(request: Request) -> DistributionTask:
    """The request's task; `rote.build` has checked its kind already."""
    if not isinstance(request.task, DistributionTask):
        raise InputError(f"a distribution task is needed here, not a {type(request.task).__name__}")
    return request.task


def positive_dim(dim: int) -> int:
    if dim < 1:
        raise InputError(f"dim: {dim} is below 1; an encoder needs at least one dimension")
    return dim


def chosen_dim(request: Request) -> int:
    """The embedding dimension asked for, or the default."""
    refuse_attention_sizes(request)
    if request.dim is not None:
        return positive_dim(request.dim)
    return min(DEFAULT_DIM, max(1, distributions_of(request).vocab - 1))


def refuse_attention_sizes(request: Request) -> None:
    """A sequence encoder has no heads; asking for some is a misunderstanding worth an error."""
    given = [name for name in ("heads", "head_dim") if getattr(request, name) is not None]
    if given:
        raise InputError(f"{', '.join(given)}: a sequence encoder has no attention heads; leave them out, or use "
                         "dana2025.theorem1_distribution")  # fmt: skip


def encoder_model(encoder: Encoder, task: AssociationTask | DistributionTask, dtype: str) -> Model:
    """An encoder, one row per context of the task, as a model in the dtype that is saved."""
    kind = dtype_named(dtype)
    spec = SequenceEncoder(vocab=task.vocab, context=task.context, contexts=len(task.contexts), dim=encoder.dim)
    weights = {
        "encodings": encoder.embed.to(kind).contiguous(),
        "unembed": encoder.unembed.to(kind).contiguous(),
        "keys": torch.from_numpy(task.contexts).long(),
    }
    return Model(spec, weights, task.vocabulary)


def _measured(task: DistributionTask, encoder: Encoder) -> dict[str, Any]:
    truth, prior = truth_and_prior(task)
    return {
        "divergence_float64": expected_divergence(truth, prior, encoder.logits),
        "uniform": expected_divergence(truth, prior, torch.zeros_like(truth)),
    }


def _best(request: Request) -> Draft:
    task, options, dim = distributions_of(request), request.options, chosen_dim(request)
    truth, prior = truth_and_prior(task)
    found = best_encoder(
        truth, prior, dim,
        seed=request.seed, random_starts=options.random_starts, algorithm=options.algorithm,
        trial_steps=options.trial_steps, steps=options.steps, progress=request.progress,
    )  # fmt: skip
    encoder = found.encoder.balanced()
    measured = _measured(task, encoder) | {"start": found.start, "starts": found.starts}
    return Draft(encoder_model(encoder, task, request.dtype), None, None, measured)


def _least_squares(request: Request) -> Draft:
    task, dim = distributions_of(request), chosen_dim(request)
    truth, _ = truth_and_prior(task)
    encoder, sigma = least_squares(truth, dim)
    measured = _measured(task, encoder) | {
        "sigma": sigma,
        "full_support": bool(truth.min() > 0),
        "bound": ls_bound(truth, sigma) if truth.min() > 0 else None,
        "bound_as_printed": printed_ls_bound(truth, sigma) if truth.min() > 0 else None,
    }
    return Draft(encoder_model(encoder, task, request.dtype), None, None, measured)


def _weighted(request: Request) -> Draft:
    task, dim = distributions_of(request), chosen_dim(request)
    truth, prior = truth_and_prior(task)
    _, sigma = least_squares(truth, dim)
    encoder = weighted_least_squares(truth, prior, dim, request.options.rounds).balanced()
    measured = _measured(task, encoder) | {
        "sigma": sigma,
        "full_support": bool(truth.min() > 0),
        "bound": expansion_bound(truth, prior, encoder.logits) if truth.min() > 0 else None,
        "bound_as_printed": printed_wls_bound(truth, sigma) if truth.min() > 0 else None,
    }
    return Draft(encoder_model(encoder, task, request.dtype), None, None, measured)


register(
    Construction(
        id="dana2025.sequence_encoder",
        summary="best table of rank d: the least divergence any Transformer of that embedding dimension can reach",
        source=f"{PAPER}, Definition 1 and Proposition 1",
        tasks=(DistributionTask,),
        build=_best,
        options=BestEncoderOptions,
        exact=False,
    )
)
register(
    Construction(
        id="dana2025.f_ls",
        summary="table of rank d by truncated SVD of the centred log-probabilities, with its bound",
        source="Dana 2024 (slides), f_ls",
        tasks=(DistributionTask,),
        build=_least_squares,
        exact=False,
    )
)
register(
    Construction(
        id="dana2025.f_wls",
        summary="table of rank d by least squares on log-probabilities, weighted with the probabilities",
        source="Dana 2024 (slides), f_wls",
        tasks=(DistributionTask,),
        build=_weighted,
        options=WeightedOptions,
        exact=False,
    )
)
