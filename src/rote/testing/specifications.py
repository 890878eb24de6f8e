"""Specifications that bounds are tested on."""

from __future__ import annotations

from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from rote.errors import InputError
from rote.models import (
    AttentionOnly,
    BilinearMemory,
    DeepRelu,
    LinearMemory,
    MemoryTransformer,
    MlpTransformer,
    QueryAttention,
    ReducedAttention,
    SequenceEncoder,
)


def spec_or_skip(sizes: dict[str, Any]) -> AttentionOnly:
    """Made in the test, not by the strategy: the checks of types on the way draw random numbers."""
    try:
        return AttentionOnly(**sizes)
    except InputError:
        assume(False)
        raise


OF_EACH = (
    AttentionOnly(vocab=9, context=3, dim=6, head_dim=2, heads=20, query_key_rank=1),
    AttentionOnly(vocab=5, context=2, dim=4, head_dim=3, heads=0),
    MlpTransformer(vocab=9, context=3, dim=6, head_dim=2, heads=3, width=40),
    MlpTransformer(vocab=9, context=3, dim=6, head_dim=2, heads=3, width=4, activation="relu", layers=2),
    MlpTransformer(vocab=5, context=2, dim=4, head_dim=4, width=0),
    SequenceEncoder(vocab=1000, context=13, contexts=20, dim=4),
    SequenceEncoder(vocab=3, context=1, contexts=1, dim=1),
    LinearMemory(vocab=5, inputs=4, dim=3),
    BilinearMemory(vocab=5, inputs=4, dim=3, width=5),
    LinearMemory(vocab=70_000, context=9, inputs=12, dim=2),
    QueryAttention(context=3, dim=5, head_dim=2, heads=3, outputs=4),
    QueryAttention(context=1, dim=3, head_dim=1, heads=1, outputs=1),
    ReducedAttention(vocab=9, context=3, dim=6, head_dim=2, heads=20, query_key_rank=1),
    QueryAttention.experiment(context=5, outputs=7, heads=3, head_dim=4, dim=8),
    DeepRelu(vocab=5, context=3, width=6, layers_before=2, layers_after=3, word_bits=8),
    DeepRelu(vocab=1, context=1, width=3, layers_before=0, layers_after=1, word_bits=8, input="table"),
    DeepRelu(
        vocab=4, context=3, width=5, layers_before=2, layers_after=2, word_bits=8, input="vectors", dim=3, ordered=False
    ),
    MemoryTransformer(
        vocab=7,
        context=3,
        key_tokens=5,
        dim=4,
        groups=4,
        heads=3,
        slots=6,
        digits=1,
        neurons=2,
        answer_neurons=2,
        word_bits=24,
    ),
)
"""Several specifications of every architecture, extremes included."""

small = st.builds(
    dict,
    vocab=st.integers(1, 60),
    context=st.integers(2, 6),
    dim=st.integers(1, 40),
    head_dim=st.integers(1, 40),
    heads=st.integers(1, 30),
    layers=st.integers(1, 3),
    variant=st.sampled_from(["per-head", "shared"]),
    wide_heads=st.booleans(),
)
"""Sizes for which N^S can be written out."""

_size = st.one_of(st.integers(1, 50), st.integers(0, 40).map(lambda power: 2**power))

of_any_size = st.builds(
    dict,
    vocab=_size,
    context=st.one_of(st.integers(1, 50), st.integers(0, 12).map(lambda power: 2**power)),
    dim=_size,
    head_dim=_size,
    heads=_size,
    layers=st.one_of(st.just(1), _size),
    variant=st.sampled_from(["per-head", "shared"]),
    wide_heads=st.booleans(),
)
"""From one to the largest size that a specification permits, of contexts so long that an evaluator may compute the
number of all contexts, N^S."""
