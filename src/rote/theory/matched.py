"""A model of one architecture with the sizes of another: what a result says about a neighbour in the same parameters.

The match keeps vocab, context, dim and, where both have heads, their number and width. What is left of the parameters
goes where the result wants them: into heads, neurons or rows. Specifications are constructed unchecked: only their
sizes are asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar, cast

from rote.models.attention_only import AttentionOnly, Transformer
from rote.models.linear_memory import LinearMemory
from rote.models.mlp_transformer import MlpTransformer
from rote.models.query_attention import QueryAttention
from rote.models.sequence_encoder import SequenceEncoder
from rote.models.spec import Spec
from rote.theory.bound import Refusal
from rote.theory.one_layer import not_one_layer

SpecT = TypeVar("SpecT", bound=Spec)

SMALLEST_DIM = 2
"""Dim of a match with a model that has none: the fewest dimensions in which any answer can be the maximum."""


def matched(spec: Spec, about: type[SpecT]) -> SpecT | Refusal:
    """A specification of the class `about` that is matched with one of another class, or why there is none."""
    match = MATCHES.get(about)
    if match is None:
        return Refusal(f"the result is about {about.__name__} models, given {spec.architecture}")
    return cast(SpecT | Refusal, match(spec))


def as_attention(spec: Spec) -> AttentionOnly | Refusal:
    """The attention of a Transformer (a lower bound on it holds for the whole, with MLPs that add nothing), else one
    layer of heads of full width in the same parameters."""
    if isinstance(spec, Transformer):
        return spec.attention
    vocab = _tokens(spec)
    if isinstance(vocab, Refusal):
        return vocab
    if spec.context < 2:
        return Refusal("the result is about attention, which a key of one token leaves nothing to do")
    dim = spec.dim or SMALLEST_DIM
    bare = AttentionOnly.model_construct(
        vocab=vocab, context=spec.context, dim=dim, head_dim=min(dim, vocab + spec.context - 2) or 1, heads=0
    )
    heads = (spec.parameters() - bare.parameters()) // (4 * dim * bare.head_dim)
    if heads < 0:
        return Refusal(
            f"{spec.parameters()} parameters do not reach the {bare.parameters()} of the embeddings of an "
            f"attention-only model of dim {dim}",
            bare.parameters(),
        )
    return bare.model_copy(update={"heads": heads})


def with_neurons(spec: Spec) -> MlpTransformer | Refusal:
    """One head and as many MLP neurons as fit in the parameters of the other heads. A neuron takes 2d + 1 parameters:
    two vectors and a bias."""
    attention = as_attention(spec)
    if isinstance(attention, Refusal):
        return attention
    if broken := not_one_layer(attention):
        return Refusal(broken)
    bare = MlpTransformer.model_construct(
        vocab=attention.vocab, context=attention.context, dim=attention.dim, head_dim=attention.head_dim, heads=1,
        width=0,
    )  # fmt: skip
    neurons = (attention.parameters() - bare.parameters()) // (2 * bare.dim + 1)
    if neurons < 1:
        return Refusal("the heads beyond the first hold too few parameters for a single MLP neuron")
    return bare.model_copy(update={"width": neurons})


def with_query(spec: Spec) -> QueryAttention | Refusal:
    """Query attention of the same dim, head_dim and heads, with value dimension 1 and one real target; of a model
    without heads, as many heads of full width as its parameters hold."""
    if isinstance(spec, Transformer):
        dim, head_dim, heads = spec.dim, spec.head_dim, spec.heads
    else:
        dim = spec.dim or spec.context + 1
        head_dim = min(dim, spec.context)
        heads = (spec.parameters() - dim) // (2 * dim * (head_dim + 1))
    if heads < 1:
        return Refusal("the result is about heads that read a query, and there are parameters for none")
    model = QueryAttention.model_construct(
        context=spec.context, dim=dim, head_dim=head_dim, heads=heads, value_dim=1, outputs=1
    )
    if isinstance(spec, Transformer) and (broken := not_one_layer(spec.attention)):
        return Refusal(broken, model.parameters())
    return model


def with_rows(spec: Spec) -> SequenceEncoder | Refusal:
    """A sequence encoder of the same dim, with as many rows as the parameters hold."""
    vocab = _tokens(spec)
    if isinstance(vocab, Refusal):
        return vocab
    dim = spec.dim or SMALLEST_DIM
    rows = spec.parameters() // dim - vocab
    if rows < 1:
        return Refusal(f"{spec.parameters()} parameters hold no row beside an unembedding of {vocab} tokens")
    return SequenceEncoder.model_construct(vocab=vocab, context=spec.context, contexts=rows, dim=dim)


def as_matrix(spec: Spec) -> LinearMemory | Refusal:
    """A linear memory of the same dim, one random vector per context."""
    dim = spec.dim or math.isqrt(spec.parameters())
    keys = spec.parameters()
    return LinearMemory.model_construct(vocab=spec.vocab, context=spec.context, inputs=keys, dim=dim)


def _tokens(spec: Spec) -> int | Refusal:
    if spec.vocab is None or spec.reads == "vectors":
        return Refusal(f"the result is about tokens, and this {spec.architecture} model reads vectors")
    return spec.vocab


MATCHES: dict[type[Spec], Callable[[Spec], Spec | Refusal]] = {
    AttentionOnly: as_attention,
    MlpTransformer: with_neurons,
    QueryAttention: with_query,
    SequenceEncoder: with_rows,
    LinearMemory: as_matrix,
}
"""By the architecture that a result is about."""
