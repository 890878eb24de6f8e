"""Heads that are the neurons of a memory: the first layer's gathering, and the solve for what the second writes.

The arrangement of the stream is explained in `memory`.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Integer
from torch import Tensor

from rote.constructions.common.neurons import Neurons, well_conditioned
from rote.constructions.common.random_attention.codes import answer_code
from rote.constructions.common.random_attention.draw import gaussian
from rote.constructions.common.saturation import UNSEEN
from rote.constructions.construction import Draft, Request
from rote.constructions.huben2023.options import FLAGS, ID, MemoryOptions
from rote.models.attention_only import AttentionOnly
from rote.models.forward.attention_only import head_values, heads_output, layer_heads
from rote.models.model import Model, dtype_named
from rote.models.spec import FORWARD_FLOATS, rows_within
from rote.tasks import AssociationTask

GATHERING = 64
"""Heads of the first layer that gather at most; the others stay zero, since a few tell contexts apart."""


@dataclass(frozen=True)
class Parts:
    """Which coordinates of the stream hold what."""

    dim: int

    @property
    def content(self) -> slice:
        return slice(0, (self.dim - FLAGS) // 2)

    @property
    def gathered(self) -> slice:
        return slice((self.dim - FLAGS) // 2, self.dim - FLAGS)

    @property
    def middle(self) -> int:
        return self.dim - 2

    @property
    def last(self) -> int:
        return self.dim - 1


def solve_heads(request: Request[AssociationTask, MemoryOptions], task: AssociationTask, spec: AttentionOnly) -> Draft:
    """All weights for `task`, which is the request's with one answer per key."""
    parts, dtype = Parts(spec.dim), dtype_named(request.dtype)
    generator = torch.Generator().manual_seed(request.seed)
    weights = _first_layer(spec, parts, request.options.score_std, dtype, generator)
    code = answer_code(task.vocab, spec.dim, generator)
    contexts = torch.from_numpy(task.contexts).long()
    rows = contexts.split(rows_within(FORWARD_FLOATS, spec.floats_per_input()))
    reads = _resting_read(spec, parts, weights)
    streams = [_after_first(weights, some) for some in rows]
    last = torch.cat([stream[:, -1] for stream in streams]).double()

    def features(drawn: Neurons) -> Tensor:
        heads = _neuron_heads(spec, parts, weights, reads, drawn, dtype)
        values = [head_values(heads, stream[:, -1:], stream).flatten(1) for stream in streams]
        return torch.cat(values).double()

    with request.progress.stage("solving for the neurons' heads"):
        solvable = well_conditioned(last @ reads.T, spec.heads, features, request.options.draws, generator, ID)
        outer = solvable.factored.solve(code[torch.from_numpy(task.answers).long()] - last)
    heads = _neuron_heads(spec, parts, weights, reads, solvable.neurons, dtype)
    weights |= {f"layers.1.{name}": tensor for name, tensor in heads.items()}
    weights |= {"layers.1.output": outer[:, :, None].to(dtype).contiguous(), "unembed": code.to(dtype)}
    measured = {
        "neurons": spec.heads,
        "gathering_heads": min(spec.heads, GATHERING),
        "condition": solvable.factored.condition,
        "draws": solvable.draws,
        "largest_output_weight": float(outer.abs().max()),
    }
    return Draft(Model(spec, weights, task.vocabulary), spec.heads, measured)


def _first_layer(
    spec: AttentionOnly, parts: Parts, score_std: float, dtype: torch.dtype, generator: torch.Generator
) -> dict[str, Tensor]:
    """Random content, flags in the positions, and heads that gather."""
    size, active = parts.content.stop, min(spec.heads, GATHERING)
    tokens = torch.zeros(spec.vocab, spec.dim, dtype=torch.float64)
    positions = torch.zeros(spec.context, spec.dim, dtype=torch.float64)
    tokens[:, parts.content] = gaussian((spec.vocab, size), generator)
    positions[:, parts.content] = gaussian((spec.context, size), generator)
    positions[1:-1, parts.middle] = 1.0
    positions[-1, parts.last] = 1.0
    query, key, value = (torch.zeros(spec.heads, 1, spec.dim, dtype=torch.float64) for _ in range(3))
    output = torch.zeros(spec.heads, spec.dim, 1, dtype=torch.float64)
    # Coordinates of x have variance 2, so q . x and k . x have 2 each with unit rows: their product has deviation 2.
    for maps, scale in ((query, score_std / 2), (key, 1.0), (value, 1.0)):
        rows = gaussian((active, size), generator)
        maps[:active, 0, parts.content] = scale * rows / rows.norm(dim=1, keepdim=True)
    gathered = parts.gathered.stop - parts.gathered.start
    output[:active, parts.gathered, 0] = gaussian((active, gathered), generator) / active**0.5
    layer = {"query": query, "key": key, "value": value, "output": output}
    weights = {"tokens": tokens, "positions": positions} | {f"layers.0.{name}": part for name, part in layer.items()}
    return {name: tensor.to(dtype) for name, tensor in weights.items()}


def _after_first(
    weights: dict[str, Tensor], contexts: Integer[Tensor, "rows context"]
) -> Float[Tensor, "rows context dim"]:
    """The stream at every position after the first layer."""
    stream = weights["tokens"][contexts] + weights["positions"]
    return stream + heads_output(layer_heads(weights, 0), stream, last_only=False)


def _resting_read(spec: AttentionOnly, parts: Parts, weights: dict[str, Tensor]) -> Float[Tensor, "gathered dim"]:
    """The matrix that reads u = g - M x off the stream."""
    heads = layer_heads(weights, 0)
    M = (heads["output"].double() @ heads["value"].double()).sum(0)[parts.gathered, parts.content]
    reads = torch.zeros(len(M), spec.dim, dtype=torch.float64)
    reads[:, parts.content] = -M
    reads[:, parts.gathered] = torch.eye(len(M), dtype=torch.float64)
    return reads


def _neuron_heads(
    spec: AttentionOnly,
    parts: Parts,
    weights: dict[str, Tensor],
    reads: Float[Tensor, "gathered dim"],
    neurons: Neurons,
    dtype: torch.dtype,
) -> dict[str, Tensor]:
    """Query, key and value of the second layer: score and value w . u + b at the last position, 0 at the first."""
    value = neurons.inner @ reads
    value[:, parts.last] = neurons.bias
    key = value.clone()
    key[:, parts.middle] = -(2 * _highest(parts, weights, value) + UNSEEN)
    query = torch.zeros(spec.heads, 1, spec.dim, dtype=torch.float64)
    query[:, 0, parts.last] = 1.0
    heads = {"query": query, "key": key[:, None], "value": value[:, None]}
    return {name: tensor.to(dtype).contiguous() for name, tensor in heads.items()}


def _highest(parts: Parts, weights: dict[str, Tensor], value: Tensor) -> float:
    """A bound on |w . u + b| at any position of any context: attention outputs lie among the x that make them."""
    x = (weights["tokens"][:, None] + weights["positions"]).flatten(0, 1).double()
    heads = layer_heads(weights, 0)
    written = (x @ heads["value"][:, 0].double().T).abs().amax(0) @ heads["output"][:, :, 0].double().norm(dim=1)
    content = value[:, parts.content].norm(dim=1) * x[:, parts.content].norm(dim=1).max()
    gathered = value[:, parts.gathered].norm(dim=1) * written
    return float((content + gathered + value[:, parts.last].abs()).max())
