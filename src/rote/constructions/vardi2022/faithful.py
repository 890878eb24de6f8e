"""Storage as in the paper: packed keys, packed labels, bits read by triangle maps.

Vardi, Yehudai and Shamir 2022, "On the optimal memorization power of ReLU neural networks", Theorem 3.1 and its
lemmas: sort N keys, cut them into J groups of G; a group is a word u of G keys of rho bits and a word w of G labels of
c bits. The triangle map z -> M - |2z - M| = 2z - 4 relu(z - M/2), applied i times to 4u + 1 and to 4u + 2, leaves them
2^i apart, in the order that bit i of u says. So one layer reads one bit of each word.

Depth J + G (rho + c + 6), width 11 (one more for each register that is carried along).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rote.constructions.vardi2022.network import Affine, Builder, packed, select

SPARE_BITS = 5
"""A neuron adds four terms of twice or four times a word that is itself shifted by two bits."""


def best_group(keys: int, key_bits: int, label_bits: int, most: int | None = None) -> int:
    """Keys per group for the smallest depth, at most `most`."""
    sizes = range(1, min(keys, most or keys) + 1)
    return min(sizes, key=lambda size: -(-keys // size) + size * (key_bits + label_bits + 6))


def store(builder: Builder, keys: Sequence[int], labels: Sequence[int], word_bits: int | None = None) -> dict[str, int]:
    """Register y <- label of key x, or 0 where x is no key.

    Keys are distinct, ascending and at least 1 (a missing key is stored as 0). With `word_bits`, every sum of a
    neuron stays below 2^word_bits.
    """
    key_bits, label_bits = max(keys).bit_length(), max(1, max(labels).bit_length())
    most = None if word_bits is None else (word_bits - SPARE_BITS) // max(key_bits, label_bits)
    size = best_group(len(keys), key_bits, label_bits, most)
    starts = list(keys[::size])
    cuts = range(0, len(keys), size)
    key_words = [packed(keys[cut : cut + size], key_bits, size) for cut in cuts]
    label_words = [packed(labels[cut : cut + size], label_bits, size) for cut in cuts]
    select(builder, starts, {"u": key_words, "w": label_words})
    for word in ("u", "w"):
        builder[f"{word}1"], builder[f"{word}2"] = 4 * builder[word] + 1, 4 * builder[word] + 2
        del builder[word]
    builder["y"] = 0
    for _ in range(size):
        builder["key"] = 0
        for _digit in _bits(builder, "u", key_bits, size * key_bits, None):
            builder["key"] = 2 * builder["key"] + 1 - builder["unset"]
        _match(builder)
        for digit in _bits(builder, "w", label_bits, size * label_bits, "match"):
            builder["y"] += (1 << digit) * (builder["match"] - builder["unset"])
        del builder["match"]
    return {"groups": len(starts), "group": size, "key_bits": key_bits, "label_bits": label_bits}


def _match(builder: Builder) -> None:
    """Register match <- 1 if register key, which ends here, equals x, else 0."""
    above, below = builder["x"] - builder["key"], builder["key"] - builder["x"]
    del builder["key"]
    builder.layer(above=above, below=below)
    builder.layer(same=1 - builder["above"] - builder["below"])
    builder["match"] = builder["same"]


def _bits(builder: Builder, word: str, count: int, length: int, gate: str | None) -> Iterator[int]:
    """Read the next `count` bits of a word of `length` bits, highest first.

    Yields the digit (count - 1, ..., 0) while temporary `unset` is relu(gate - 2^i bit): 1 where the gate is open and
    the bit is not set, so that gate - unset is the gated bit. Without a gate it is open. Each pass reads the bit
    before while the triangle maps bring up the next.
    """
    low, high, half = f"{word}1", f"{word}2", 1 << (length + 1)
    builder.layer(low_fold=builder[low] - half, high_fold=builder[high] - half)
    for step in range(count + 1):
        neurons: dict[str, Affine] = {}
        if step < count:
            builder[low] = 2 * builder[low] - 4 * builder["low_fold"]
            builder[high] = 2 * builder[high] - 4 * builder["high_fold"]
            neurons["odd"] = builder[low] - builder[high]
        if step < count - 1:
            neurons |= {"low_fold": builder[low] - half, "high_fold": builder[high] - half}
        if step > 0:
            neurons["unset"] = (1 if gate is None else builder[gate]) - builder["odd"]
        builder.layer(**neurons)
        if step > 0:
            yield count - step
