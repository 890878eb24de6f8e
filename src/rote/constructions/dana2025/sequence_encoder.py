"""`dana2025.sequence_encoder`, `dana2025.f_ls`, `dana2025.f_wls`: distributions by a table of rank d.

The best sequence encoder is the floor below which no Transformer of its embedding dimension can go (Proposition 1);
the two least-squares encoders are what the slides of 2024 offer in closed form, with their bounds.
"""

from __future__ import annotations

from rote.constructions.construction import Construction, Draft, Options, Request, register_construction
from rote.constructions.dana2025.options import BestEncoderOptions, WeightedOptions, chosen_dim, fitted_encoder
from rote.tasks import DistributionTask


def build_best(request: Request[DistributionTask, BestEncoderOptions]) -> Draft:
    """The best of several starts, by L-BFGS."""
    from rote.constructions.dana2025.best_encoder import best_encoder
    from rote.constructions.dana2025.encoder import encoder_divergence, encoder_model, truth_and_prior

    task, options, dim = request.task, request.options, chosen_dim(request)
    truth, prior = truth_and_prior(task)
    fitted = best_encoder(
        truth, prior, dim,
        seed=request.seed, random_starts=options.random_starts, algorithm=options.algorithm,
        trial_steps=options.trial_steps, steps=options.steps, progress=request.progress,
    )  # fmt: skip
    encoder = fitted.encoder.balanced()
    measured = encoder_divergence(task, encoder) | {"start": fitted.start, "starts": fitted.starts}
    return Draft(encoder_model(encoder, task, request.dtype), measured=measured)


def build_least_squares(request: Request[DistributionTask, Options]) -> Draft:
    """Truncated singular values of log pi."""
    from rote.constructions.dana2025.encoder import encoder_divergence, encoder_model, truth_and_prior
    from rote.constructions.dana2025.least_squares import least_squares, ls_bound, printed_ls_bound

    task, dim = request.task, chosen_dim(request)
    truth, _ = truth_and_prior(task)
    encoder, sigma = least_squares(truth, dim)
    measured = encoder_divergence(task, encoder) | {
        "sigma": sigma,
        "full_support": bool(truth.min() > 0),
        "bound": ls_bound(truth, sigma) if truth.min() > 0 else None,
        "bound_as_printed": printed_ls_bound(truth, sigma) if truth.min() > 0 else None,
    }
    return Draft(encoder_model(encoder, task, request.dtype), measured=measured)


def build_weighted(request: Request[DistributionTask, WeightedOptions]) -> Draft:
    """Alternating exact solves."""
    from rote.constructions.dana2025.encoder import encoder_divergence, encoder_model, truth_and_prior
    from rote.constructions.dana2025.least_squares import (
        expansion_bound,
        least_squares,
        printed_wls_bound,
        weighted_least_squares,
    )

    task, dim = request.task, chosen_dim(request)
    truth, prior = truth_and_prior(task)
    _, sigma = least_squares(truth, dim)
    encoder = weighted_least_squares(truth, prior, dim, request.options.rounds).balanced()
    measured = encoder_divergence(task, encoder) | {
        "sigma": sigma,
        "full_support": bool(truth.min() > 0),
        "bound": expansion_bound(truth, prior, encoder.logits) if truth.min() > 0 else None,
        "bound_as_printed": printed_wls_bound(truth, sigma) if truth.min() > 0 else None,
    }
    return Draft(encoder_model(encoder, task, request.dtype), measured=measured)


register_construction(
    Construction(
        id="dana2025.sequence_encoder",
        summary="best table of rank d: the least divergence any Transformer of that embedding dimension can reach",
        paper="dana2025",
        passage="Definition 1 and Proposition 1",
        unguaranteed="Proposition 1 is a floor under every Transformer, at a divergence that is found by fitting",
        sizes=("dim",),
        tasks=(DistributionTask,),
        build=build_best,
        spec=fitted_encoder,
        options=BestEncoderOptions,
        exact=False,
    )
)
register_construction(
    Construction(
        id="dana2025.f_ls",
        summary="table of rank d by truncated SVD of the centred log-probabilities, with its bound",
        paper="dana2024",
        passage="f_ls",
        unguaranteed="its bound depends on the distributions themselves, and is measured with it",
        sizes=("dim",),
        tasks=(DistributionTask,),
        build=build_least_squares,
        spec=fitted_encoder,
        options=Options,
        exact=False,
    )
)
register_construction(
    Construction(
        id="dana2025.f_wls",
        summary="table of rank d by least squares on log-probabilities, weighted with the probabilities",
        paper="dana2024",
        passage="f_wls",
        unguaranteed="its bound depends on the distributions themselves, and is measured with it",
        sizes=("dim",),
        tasks=(DistributionTask,),
        build=build_weighted,
        spec=fitted_encoder,
        options=WeightedOptions,
        exact=False,
    )
)
