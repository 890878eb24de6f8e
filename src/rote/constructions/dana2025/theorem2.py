"""Theorem 2: distributions that are nearly a look-up table g, by E(t) = lambda(t) W_g(t) with nearly orthogonal rows.

With h the Shannon entropy of pi_t, q = 1 - pi(g(t)|t) and gap_j = (W_g - W_j) . W_g, lambda(t) solves

    h = log sum_j exp(-lambda gap_j),                                                             (6)

after which the divergence is lambda E[gap], so that

    d_KL <= E_t[ q log((N - 1) / (e^h - 1)) ] x largest gap / smallest gap.

For rows with |W W^T - I| <= C everywhere the last factor is at most (1 + 2C) / (1 - 2C), and it needs C < 1/2. The
paper writes H for -h and has a total-variation term that is not needed; see docs/errata.md. Its constant
C = sqrt(32 ln(N + 1) / d) is below 1/2 only for d > 128 ln(N + 1), and since d >= N - 1 gives 0 anyway (Proposition 2)
that bound says something only from N = 869 on. Choosing lambda(t) by direct minimisation is never worse than (6).
"""

from __future__ import annotations

from typing import Any, Literal

from rote.constructions.construction import Construction, Draft, Options, Request, register_construction
from rote.constructions.dana2025.options import chosen_dim, fitted_encoder
from rote.tasks import DistributionTask


class Theorem2Options(Options):
    rows: Literal["unit", "gaussian"] = "unit"
    """Random rows of length one, or with independent Gaussian entries of variance 1/d as the paper's lemma has them;
    orthonormal in either case when dim >= vocab."""
    scale: Literal["direct", "entropy"] = "direct"
    """lambda(t) that minimises the divergence, or the solution of equation (6)."""


def build(request: Request[DistributionTask, Theorem2Options]) -> Draft:
    """Random rows, then lambda(t) for every context."""
    import torch

    from rote.constructions.dana2025.encoder import encoder_divergence, encoder_model, truth_and_prior
    from rote.constructions.dana2025.lookup_encoder import (
        corrected_bound,
        lookup_encoder,
        measured_bound,
        printed_constant,
        random_rows,
    )

    task, options, dim = request.task, request.options, chosen_dim(request)
    truth, prior = truth_and_prior(task)
    answers = truth.argmax(1)
    generator = torch.Generator().manual_seed(request.seed)
    rows = random_rows(task.vocab, dim, options.rows, generator)
    encoder, _ = lookup_encoder(truth, answers, rows, options.scale)
    constant = printed_constant(task.vocab, dim)
    coherence = float((rows @ rows.T - torch.eye(task.vocab, dtype=rows.dtype)).abs().max())
    measured: dict[str, Any] = {
        **encoder_divergence(task, encoder),
        "constant_printed": constant,
        "constant_measured": coherence,
        "bound_printed_constant": corrected_bound(truth, prior, answers, constant),
        "bound_measured": measured_bound(truth, prior, answers, rows),
    }
    return Draft(encoder_model(encoder, task, request.dtype), measured=measured)


register_construction(
    Construction(
        id="dana2025.theorem2",
        summary="a table for distributions that are nearly a look-up table: scaled, nearly orthogonal rows",
        paper="dana2025",
        passage="Theorem 2 (corrected)",
        meets="dana2025.theorem2",
        sizes=("dim",),
        tasks=(DistributionTask,),
        build=build,
        spec=fitted_encoder,
        options=Theorem2Options,
        exact=False,
    )
)
