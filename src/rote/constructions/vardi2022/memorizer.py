"""The one-dimensional memorizer: integers to labels, stored in one of three ways.

| storage  | a group holds                     | bits read by   | outside the keys                          |
|----------|-----------------------------------|----------------|-------------------------------------------|
| faithful | packed keys, packed labels        | triangle maps  | 0                                         |
| lean     | first key, differences and labels | thresholds     | 0, or the label of the next smaller key   |
| hashed   | a modulus, labels in slots        | thresholds     | some label                                |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rote.constructions.vardi2022 import faithful, hashed, lean
from rote.constructions.vardi2022.network import Builder
from rote.errors import InputError

Storage = Literal["faithful", "lean", "hashed"]

LANES = 3
"""Thresholds side by side in lean and hashed selection."""

LANE_BITS = 2
"""log2(LANES + 1): by so much partial sums of a word may outgrow it."""

MOST_WORDS = 5
"""Words a group may have within width 14: x, a value carried along, 2 LANES thresholds, one more word."""


class WordsTooLong(InputError):
    """Whole numbers that do not fit the bits given."""


def memorize(
    builder: Builder,
    keys: Sequence[int],
    labels: Sequence[int],
    storage: Storage,
    meaning: lean.Meaning = "match",
    limit_bits: int | None = None,
    seed: int = 0,
) -> dict[str, int]:
    """Register y <- label of key x; returns how it was laid out.

    Keys are distinct and at least 1. `meaning` is what is asked outside the keys: with `interval`, nothing. With
    `limit_bits`, every sum of a neuron stays below 2^limit_bits; without, words grow as sqrt(N) and the network is
    for exact arithmetic.
    """
    if storage == "hashed" and meaning == "match":
        raise InputError(
            "storage hashed: cannot tell keys from other numbers; use `storage=lean` or `storage=faithful`"
        )
    pairs = sorted(zip(keys, labels, strict=True))
    keys, labels = [key for key, _ in pairs], [label for _, label in pairs]
    needed = bits_needed(keys, labels, storage)
    if limit_bits is not None and limit_bits < needed:
        raise WordsTooLong(
            f"storage {storage}: needs whole numbers of {needed} bits, given {limit_bits}; "
            "use a `dtype` with more bits (float64 holds 53, float32 24), another `storage`, or exact arithmetic"
        )
    if storage == "faithful":
        laid_out = faithful.store(builder, keys, labels, limit_bits)
        del builder["x"]
        return laid_out
    word_bits = None if limit_bits is None else limit_bits - LANE_BITS
    most_words = 1 if word_bits is None else MOST_WORDS
    if storage == "hashed":
        slots = hashed.best_slots(len(keys), max(labels) + 1, word_bits, most_words, LANES)
        return hashed.store(builder, keys, labels, slots, word_bits or hashed.LONGEST_SCATTER, LANES, seed)
    if meaning == "interval":
        keys, labels = lean.merged(keys, labels)
    layout = lean.best_layout(keys, max(1, max(labels).bit_length()), word_bits, most_words, LANES)
    return lean.store(builder, keys, labels, layout, meaning, LANES)


def bits_needed(keys: Sequence[int], labels: Sequence[int], storage: Storage) -> int:
    """The shortest `limit_bits` with which these keys and labels can be stored at all."""
    key_bits, label_bits = max(keys).bit_length(), max(1, max(labels).bit_length())
    if storage == "faithful":
        return max(key_bits, label_bits) + faithful.SPARE_BITS
    if storage == "hashed":
        return max(key_bits + hashed.SPARE_BITS, 2 * label_bits) + LANE_BITS
    return max(key_bits, label_bits) + LANE_BITS
