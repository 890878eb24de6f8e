"""The solve for an MLP's output matrix, after random attention and a random first MLP layer."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float, Integer
from torch import Tensor

from rote.constructions.common.neurons import Neurons, well_conditioned
from rote.constructions.common.random_attention.draw import draw_embeddings, draw_heads, model_weights, orthonormal_rows
from rote.constructions.common.solvers.least_norm import factor
from rote.constructions.construction import Draft, Request
from rote.constructions.madden2025.sizes import NeuronOptions
from rote.models.forward.attention_only import residual
from rote.models.forward.mlp_transformer import neurons
from rote.models.mlp_transformer import MlpTransformer
from rote.models.model import Model, dtype_named
from rote.models.spec import FORWARD_FLOATS, rows_within
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
    stream = streams(spec, weights, contexts)

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


class OutputMatrix(NamedTuple):
    """A solved W_2, with the rank and condition number of the neurons' outputs on the keys."""

    outer: Float[Tensor, "dim width"]
    rank: int
    condition: float


def streams(
    spec: MlpTransformer, weights: dict[str, Tensor], contexts: Integer[Tensor, "rows context"]
) -> Float[Tensor, "rows dim"]:
    """The residual stream of every context before the MLP."""
    step = rows_within(FORWARD_FLOATS, spec.floats_per_input())
    return torch.cat([residual(spec.attention, weights, some) for some in contexts.split(step)])


def key_features(
    spec: MlpTransformer, weights: dict[str, Tensor], contexts: Integer[Tensor, "rows context"]
) -> tuple[Float[Tensor, "rows dim"], Float[Tensor, "rows width"]]:
    """The residual stream before the MLP and what W_2 reads, of every context, computed in the saved dtype."""
    before = streams(spec, weights, contexts)
    step = rows_within(FORWARD_FLOATS, spec.floats_per_input())
    return before.double(), torch.cat([neurons(spec, weights, 0, some) for some in before.split(step)]).double()


def output_matrix(
    spec: MlpTransformer,
    weights: dict[str, Tensor],
    contexts: Integer[Tensor, "rows context"],
    wanted: Float[Tensor, "rows dim"],
) -> OutputMatrix:
    """The W_2 of least norm that puts the residual stream of every context where it should be."""
    before, features = key_features(spec, weights, contexts)
    factored = factor(features)
    return OutputMatrix(factored.solve(wanted - before).T, factored.rank, factored.condition)
