"""Each result the other way round: the smallest model that holds a task's facts by it.

Each function takes a task's shape and gives `Sized` rows: a specification where rote has the architecture, and what
the row rests on. Where no size will do, it raises `InputError` with the reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from rote.errors import InputError
from rote.models.attention_only import AttentionOnly
from rote.models.linear_memory import LinearMemory
from rote.models.mlp_transformer import MlpTransformer
from rote.models.query_attention import QueryAttention
from rote.models.sequence_encoder import SequenceEncoder
from rote.models.spec import Spec
from rote.tasks.shape import TaskShape
from rote.theory import allenzhu2024, kajitsuka2025, morris2025
from rote.theory.bound import Kind
from rote.theory.bubeck2020 import neurons_for
from rote.theory.nichani2024 import linear_capacity
from rote.theory.readout_sizes import readout_spec
from rote.theory.rote_readout import SMALLEST_DIM
from rote.theory.sizes import COMFORTABLE_DIM, huben_spec, theorem1_spec, widest_head

LARGEST_READOUT_DIM = 32
"""The rule behind `rote.readout` was measured at dims 10 and 20; it is not stretched much beyond."""


@dataclass(frozen=True)
class Sized:
    """One way to hold the facts."""

    id: str
    """The bound it inverts."""
    kind: Kind
    reason: str
    spec: Spec | None = None
    description: str = ""
    """What is built, where there is no specification for it."""
    parameters: int | None = None
    """Where there is no specification."""
    bits_per_parameter: float | None = None
    """Where the result fixes a precision of its own."""


def theorem1(shape: TaskShape) -> Sized:
    """What `rote build` picks: d = 20, float32-safe."""
    return Sized(
        "dana2025.theorem1",
        "lower",
        f"dim {COMFORTABLE_DIM} keeps the solve safe in float32; the size that rote build picks",
        theorem1_spec(shape),
    )


def corollary1(shape: TaskShape) -> Sized:
    """Smallest by the formula d(S + 2N + 4kH), Hk + d >= T: at d = 2."""
    return Sized(
        "dana2025.corollary1",
        "lower",
        "dim 2 is the smallest by formula; in float32 it depends on the draw, float64 is safer",
        _flattest(shape, None),
    )


def remark2(shape: TaskShape) -> Sized:
    """One query and one key vector per head: d(S + 2N + 2(k + 1)H)."""
    return Sized(
        "dana2025.remark2",
        "lower",
        f"rank-one queries and keys at dim {COMFORTABLE_DIM}",
        theorem1_spec(shape, query_key_rank=1),
    )


def remark2_flat(shape: TaskShape) -> Sized:
    """Remark 2 at d = 2."""
    return Sized(
        "dana2025.remark2",
        "lower",
        "rank-one queries and keys at dim 2, the smallest by formula; in float32 it depends on the draw",
        _flattest(shape, 1),
    )


def _flattest(shape: TaskShape, query_key_rank: int | None) -> AttentionOnly:
    """The fewest parameters at d = 2, then the fewest heads."""
    specs = [
        theorem1_spec(shape, dim=2, head_dim=width, query_key_rank=query_key_rank)
        for width in range(1, min(2, widest_head(shape)) + 1)
    ]
    return min(specs, key=lambda spec: (spec.parameters(), spec.heads))


def readout(shape: TaskShape) -> Sized:
    """Fewest parameters over d = 5 .. 32 with k = d where the tokens allow, as `rote build` would choose heads."""
    if shape.vocab < 2:
        raise InputError("with one token there is only one answer")
    specs = [readout_spec(shape, dim) for dim in range(SMALLEST_DIM, LARGEST_READOUT_DIM + 1)]
    return Sized(
        "rote.readout",
        "estimate",
        f"fewest parameters over dims {SMALLEST_DIM} to {LARGEST_READOUT_DIM}; an estimate, so a fit may need "
        "somewhat more heads",
        min(specs, key=lambda spec: (spec.parameters(), spec.dim)),
    )


def madden(shape: TaskShape, dim: int = COMFORTABLE_DIM) -> Sized:
    """One attention head that tells contexts apart, and one MLP neuron per fact, with an analytic activation."""
    spec = MlpTransformer(
        vocab=shape.vocab,
        context=shape.context,
        dim=dim,
        head_dim=min(dim, widest_head(shape)),
        heads=1,
        width=shape.associations,
    )
    return Sized("madden2025.lower", "lower", f"one MLP neuron per fact at dim {dim}", spec)


def madden_flat(shape: TaskShape) -> Sized:
    """The same at d = 2, the smallest by formula."""
    found = madden(shape, dim=2)
    return Sized(
        found.id, found.kind, f"{found.reason}, the smallest by formula; expect to need more than float32", found.spec
    )


def mahdavi(shape: TaskShape) -> Sized:
    """H(min(n, k) - 1) + 1 >= T with k = n = S and d = S + 1, if the queries allow it at all."""
    if shape.associations > shape.last_tokens:
        raise InputError(
            f"Assumption 1 wants independent queries, and {shape.associations} facts share {shape.last_tokens} last "
            "tokens; the theorem is about vectors, as in images"
        )
    heads = max(1, -(-(shape.associations - 1) // (shape.context - 1))) if shape.context > 1 else 1
    if heads * (shape.context - 1) + 1 < shape.associations:
        raise InputError("with contexts of one token every head is constant")
    spec = QueryAttention(context=shape.context, dim=shape.context + 1, head_dim=shape.context, heads=heads, outputs=1)
    return Sized("mahdavi2024.theorem1", "lower", "query attention, the last token as query, one real target", spec)


def huben(shape: TaskShape) -> Sized:
    """A head per simulated neuron, a neuron per fact, as rote builds it: a first layer gathers what neurons read.

    The result is quoted for one layer of dim S + 2 whose positions all hold the whole context already.
    """
    return Sized("huben2023.neurons", "order", "one head per simulated neuron, one neuron per fact", huben_spec(shape))


def sequence_encoder(shape: TaskShape) -> Sized:
    """A row of two numbers per context (Proposition 3): the floor under every Transformer, and itself a table."""
    spec = SequenceEncoder(vocab=shape.vocab, context=shape.context, contexts=shape.associations, dim=2)
    return Sized("dana2025.proposition3", "lower", "a row per context, found by exact match; keys counted", spec)


def nichani(shape: TaskShape) -> Sized:
    """Smallest d with d^2 >= 2 T ln T."""
    dim = max(1, math.isqrt(math.ceil(2 * shape.associations * math.log(shape.associations))))
    while linear_capacity(dim) < shape.associations:
        dim += 1
    return _memory(shape, "nichani2024.linear_memory", dim, "trained")


def bietti(shape: TaskShape) -> Sized:
    """d = T: outer products of nearly orthogonal random vectors."""
    return _memory(shape, "bietti2023.outer_product", shape.associations, "written as outer products")


def _memory(shape: TaskShape, id: str, dim: int, how: str) -> Sized:
    spec = LinearMemory(vocab=shape.vocab, context=shape.context, inputs=shape.associations, dim=dim)
    return Sized(id, "order", f"W {how} holds d^2 = {dim**2} of the numbers, random vectors and keys the others", spec)


def kajitsuka(shape: TaskShape) -> Sized:
    """O~(sqrt T) parameters of O~(sqrt T) bits, a token being one number."""
    T, S, N = shape.associations, shape.context, shape.vocab
    return Sized(
        "kajitsuka2025.theorem4_1",
        "order",
        "few parameters of very many bits each; constants taken as one",
        description=f"width 14, one uniform attention layer, depth ~ {math.ceil(kajitsuka2025.depth(T, S, N))}",
        parameters=math.ceil(1 + kajitsuka2025.depth(T, S, N)),
        bits_per_parameter=max(1.0, kajitsuka2025.word_length(T, S, N) / math.log(2)),
    )


def kajitsuka_words(shape: TaskShape) -> Sized:
    """O~(T / B) parameters of B bits each."""
    words = kajitsuka2025.short_words(shape.associations, shape.context, shape.vocab)
    return Sized(
        "kajitsuka2025.theoremF_1",
        "order",
        "as theorem4_1 with words of 32 bits; constants taken as one",
        description="width 14, one uniform attention layer, many short words",
        parameters=math.ceil(1 + words),
        bits_per_parameter=float(kajitsuka2025.FLOAT32_BITS),
    )


def bubeck(shape: TaskShape) -> Sized:
    """4 ceil(T/d) ReLU neurons of d + 2 numbers, behind one random head that brings contexts into general position."""
    dim = COMFORTABLE_DIM
    neurons = neurons_for(shape.associations, dim)
    return Sized(
        "bubeck2020.two_layer",
        "order",
        "one real target per fact; that random attention brings contexts into general position is taken for granted",
        description=f"one random head and a two-layer ReLU network of {neurons} neurons on R^{dim}",
        parameters=neurons * (dim + 2) + dim * (shape.context + shape.key_tokens + 4 * dim),
    )


def allen_zhu(shape: TaskShape) -> Sized:
    return _trained(shape, "allenzhu2024.two_bits", allenzhu2024.BITS_PER_PARAMETER)


def morris(shape: TaskShape) -> Sized:
    return _trained(shape, "morris2025.bits", morris2025.BITS_PER_PARAMETER)


def _trained(shape: TaskShape, id: str, bits: float) -> Sized:
    return Sized(
        id,
        "estimate",
        f"the answers' {shape.bits:.0f} bits at {bits:g} bits per parameter, as measured on large language models",
        description="a trained language model",
        parameters=max(1, math.ceil(shape.bits / bits)),
    )


INVERSIONS: dict[str, tuple[Callable[[TaskShape], Sized], ...]] = {
    "allenzhu2024.two_bits": (allen_zhu,),
    "bietti2023.outer_product": (bietti,),
    "bubeck2020.two_layer": (bubeck,),
    "dana2025.corollary1": (corollary1,),
    "dana2025.proposition3": (sequence_encoder,),
    "dana2025.remark2": (remark2, remark2_flat),
    "dana2025.theorem1": (theorem1,),
    "huben2023.neurons": (huben,),
    "kajitsuka2025.theorem4_1": (kajitsuka,),
    "kajitsuka2025.theoremF_1": (kajitsuka_words,),
    "madden2025.lower": (madden, madden_flat),
    "mahdavi2024.theorem1": (mahdavi,),
    "morris2025.bits": (morris,),
    "nichani2024.linear_memory": (nichani,),
    "rote.readout": (readout,),
}
"""By the bound each inverts."""
