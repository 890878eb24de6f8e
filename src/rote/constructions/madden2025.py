"""Madden, Fox and Thrampoulidis 2025: one layer with m MLP neurons stores at least m contexts.

Random attention makes contexts distinct, a random first MLP layer makes their neurons independent, and one linear
solve for the MLP's output matrix W_2 then puts the residual stream of every context where it should be:

    r(t) + W_2 sigma(W_1 r(t) + b) = E(t),      logits(t) = W_U E(t),

r(t) the stream after attention. For associations E(t) is the answer's code, in any dim from 2 on. For distributions
W_U E(t) must be log pi_t up to a shift, at will only if dim >= vocab - 1: below that W_U has too small a rank for any
number of neurons (Proposition 2 of Dana et al. 2025). Notation: m is `width`.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal

import torch
from jaxtyping import Float, Integer
from pydantic import Field
from torch import Tensor

from rote.constructions.construction import Construction, Draft, Options, Request, register
from rote.constructions.dana2025.encoder import truth_and_prior
from rote.constructions.dana2025.proposition2 import exact_encoder
from rote.constructions.parts.neurons import Neurons, well_conditioned
from rote.constructions.parts.random_attention.codes import answer_code
from rote.constructions.parts.random_attention.draw import draw_embeddings, draw_heads, model_weights, orthonormal_rows
from rote.errors import CheckFailed, InputError
from rote.measure.divergence import divergence
from rote.measure.streaming import WORKING_FLOATS
from rote.models.forward.attention_only import residual
from rote.models.forward.mlp_transformer import neurons
from rote.models.mlp_transformer import MlpTransformer
from rote.models.model import Model, dtype_named
from rote.tasks import AssociationTask, DistributionTask
from rote.theory.sizes import COMFORTABLE_DIM, widest_head

PAPER = "Madden, Fox, Thrampoulidis 2025"


class NeuronOptions(Options):
    """Settings of both constructions."""

    width: Annotated[int, Field(ge=1)] | None = None
    """MLP neurons; as many as contexts when absent, which is the least that is promised to work."""
    activation: Literal["gelu", "relu"] = "gelu"
    score_std: Annotated[float, Field(gt=0)] = 1.0
    """Standard deviation of attention scores: small ones keep every position in view."""
    draws: Annotated[int, Field(ge=1)] = 5
    """First MLP layers drawn at most; the best-conditioned is kept."""


class MaddenDistributionOptions(NeuronOptions):
    """Settings for distributions."""

    floor: Annotated[float, Field(gt=0, lt=1)] = 1e-6
    """Zeros of pi are raised to this: log 0 has no finite logit, and float32 needs logits of moderate size."""
    tolerance: Annotated[float, Field(gt=0)] = 1e-3
    """Expected divergence in nats above which the model is refused, beyond what the floor costs."""


def build_associations(request: Request) -> Draft:
    """As many facts as neurons, by their answers' codes."""
    task = request.task
    if not isinstance(task, AssociationTask):
        raise InputError(f"madden2025: an association task is needed, not a {type(task).__name__}")
    task = task.majority()
    spec = _spec(request, task, request.dim or COMFORTABLE_DIM)
    if spec.dim == 1 and task.shape.answers > 2:
        raise InputError(f"madden2025: dim 1 has room for two answers, not {task.shape.answers}; give 2 or more")
    generator = torch.Generator().manual_seed(request.seed)
    code = answer_code(task.vocab, spec.dim, generator)
    contexts = torch.from_numpy(task.contexts).long()
    return _solve(request, spec, contexts, code, code[torch.from_numpy(task.answers).long()], generator)


