"""Forward passes, one file per architecture, in any float dtype."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from rote.errors import InputError
from rote.models.attention_only import AttentionOnly
from rote.models.bilinear_memory import BilinearMemory
from rote.models.deep_relu import DeepRelu
from rote.models.forward import (
    attention_only,
    bilinear_memory,
    deep_relu,
    linear_memory,
    memory_transformer,
    mlp_transformer,
    query_attention,
    reduced_attention,
    sequence_encoder,
)
from rote.models.forward.architecture import FORWARD, Architecture, Tap, architecture_of, register_architecture
from rote.models.linear_memory import LinearMemory
from rote.models.memory_transformer import MemoryTransformer
from rote.models.mlp_transformer import MlpTransformer
from rote.models.query_attention import QueryAttention
from rote.models.reduced_attention import ReducedAttention
from rote.models.sequence_encoder import SequenceEncoder
from rote.models.spec import CACHED_FLOATS, Spec, rows_within

register_architecture(Architecture(AttentionOnly, attention_only.logits, attention_only.stream))
register_architecture(Architecture(BilinearMemory, bilinear_memory.logits))
register_architecture(Architecture(DeepRelu, deep_relu.logits))
register_architecture(Architecture(LinearMemory, linear_memory.logits))
register_architecture(
    Architecture(MemoryTransformer, memory_transformer.logits, parts=memory_transformer.logits_in_parts)
)
register_architecture(Architecture(MlpTransformer, mlp_transformer.logits, mlp_transformer.stream))
register_architecture(Architecture(QueryAttention, query_attention.logits))
register_architecture(Architecture(ReducedAttention, reduced_attention.logits))
register_architecture(Architecture(SequenceEncoder, sequence_encoder.logits))


def forward(spec: Spec, weights: dict[str, Tensor], inputs: Any, tap: Tap | None = None) -> Tensor:
    """Logits (or outputs) of the architecture that `spec` describes; `tap` sees what flows through it."""
    _refuse(spec, inputs)
    architecture = architecture_of(spec)
    if tap is None:
        return architecture.logits(spec, weights, inputs)
    if architecture.stream is None:
        tapped = " and ".join(name for name, other in FORWARD.items() if other.stream is not None)
        raise InputError(f"a {spec.architecture} model has no residual stream to look at; {tapped} models have one")
    return architecture.stream(spec, weights, inputs, tap) @ weights["unembed"].T


def forward_in_parts(spec: Spec, weights: dict[str, Tensor], inputs: Any) -> Iterator[Tensor]:
    """The same logits in order, for some inputs at a time: all logits of all inputs would not fit the cache."""
    _refuse(spec, inputs)
    architecture = architecture_of(spec)
    if architecture.stream is not None:
        yield from unembedded(architecture.stream(spec, weights, inputs, None), weights["unembed"])
    elif architecture.parts is not None:
        yield from architecture.parts(spec, weights, inputs)
    else:
        yield architecture.logits(spec, weights, inputs)


def unembedded(stream: Tensor, unembed: Tensor) -> Iterator[Tensor]:
    """The logits of a residual stream, as many rows at a time as stay in the cache."""
    for part in stream.split(rows_within(CACHED_FLOATS, len(unembed))):
        yield part @ unembed.T


def _refuse(spec: Spec, inputs: Any) -> None:
    misreading = misread(spec, inputs)
    if misreading is not None:
        raise InputError(f"a {spec.architecture} model reads {spec.reads}; {misreading}")


def misread(spec: Spec, inputs: Tensor | tuple[Tensor, Tensor]) -> str | None:
    """Why a model of this specification cannot read these inputs, if it cannot."""
    context = spec.context
    if spec.reads == "vectors":
        if not isinstance(inputs, tuple):
            return "give it a pair (contexts, queries)"
        contexts, queries = (tuple(part.shape) for part in inputs)
        batch, dim = queries[0], spec.dim
        if (contexts, queries) != ((batch, context, dim), (batch, dim)):
            return (
                f"expected contexts of shape (batch, {context}, {dim}) and queries of shape (batch, {dim}), "
                f"found {contexts} and {queries}"
            )
        return None
    if not isinstance(inputs, Tensor) or inputs.is_floating_point():
        return "give it token ids"
    if inputs.ndim != 2 or inputs.shape[1] != context:
        return f"expected ids of shape (batch, {context}), found {tuple(inputs.shape)}"
    # Values are not known while a graph is traced; whoever runs the graph checks them.
    if spec.vocab is None or torch.compiler.is_exporting() or not inputs.numel():
        return None
    if inputs.min() < 0 or inputs.max() >= spec.vocab:
        return f"ids must lie in 0..{spec.vocab - 1}, found {int(inputs.min())}..{int(inputs.max())}"
    return None
