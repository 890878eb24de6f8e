"""A cache of keys and values in float16: what it asks of a model's heads.

float16 keeps 11 bits of numbers from 6e-5 to 65,504. Heads are brought into that range by powers of two, which no
float32 result depends on: a head's keys against its queries, its values against its output. What 11 bits then cost a
margin is seen by asking every fact; models with room to spare (a quarter more heads, `solve=dense`) bear it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch
from jaxtyping import Float, Integer
from torch import Tensor

from rote.export.certificate import Condition
from rote.export.common.normal_form import NormalForm

LARGEST_HALF = 65504.0
"""The largest number of float16."""


def within_half(form: NormalForm, contexts: Integer[Tensor, "facts context"]) -> NormalForm:
    """The same function with each head's keys as large as its queries, and its values about 1."""
    layers = []
    for layer, (queries, keys, values) in zip(form.layers, _largest(form, contexts), strict=True):
        to_key, to_value = _power_of_two((queries / keys).sqrt()), _power_of_two(1 / values)
        layers.append(
            replace(
                layer,
                query=layer.query / to_key,
                key=layer.key * to_key,
                value=layer.value * to_value,
                output=layer.output / to_value,
            )
        )
    return replace(form, layers=tuple(layers))


def half_conditions(form: NormalForm, contexts: Integer[Tensor, "facts context"]) -> tuple[Condition, ...]:
    """Nothing that is kept in float16 overflows there; llama.cpp rounds queries to it as well."""
    largest = max(float(part.max()) for layer in _largest(within_half(form, contexts), contexts) for part in layer)
    return (Condition(name="largest number in the cache", value=largest, below=LARGEST_HALF),)


def _power_of_two(wanted: Float[Tensor, " heads"]) -> Float[Tensor, "heads 1 1"]:
    """The nearest power of two; 1 for a head that never reads or writes anything."""
    usable = wanted.isfinite() & (wanted > 0)
    return torch.where(usable, wanted, 1.0).log2().round().exp2()[:, None, None]


def _largest(
    form: NormalForm, contexts: Integer[Tensor, "facts context"]
) -> list[tuple[Float[Tensor, " heads"], Float[Tensor, " heads"], Float[Tensor, " heads"]]]:
    """Largest query, key and value of every head, layer by layer, over all facts."""
    largest = [torch.zeros(3, len(layer.query), dtype=torch.float64) for layer in form.layers]
    for streams in _streams(form, contexts):
        for number, (layer, x) in enumerate(zip(form.layers, streams, strict=True)):
            seen = [
                torch.einsum("hkd,bsd->hbsk", matrix, x).abs().flatten(1).amax(1)
                for matrix in (layer.query, layer.key, layer.value)
            ]
            largest[number] = torch.maximum(largest[number], torch.stack(seen))
    return [(queries, keys, values) for queries, keys, values in largest]


def _streams(form: NormalForm, contexts: Integer[Tensor, "facts context"]) -> Iterator[list[Tensor]]:
    """What every layer reads; the first reads tokens at places, which are few where facts are many."""
    if len(form.layers) == 1:
        for place, column in enumerate(contexts.T):
            yield [(form.tokens[column.unique()] + form.positions[place])[:, None]]
        return
    for part in contexts.split(256):
        yield form.run(part).streams
