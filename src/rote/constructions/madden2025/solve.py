"""The solve for an MLP's output matrix, after random attention and a random first MLP layer of a neuron per context."""

from __future__ import annotations

from typing import Annotated, Literal

import torch
from jaxtyping import Float, Integer
from pydantic import Field
from torch import Tensor

from rote.constructions.common.neurons import Neurons, well_conditioned
from rote.constructions.common.random_attention.draw import draw_embeddings, draw_heads, model_weights, orthonormal_rows
from rote.constructions.construction import Draft, Options, Request
from rote.errors import InputError
from rote.models.budget import FORWARD_FLOATS, rows_within
from rote.models.forward.attention_only import residual
from rote.models.forward.mlp_transformer import neurons
from rote.models.mlp_transformer import MlpTransformer
from rote.models.model import Model, dtype_named
from rote.tasks import TokenTask
from rote.theory.sizes import widest_head


class NeuronOptions(Options):
    """Settings of both constructions."""

    width: Annotated[int, Field(ge=1)] | None = None
    """MLP neurons. Default: one per context, the fewest that are guaranteed to work."""
    activation: Literal["gelu", "relu"] = "gelu"
    score_std: Annotated[float, Field(gt=0)] = 1.0
    """Standard deviation of attention scores: small ones keep every position in view."""
    draws: Annotated[int, Field(ge=1)] = 5
    """First MLP layers drawn at most; the best-conditioned is kept."""


def neurons_spec(request: Request[TokenTask, NeuronOptions], contexts: int, dim: int) -> MlpTransformer:
    """The specification, with default sizes chosen; fewer neurons than contexts are rejected here."""
    task, width = request.task, request.options.width or contexts
    if width < contexts:
        raise InputError(
            f"madden2025: {contexts} contexts but {width} neurons; the solve for W_2 has one unknown row per neuron, "
            f"so it needs `width={contexts}` or more; leave it out to have as many as contexts"
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


def solve_may_fail(request: Request[TokenTask, NeuronOptions]) -> str:
    return f"as many neurons as contexts: whether {request.dtype} carries the solve is seen when it is made"


def solve(
    request: Request[TokenTask, NeuronOptions],
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
    step = rows_within(FORWARD_FLOATS, spec.floats_per_input())
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
    measured = {
        "neurons": spec.width,
        "contexts": len(contexts),
        "condition": solvable.factored.condition,
        "draws": solvable.draws,
        "largest_output_weight": float(outer.abs().max()),
    }
    return Draft(Model(spec, weights, request.task.vocabulary), spec.width, measured)
