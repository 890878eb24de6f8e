"""Forward pass of Transformers with a gated memory layer.

A line a_j u + c_j that is the highest somewhere is so on an interval. Where all of them are, in order, the highest one
is found by searching the ends of the intervals, and the nearest of ordered keys by searching the middles between them,
so that a question reads its own group and slots alone. Elsewhere all scores are computed. Both are the same argmax: of
equal scores the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float, Integer
from torch import Tensor

from rote.models.memory_transformer import MemoryTransformer
from rote.models.spec import CACHED_FLOATS, rows_within


def logits(
    spec: MemoryTransformer, weights: dict[str, Tensor], contexts: Integer[Tensor, "batch context"]
) -> Float[Tensor, "batch vocab"]:
    """Logits of the next token after each context."""
    return answered(weights, memory_read(spec, weights, contexts).values.sum(1))


def logits_in_parts(
    spec: MemoryTransformer, weights: dict[str, Tensor], contexts: Integer[Tensor, "batch context"]
) -> Iterator[Float[Tensor, "part vocab"]]:
    """The same logits, for as many contexts at a time as stay in the cache."""
    read = memory_read(spec, weights, contexts).values.sum(1)
    for part in read.split(rows_within(CACHED_FLOATS, spec.vocab)):
        yield answered(weights, part)


@dataclass(frozen=True)
class MemoryRead:
    """What each context reads of the memory."""

    group: Integer[Tensor, " batch"]
    slot: Integer[Tensor, "batch heads"]
    values: Float[Tensor, "batch heads digits"]
    """Of every head's slot; their sum is the number that is read."""


def memory_read(
    spec: MemoryTransformer, weights: dict[str, Tensor], contexts: Integer[Tensor, "batch context"]
) -> MemoryRead:
    """The group of each context, and the slot that each head reads there."""
    table = weights["table"]
    places = torch.arange(spec.context if spec.ordered else 1, device=contexts.device)
    # Tokens that are answers alone have no embedding: they enter as zero.
    known = (contexts < spec.key_tokens)[:, :, None]
    embedded = table[places, contexts.clamp(max=spec.key_tokens - 1)]
    entered = torch.where(known, embedded, embedded.new_zeros(())).sum(1)
    folded = through(entered, weights["fold.bias"], weights["fold.output"])
    group = highest(weights["gate.weight"], weights["gate.bias"], folded[:, 0])
    queries = (weights["query"][group] * folded[:, None]).sum(2)
    slot = nearest(weights["slots"], queries)
    heads = torch.arange(spec.heads, device=contexts.device)
    return MemoryRead(group, slot, weights["values"][group[:, None], heads, slot])


def answered(weights: dict[str, Tensor], read: Float[Tensor, "batch digits"]) -> Float[Tensor, "batch vocab"]:
    """Logits of the number that is read."""
    answer = through(read, weights["answer.bias"], weights["answer.output"])
    return answer @ weights["unembed.weight"].T + weights["unembed.bias"]


def through(
    state: Float[Tensor, "batch dim"], bias: Float[Tensor, "dim neurons"], output: Float[Tensor, "dim neurons"]
) -> Float[Tensor, "batch dim"]:
    """An MLP of two ReLU layers with a skip connection, whose neurons read and write one coordinate each."""
    return state + ((1 - (bias - state[:, :, None]).relu()).relu() * output).sum(2)


def highest(
    slopes: Float[Tensor, " lines"], constants: Float[Tensor, " lines"], at: Float[Tensor, "*places"]
) -> Integer[Tensor, "*places"]:
    """The number of the highest line at each place, the first of equal ones."""
    if not torch.compiler.is_exporting():
        rises = slopes.double().diff()
        ends = -constants.double().diff() / rises
        if _rising(slopes) and _rising(ends):
            return torch.searchsorted(ends, at.double().contiguous())
    return (at[..., None] * slopes + constants).argmax(-1)


def nearest(keys: Float[Tensor, " keys"], at: Float[Tensor, "*places"]) -> Integer[Tensor, "*places"]:
    """The number of the key that is nearest to each place, the first of equal ones."""
    if not torch.compiler.is_exporting() and _rising(keys):
        exact = keys.double()
        return torch.searchsorted((exact[1:] + exact[:-1]) / 2, at.double().contiguous())
    return (at[..., None] - keys).abs().argmin(-1)


def _rising(numbers: Tensor) -> bool:
    return bool((numbers.diff() > 0).all())
