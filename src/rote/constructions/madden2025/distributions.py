"""`madden2025.distribution`: next-token distributions by a neuron per context, in dim >= vocab - 1."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import Field

from rote.constructions.construction import Construction, Draft, Request, register_construction
from rote.constructions.madden2025.sizes import NeuronOptions, neurons_spec, solve_may_fail
from rote.errors import CheckFailed, InputError
from rote.models.mlp_transformer import MlpTransformer
from rote.tasks import DistributionTask

ID = "madden2025.distribution"


class MaddenDistributionOptions(NeuronOptions):
    floor: Annotated[float, Field(gt=0, lt=1)] = 1e-6
    """Zeros of pi are raised to this: log 0 has no finite logit, and float32 needs logits of moderate size."""
    tolerance: Annotated[float, Field(gt=0)] = 1e-3
    """Expected divergence in nats above which the model is rejected, beyond what the floor costs."""


def layer_for(request: Request[DistributionTask, MaddenDistributionOptions]) -> MlpTransformer:
    """A neuron per context, in dim vocab - 1 unless a larger one is given."""
    task = request.task
    dim = request.dim or max(2, task.vocab - 1)
    if dim < task.vocab - 1:
        raise InputError(
            f"{ID}: dim {dim} is below vocab - 1 = {task.vocab - 1}: logits of rank {dim} cannot be anything at all, "
            "however many neurons there are. Raise `dim`, or use dana2025.theorem1_distribution"
        )
    return neurons_spec(request, task.facts, dim)


def build(request: Request[DistributionTask, MaddenDistributionOptions]) -> Draft:
    """As many contexts' next-token distributions as neurons."""
    import torch

    from rote.constructions.dana2025.encoder import exact_encoder, truth_and_prior
    from rote.constructions.madden2025.solve import solve
    from rote.measure.divergence import divergence

    task, options, spec = request.task, request.options, layer_for(request)
    truth, _ = truth_and_prior(task)
    encoder = exact_encoder(truth, spec.dim, options.floor)
    generator = torch.Generator().manual_seed(request.seed)
    contexts = torch.from_numpy(task.contexts).long()
    draft = solve(request, spec, contexts, encoder.unembed, encoder.embed, generator)
    reached = divergence(draft.model, task).expected
    # Raising zeros to the floor alone costs up to log(1 + N floor).
    allowed = options.tolerance + math.log1p(task.vocab * options.floor)
    if not reached <= allowed:
        raise CheckFailed(
            f"{ID}: expected divergence {reached:.3g} nats in {request.dtype} exceeds {allowed:.3g} (measured: "
            f"{draft.measured}); give `width` above the number of contexts ({task.facts}), or `dtype=float64`"
        )
    return draft


register_construction(
    Construction(
        id=ID,
        summary="one attention layer and an MLP with a neuron per context: next-token distributions, dim >= vocab - 1",
        paper="madden2025",
        meets="madden2025.lower",
        tasks=(DistributionTask,),
        build=build,
        spec=layer_for,
        size_may_differ=solve_may_fail,
        quick_facts=3_000,
        options=MaddenDistributionOptions,
        exact=False,
    )
)
