"""Deep ReLU networks around one layer of uniform attention: Kajitsuka and Sato 2025.

    F1 maps every token by itself, attention averages (all scores are 0), F2 maps the average to a label y, and
    logits_j = u_j y + c_j.

Notation: `context` is the paper's n, `dim` its d, `vocab` its C (labels) and, for token input, the tokens as well.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from rote.models.spec import Count, Spec

MANTISSA_BITS = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}
"""Whole numbers up to 2^bits are exact."""

ATTENDED = 2
"""Column of the state that attention writes; F1 leaves a token's code in column 0 and may pass on one more value."""


def refuse_short_words(dtype: str, word_bits: int) -> list[str]:
    """Why a dtype is wrong for a network that computes with whole numbers of so many bits; empty if it is not."""
    exact_bits = MANTISSA_BITS.get(dtype, 0)
    if exact_bits >= word_bits:
        return []
    return [
        f"`dtype={dtype}`: holds whole numbers of {exact_bits} bits, but this network computes with "
        f"{word_bits} bits: "
        "its answers would be silently wrong; build it again with a dtype that holds them, or for this one"
    ]


class DeepRelu(Spec, frozen=True):
    """Layers of one width, stored as full matrices: F1 has `layers_before`, F2 `layers_after`.

    Input `tokens`: a token enters as one number, tokens[t] + positions[s]. Input `table`: it enters as its code,
    table[s, t], and there need not be an F1. Input `vectors`: contexts of `context` vectors and a query, which is the
    last token; each enters as <project, vector> + shift. Without `ordered`, positions do not enter.

    Parameters: (layers_before + layers_after)(width^2 + width) + 4 width (2 width for mixing `sum`) + 2 vocab, and
    vocab + context (ordered), vocab context (table) or dim + 1 for the input.

    These networks compute with whole numbers and are right only where each is exact: `word_bits` bits are needed.

    >>> import rote
    >>> rote.DeepRelu(vocab=10, context=2, layers_before=1, layers_after=2, width=4, word_bits=20).parameters()
    108
    """

    architecture: ClassVar[str] = "deep-relu"

    vocab: Count
    width: Annotated[int, Field(ge=ATTENDED + 1, le=4096)]
    layers_before: Annotated[int, Field(ge=0, le=2**24)]
    layers_after: Annotated[int, Field(ge=1, le=2**24)]
    word_bits: Count
    """Bits that every sum in a neuron fits in, on the inputs the network was made for."""
    input: Literal["tokens", "table", "vectors"] = "tokens"
    dim: Count | None = None
    """Length of a vector (input `vectors`)."""
    ordered: bool = True
    mixing: Literal["softmax", "sum"] = "softmax"
    """Uniform softmax attention, or a plain sum (deep sets)."""
    every_position: bool = False
    """Give logits at every position (sequence to sequence) instead of the last one only."""

    def refusals(self) -> list[str]:
        refused = []
        if (self.input == "vectors") != (self.dim is not None):
            refused.append(f"`dim={self.dim}`: give it for `input` 'vectors' and for nothing else")
        if self.input == "vectors" and self.ordered:
            refused.append("`ordered`: positions do not enter vectors; add them to the vectors themselves")
        return refused

    def refuse_dtype(self, dtype: str) -> list[str]:
        return refuse_short_words(dtype, self.word_bits)

    def input_shapes(self) -> dict[str, tuple[int, ...]]:
        if self.input == "vectors":
            return {"project": (self.dim or 0,), "shift": (1,)}
        if self.input == "table":
            return {"table": (self.context if self.ordered else 1, self.vocab)}
        shapes: dict[str, tuple[int, ...]] = {"tokens": (self.vocab,)}
        return {**shapes, "positions": (self.context,)} if self.ordered else shapes

    def shapes(self) -> dict[str, tuple[int, ...]]:
        shapes = self.input_shapes()
        if self.layers_before:
            shapes["before.weight"] = (self.layers_before, self.width, self.width)
            shapes["before.bias"] = (self.layers_before, self.width)
        if self.mixing == "softmax":
            shapes["attention.query"] = shapes["attention.key"] = (1, self.width)
        shapes["attention.value"] = (1, self.width)
        shapes["attention.output"] = (self.width, 1)
        shapes["after.weight"] = (self.layers_after, self.width, self.width)
        shapes["after.bias"] = (self.layers_after, self.width)
        shapes["unembed.weight"] = shapes["unembed.bias"] = (self.vocab,)
        return shapes

    def parameters(self) -> int:
        entering = {
            "tokens": self.vocab + (self.context if self.ordered else 0),
            "table": self.vocab * (self.context if self.ordered else 1),
            "vectors": (self.dim or 0) + 1,
        }[self.input]
        layers = (self.layers_before + self.layers_after) * self.width * (self.width + 1)
        return entering + layers + (4 if self.mixing == "softmax" else 2) * self.width + 2 * self.vocab

    def floats_per_input(self) -> int:
        tokens = self.context + (self.input == "vectors")
        return tokens * (3 * self.width + (self.dim or 1)) + 2 * self.vocab * (
            self.context if self.every_position else 1
        )
