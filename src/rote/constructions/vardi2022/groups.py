"""Packing integers into words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def packed(values: Sequence[int], bits: int, size: int) -> int:
    """`size` fields of `bits` bits, the first the highest; fields without a value are 0."""
    return concatenated((value, bits) for value in [*values, *[0] * (size - len(values))])


def concatenated(fields: Iterable[tuple[int, int]]) -> int:
    """(value, bits) fields of any lengths as one word, the first the highest."""
    word = 0
    for value, bits in fields:
        word = word << bits | value
    return word
