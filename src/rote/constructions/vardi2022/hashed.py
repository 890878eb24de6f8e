"""Hashed storage: no keys at all, only labels in slots.

x is first scattered, h = a x mod P. Sorted h are cut into groups, and each group has a modulus m of its own, found by
search, under which the slot (h mod m) mod M never holds two different labels. A group is its m and M labels; keys that
share a label may share a slot. What comes out for an x that was never stored is some label or other.

G keys with C equally likely labels fall into M slots without a clash with probability near exp(-(1 - 1/C) G^2 / 2M),
so a search over m among many candidates fits far more keys than a perfect hash with one slot each would.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from gmpy2 import is_prime  # pyright: ignore[reportAttributeAccessIssue]

from rote.constructions.vardi2022.network import Builder, packed, remainder, select, threshold
from rote.errors import InputError

CANDIDATES = 1 << 14
"""Moduli tried for a group."""

LONGEST_SCATTER = 61
"""Bits of factor x key: the search for moduli computes in 64-bit integers."""

SPARE_BITS = 2
"""Bits beyond a key's own that scattering needs at least."""


@dataclass(frozen=True)
class Scatter:
    """h = factor x mod prime."""

    factor: int
    prime: int

    def of(self, keys: np.ndarray) -> np.ndarray:
        return keys.astype(np.int64) * self.factor % self.prime


@dataclass(frozen=True)
class Group:
    """One group: its smallest h, its modulus, and the label in each slot."""

    start: int
    modulus: int
    slots: list[int]
    keys: int


@dataclass(frozen=True)
class Slots:
    """How a group's labels are laid out: `each` labels of `label_bits` bits in each of `words` words."""

    words: int
    each: int
    label_bits: int

    @property
    def count(self) -> int:
        return self.words * self.each


def best_slots(keys: int, labels: int, word_bits: int | None = None, most_words: int = 1, lanes: int = 1) -> Slots:
    """The layout with the fewest weights that are not zero, nearly. Without `word_bits`, one word of any length."""
    label_bits = max(1, (labels - 1).bit_length())
    most = word_bits // label_bits if word_bits else 4 * math.isqrt(keys) + 4
    candidates = [Slots(1, each, label_bits) for each in range(1, most + 1)]
    candidates += [Slots(words, most, label_bits) for words in range(2, (most_words if word_bits else 1) + 1)]

    def estimated_nonzeros(slots: Slots) -> float:
        groups = max(1.0, keys / likely_group(slots.count, labels))
        selecting = groups * (5 + slots.words + (2 + slots.words) / lanes)
        return selecting + slots.count * (label_bits * (12 + slots.words) + 2)

    return min(candidates, key=estimated_nonzeros)


def store(
    builder: Builder,
    keys: Sequence[int],
    labels: Sequence[int],
    slots: Slots,
    word_bits: int = LONGEST_SCATTER,
    lanes: int = 1,
    seed: int = 0,
) -> dict[str, int]:
    """Register y <- label of key x; register x ends here. Keys are distinct.

    `word_bits` bounds the scattering's products. Sums stay below (lanes + 1) 2^b for words of b bits.
    """
    rng = np.random.default_rng(seed)
    scatter = _scatter(np.array(keys, dtype=np.int64), min(word_bits, LONGEST_SCATTER), rng)
    modulus_bits = _modulus_bits(len(keys), slots.count, scatter.prime, max(labels) + 1)
    groups = _groups(scatter, keys, labels, slots.count, modulus_bits, rng)
    _scattered(builder, scatter, max(keys))
    contents = {
        f"word{word}": [
            packed(group.slots[word * slots.each : (word + 1) * slots.each], slots.label_bits, slots.each)
            for group in groups
        ]
        for word in range(slots.words)
    }
    select(builder, [group.start for group in groups], {"m": [group.modulus for group in groups], **contents}, lanes)
    _remainder_by_register(builder, scatter.prime.bit_length() - modulus_bits + 1, modulus_bits)
    remainder(builder, "x", slots.count, 1 << modulus_bits)
    _read_slot(builder, slots)
    return {
        "groups": len(groups),
        "group": round(len(keys) / len(groups)),
        "words": slots.words,
        "slots": slots.count,
        "label_bits": slots.label_bits,
        "modulus_bits": modulus_bits,
    }


def _scatter(keys: np.ndarray, word_bits: int, rng: np.random.Generator) -> Scatter:
    """A multiplier and a prime under which no two keys meet, with factor x key below 2^word_bits."""
    key_bits = int(keys.max()).bit_length()
    spare = word_bits - key_bits
    # Much shorter than factor x key, so that the remainder mixes; long enough that keys do not meet by chance.
    prime = _prime_below(1 << min(word_bits - 1, max(key_bits + 1, min(word_bits - 4, 36))))
    for _ in range(1000):
        scatter = Scatter(int(rng.integers(1 << (spare - 1), 1 << spare)), prime)
        if len(np.unique(scatter.of(keys))) == len(keys):
            return scatter
    raise InputError(
        f"hashed storage: no multiplier keeps {len(keys)} keys of {key_bits} bits apart; use `storage=lean`"
    )


