"""Forward passes, one file per architecture, in any float dtype."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from rote.errors import InputError
from rote.models.budget import CACHED_FLOATS, rows_within
from rote.models.forward import (
    attention_only,
    deep_relu,
    linear_memory,
    mlp_transformer,
    query_attention,
    sequence_encoder,
)
from rote.models.forward.attention_only import Tap
from rote.models.spec import Spec

FORWARD: dict[str, Callable[..., Tensor]] = {
    "attention-only": attention_only.logits,
    "deep-relu": deep_relu.logits,
    "linear-memory": linear_memory.logits,
    "mlp-transformer": mlp_transformer.logits,
    "query-attention": query_attention.logits,
    "sequence-encoder": sequence_encoder.logits,
}


BEFORE_UNEMBEDDING: dict[str, Callable[..., Tensor]] = {
    "attention-only": attention_only.residual,
    "mlp-transformer": mlp_transformer.last_stream,
}
"""What `unembed` reads, of the architectures whose forward pass is shared by many inputs before it."""


TAPPED = ("attention-only", "mlp-transformer")
"""Architectures whose attention patterns and residual stream can be seen and changed on the way (see `Tap`)."""


def forward(spec: Spec, weights: dict[str, Tensor], inputs: Any, tap: Tap | None = None) -> Tensor:
    """Logits (or outputs) of the architecture that `spec` describes; `tap` sees what flows through it."""
    _refuse(spec, inputs)
    if tap is None:
        return FORWARD[spec.architecture](spec, weights, inputs)
    if spec.architecture not in TAPPED:
        raise InputError(f"a {spec.architecture} model shows nothing on its way; {' and '.join(TAPPED)} models do")
    return FORWARD[spec.architecture](spec, weights, inputs, tap)


def forward_in_parts(spec: Spec, weights: dict[str, Tensor], inputs: Any) -> Iterator[Tensor]:
    """The same logits, of some inputs at a time and in order: a table of all answers to all inputs is far larger than
    what it is made of, and than any cache."""
    if spec.architecture not in BEFORE_UNEMBEDDING:
        yield forward(spec, weights, inputs)
        return
    _refuse(spec, inputs)
    unembed = weights["unembed"]
    stream = BEFORE_UNEMBEDDING[spec.architecture](spec, weights, inputs)
    for part in stream.split(rows_within(CACHED_FLOATS, len(unembed))):
        yield part @ unembed.T


def _refuse(spec: Spec, inputs: Any) -> None:
    misreading = misread(spec, inputs)
    if misreading is not None:
        raise InputError(f"a {spec.architecture} model reads {spec.reads}; {misreading}")


def misread(spec: Any, inputs: Any) -> str | None:
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
    if not torch.compiler.is_exporting() and inputs.numel() and (inputs.min() < 0 or inputs.max() >= spec.vocab):
        return f"ids must lie in 0..{spec.vocab - 1}, found {int(inputs.min())}..{int(inputs.max())}"
    return None
