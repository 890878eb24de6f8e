"""The solve for an MLP's output matrix, after random attention and a random first MLP layer."""

from __future__ import annotations

import torch
from jaxtyping import Float, Integer
from torch import Tensor

from rote.constructions.common.neurons import Neurons, well_conditioned
from rote.constructions.common.random_attention.draw import draw_embeddings, draw_heads, model_weights, orthonormal_rows
from rote.constructions.construction import Draft, Request
from rote.constructions.madden2025.sizes import NeuronOptions
from rote.models.budget import FORWARD_FLOATS, rows_within
from rote.models.forward.attention_only import residual
from rote.models.forward.mlp_transformer import neurons
from rote.models.mlp_transformer import MlpTransformer
from rote.models.model import Model, dtype_named
from rote.tasks import TokenTask


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