def _prime_below(limit: int) -> int:
    candidate = limit - 1
    while not is_prime(candidate):
        candidate -= 1
    return candidate


def _modulus_bits(keys: int, slots: int, prime: int, labels: int) -> int:
    """Moduli are to be well below the spread of h within a group, else all of a group is shifted alike."""
    groups = max(1.0, keys / likely_group(slots, labels))
    return max(slots.bit_length() + 1, min(18, round(math.log2(prime / groups)) - 3))


def likely_group(slots: int, labels: int) -> float:
    """Keys that fit a group when one modulus in a few thousand may fit."""
    return math.sqrt(2 * slots * math.log(CANDIDATES / 4) / max(0.1, 1 - 1 / max(2, labels)))


def _groups(
    scatter: Scatter,
    keys: Sequence[int],
    labels: Sequence[int],
    slots: int,
    modulus_bits: int,
    rng: np.random.Generator,
) -> list[Group]:
    """Cut the sorted h into groups, each as large as the search for a modulus allows."""
    h = scatter.of(np.array(keys, dtype=np.int64))
    order = np.argsort(h)
    h, sorted_labels = h[order], np.array(labels, dtype=np.int32)[order]
    moduli = np.arange(1 << (modulus_bits - 1), 1 << modulus_bits)
    groups: list[Group] = []
    start = 0
    while start < len(h):
        tried = rng.permutation(moduli)[:CANDIDATES]
        group = _longest_run(h[start:], sorted_labels[start:], tried, slots)
        groups.append(group)
        start += group.keys
    return groups


def _longest_run(h: np.ndarray, labels: np.ndarray, moduli: np.ndarray, slots: int) -> Group:
    """The candidate under which the most of the next keys fit, with its slots.

    All candidates take one key after another; those with a clash drop out, and the last to drop out wins.
    """
    table = np.full((len(moduli), slots), -1, dtype=np.int32)
    alive = np.arange(len(moduli))
    taken = 0
    while taken < len(h):
        slot = h[taken] % moduli[alive] % slots
        label_there = table[alive, slot]
        fits = (label_there < 0) | (label_there == labels[taken])
        if not fits.any():
            break
        alive, slot = alive[fits], slot[fits]
        table[alive, slot] = labels[taken]
        taken += 1
    best = int(alive[0])
    return Group(int(h[0]), int(moduli[best]), [max(0, int(label)) for label in table[best]], taken)


def _scattered(builder: Builder, scatter: Scatter, largest: int) -> None:
    """Register x <- factor x mod prime."""
    builder["x"] = scatter.factor * builder["x"]
    remainder(builder, "x", scatter.prime, scatter.factor * largest)


def _remainder_by_register(builder: Builder, digits: int, modulus_bits: int) -> None:
    """Register x <- x mod register m, for x below 2^digits m; register m ends here.

    Taking 2^k m off only where x reaches it is a product of a switch and a register: relu(2^k m - 2^b + 2^b switch).
    """
    for digit in reversed(range(digits)):
        threshold(builder, builder["x"], (1 << digit) * builder["m"])
        ceiling = 1 << (digit + modulus_bits)
        builder.layer(off=(1 << digit) * builder["m"] + ceiling * (builder["reached"] - 1))
        builder["x"] -= builder["off"]
    del builder["m"]


def _read_slot(builder: Builder, slots: Slots) -> None:
    """Register y <- the label in slot x of the words: slots go by, and x counts down to its own."""
    builder["left"], builder["y"] = builder["x"] + 1, 0
    del builder["x"]
    label_bits = slots.label_bits
    for number in range(slots.words):
        word = f"word{number}"
        for slot in reversed(range(slots.each)):
            passed = 1 - builder["left"]
            builder["left"] -= 1
            for digit in reversed(range(label_bits)):
                level = 1 << (slot * label_bits + digit)
                neurons = {"short": level - builder[word]}
                if digit == label_bits - 1:
                    neurons["passed"] = passed
                builder.layer(**neurons)
                # The gate is open at the slot where `left` has just come to 0 and had not before.
                gate = 1 - builder["passed"] - builder["left"] if digit == label_bits - 1 else builder["here"]
                neurons = {"reached": 1 - builder["short"], "kept": gate - builder["short"]}
                if digit == label_bits - 1 and label_bits > 1:
                    neurons["opened"] = gate
                builder.layer(**neurons)
                if "opened" in neurons:
                    builder["here"] = builder["opened"]
                builder[word] -= level * builder["reached"]
                builder["y"] += (1 << digit) * builder["kept"]
            if label_bits > 1:
                del builder["here"]
        del builder[word]
    del builder["left"]