def build_distributions(request: Request) -> Draft:
    """As many contexts' next-token distributions as neurons."""
    task = request.task
    if not isinstance(task, DistributionTask):
        raise InputError(f"madden2025.distribution: a distribution task is needed, not a {type(task).__name__}")
    least = max(2, task.vocab - 1)
    dim = request.dim or least
    if dim < task.vocab - 1:
        raise InputError(
            f"madden2025.distribution: dim {dim} is below vocab - 1 = {task.vocab - 1}: logits of rank {dim} cannot be "
            "anything at all, however many neurons there are. Raise --dim, or use dana2025.theorem1_distribution"
        )
    truth, _ = truth_and_prior(task)
    encoder = exact_encoder(truth, dim, request.options.floor)
    generator = torch.Generator().manual_seed(request.seed)
    contexts = torch.from_numpy(task.contexts).long()
    draft = _solve(request, _spec(request, task, dim), contexts, encoder.unembed, encoder.embed, generator)
    measured = divergence(draft.model, task).expected
    # Raising zeros to the floor alone costs up to log(1 + N floor).
    allowed = request.options.tolerance + math.log1p(task.vocab * request.options.floor)
    if not measured <= allowed:
        raise CheckFailed(
            f"madden2025.distribution: expected divergence {measured:.3g} nats in {request.dtype} exceeds "
            f"{allowed:.3g} (measured: {draft.measured}); give --width above the number of contexts, or "
            "--dtype float64"
        )
    return draft


def _spec(request: Request, task: AssociationTask | DistributionTask, dim: int) -> MlpTransformer:
    contexts, width = task.facts, request.options.width or task.facts
    if width < contexts:
        raise InputError(
            f"madden2025: {contexts} contexts but {width} neurons; the solve for W_2 has one unknown row per neuron, "
            f"so it needs --width {contexts} or more"
        )
    return MlpTransformer(
        vocab=task.vocab,
        context=task.context,
        dim=dim,
        head_dim=request.head_dim or min(dim, widest_head(task.shape)),
        heads=request.heads or 1,
        width=width,
        activation=request.options.activation,
    )


def _solve(
    request: Request,
    spec: MlpTransformer,
    contexts: Integer[Tensor, "rows context"],
    unembed: Float[Tensor, "vocab dim"],
    wanted: Float[Tensor, "rows dim"],
    generator: torch.Generator,
) -> Draft:
    """All weights; those that neurons are computed from are rounded to the saved dtype first."""
    options, dtype = request.options, dtype_named(request.dtype)
    embeddings = draw_embeddings(spec.attention, dtype, generator)
    heads = draw_heads(spec.heads, spec.attention, options.score_std, dtype, generator)
    output = orthonormal_rows(spec.heads, spec.head_dim, spec.dim, generator).transpose(1, 2)
    weights = model_weights(embeddings, heads, output, unembed)
    step = max(1, WORKING_FLOATS // spec.floats_per_input())
    stream = torch.cat([residual(spec.attention, weights, some) for some in contexts.split(step)])

    def first_layer(drawn: Neurons) -> dict[str, Tensor]:
        return {"layers.0.mlp_in": drawn.inner.to(dtype), "layers.0.mlp_bias": drawn.bias.to(dtype)}

    def features(drawn: Neurons) -> Tensor:
        layer = first_layer(drawn)
        return torch.cat([neurons(spec, layer, 0, some) for some in stream.split(step)]).double()

    with request.progress.stage("solving for the MLP"):
        solvable = well_conditioned(stream.double(), spec.width, features, options.draws, generator, "madden2025")
        # W_U as it is saved differs from the code by its rounding only, which no E(t) could undo.
        outer = solvable.factored.solve(wanted - stream.double()).T
    weights |= first_layer(solvable.neurons)
    weights["layers.0.mlp_out"] = outer.to(dtype).contiguous()
    vocabulary = request.task.vocabulary  # pyright: ignore[reportAttributeAccessIssue]
    measured = {
        "neurons": spec.width,
        "contexts": len(contexts),
        "condition": solvable.factored.condition,
        "draws": solvable.draws,
        "largest_output_weight": float(outer.abs().max()),
    }
    return Draft(Model(spec, weights, vocabulary), "madden2025.lower", spec.width, measured)


register(
    Construction(
        id="madden2025",
        summary="one attention layer and an MLP with a neuron per fact: random but for one linear solve",
        source=PAPER,
        tasks=(AssociationTask,),
        build=build_associations,
        options=NeuronOptions,
    )
)
register(
    Construction(
        id="madden2025.distribution",
        summary="one attention layer and an MLP with a neuron per context: next-token distributions, dim >= vocab - 1",
        source=PAPER,
        tasks=(DistributionTask,),
        build=build_distributions,
        options=MaddenDistributionOptions,
        exact=False,
    )
)
