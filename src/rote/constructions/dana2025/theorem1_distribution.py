"""Theorem 1 of Dana, Pydi and Chevaleyre 2025 for distributions: one attention layer meets the best sequence encoder.

With p = Hk + d contexts or fewer (eps = 0) W_O solves F B = E for the best encoder's E, so the divergence is the
encoder's own. With more contexts than features (eps > 0, eps the prior of what is left out) the paper solves for the
likeliest and lets the others fall where they may, which was worse than predicting uniform in nearly every case tried
(docs/statements.md); fitting W_O to the divergence over all contexts is convex and far better.
"""

from __future__ import annotations

import numpy as np

from rote.constructions.construction import Construction, Draft, Request, register_construction
from rote.constructions.dana2025.options import DEFAULT_DIM, Theorem1DistributionOptions
from rote.models.attention_only import AttentionOnly
from rote.tasks import DistributionTask
from rote.theory.dana2025 import guaranteed
from rote.theory.sizes import theorem1_spec, widest_head


def covering(prior: np.ndarray, epsilon: float) -> int:
    """T_eps: the fewest contexts whose prior sums to at least 1 - eps."""
    if epsilon == 0:
        return int((prior > 0).sum())
    total = np.cumsum(np.sort(prior)[::-1])
    return min(len(prior), int(np.searchsorted(total, 1 - epsilon - 1e-12)) + 1)


def distribution_spec(request: Request[DistributionTask, Theorem1DistributionOptions]) -> AttentionOnly:
    """Sizes: given heads are taken as they are; otherwise the fewest that meet T_eps contexts exactly."""
    task = request.task
    default = max(min(DEFAULT_DIM, max(1, task.vocab - 1)), request.head_dim or 0)
    dim = request.dim or default
    facts = covering(task.prior, request.options.epsilon)
    shape = task.shape.model_copy(update={"associations": facts})
    if request.heads is None:
        return theorem1_spec(shape, dim, request.head_dim)
    head_dim = min(dim, widest_head(shape)) if request.head_dim is None else request.head_dim
    return AttentionOnly(vocab=task.vocab, context=task.context, dim=dim, head_dim=head_dim, heads=request.heads)


def build(request: Request[DistributionTask, Theorem1DistributionOptions]) -> Draft:
    """The best encoder, then W_O that meets it or comes near."""
    from rote.constructions.dana2025.distribution_fit import fit_distribution

    spec = distribution_spec(request)
    model, measured = fit_distribution(request, spec)
    return Draft(model, guaranteed(spec), measured)


register_construction(
    Construction(
        id="dana2025.theorem1_distribution",
        summary="one attention layer at the divergence of the best sequence encoder; near it with fewer heads",
        paper="dana2025",
        passage="Theorem 1; convex fit for eps > 0 by rote",
        meets="dana2025.theorem1_distributions",
        tasks=(DistributionTask,),
        build=build,
        spec=distribution_spec,
        options=Theorem1DistributionOptions,
        exact=False,
    )
)
